import type { DecisionRecord } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aDecision } from '../../../tests/support/a-data-plane.ts';
import { actionOf, dispositionOf } from './disposition.ts';
import { shapeOf } from './target-shape.ts';

const decided = (over: Parameters<typeof aDecision>[0]) =>
  ({ v: 2, ...aDecision(over) }) as DecisionRecord;
const dispositionIn = (over: Parameters<typeof aDecision>[0]) => dispositionOf(decided(over));

describe('a disposition', () => {
  it('is what was decided of the action', () => {
    expect(dispositionIn({})).toBe('allowed');
    expect(dispositionIn({ policy_result: 'deny' })).toBe('blocked');
    expect(dispositionIn({ policy_result: 'dlp_block', decided_by: 'dlp' })).toBe('blocked');
    expect(dispositionIn({ policy_result: 'escalate' })).toBe('escalated');
  });

  it.each([
    ['a list', { method: 'tools/list' }],
    ['a caught agent', { policy_result: 'deny', decided_by: 'kill-switch' }],
    ['a bad token', { policy_result: 'deny', decided_by: 'delegation' }],
    ['an outage', { policy_result: 'deny', policy_reason: 'opa_unreachable: ECONNREFUSED' }],
    ['what a person approved', { grant_id: '0190aaaa-0000-7000-8000-00000000000b' }],
    ['an exception', { exception_id: '0190aaaa-0000-7000-8000-00000000000b' }],
  ] as const)('is none of %s', (_, over) => {
    expect(dispositionIn(over)).toBeUndefined();
  });
});

describe('an action', () => {
  it.each([
    ['/srv/orders/17/items/4', '/srv/orders/2/items/99'],
    ['doc/0190aaaa-0000-7000-8000-00000000000a', 'doc/0190bbbb-0000-7000-8000-00000000000B'],
    ['blob:deadbeefdeadbeef01', 'blob:0123456789abcdefabcdef'],
  ])('is the same for %s and %s', (one, other) => {
    const keyOf = (target: string) => actionOf(decided({ target })).key;
    expect(keyOf(one)).toBe(keyOf(other));
  });

  it('differs for another target, another tool and another server', () => {
    const keys = [
      ...[{}, { target: '/etc/passwd' }, { tool_name: 'write_file' }, { mcp_server: 'mail' }],
      { method: 'resources/read' },
    ].map((over) => actionOf(decided(over)).key);
    expect(new Set(keys).size).toBe(5);
  });

  it('has a short shape, whatever its target is', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 3_000, unit: 'binary' }), (target) => {
        const shape = shapeOf(target);
        expect(shape.length).toBeLessThanOrEqual(200);
        expect(shape.isWellFormed()).toBe(true);
        expect(shape).not.toMatch(/[0-9]/);
      }),
    );
  });
});
