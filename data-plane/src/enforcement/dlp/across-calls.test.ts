import { createHash } from 'node:crypto';
import { createDlpScanner } from '@governance/shared/detect/dlp/scanner';
import { PatternBudgetError } from '@governance/shared/detect/engine/pattern-contract';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Alert } from '../../alerts/alert.ts';
import type { Caller } from '../call/calls.ts';
import { createAcrossCalls, type Sent } from './across-calls.ts';

const MINUTE = 60_000;
let now: number;
let alerts: Alert[];
let across: ReturnType<typeof createAcrossCalls>;

beforeEach(() => {
  now = Date.UTC(2026, 10, 1);
  alerts = [];
  across = createAcrossCalls({
    now: () => now,
    protectRequester: ({ requesterId }) => requesterId && `told ${requesterId}`,
    raiseAlert: vi.fn((_tenant, alert) => void alerts.push(alert)),
  });
});

function sent(caller: Record<string, unknown> = {}): Sent {
  return {
    caller: {
      tenantId: 'tenant',
      agent: { id: 'agent' },
      sessionId: 'session',
      requesterId: null,
      ...caller,
    } as unknown as Caller,
    serverId: 'files',
    toolName: 'write_file',
    eventId: 'event',
  };
}

describe('a value that is sent piece by piece', () => {
  const scanner = createDlpScanner({
    custom: [{ id: 'b', name: 'badge', regex: 'BADGE[0-9]{6}QX', severity: 'critical' }],
  });
  const assemble = (args: Record<string, unknown>, over: Partial<Sent> = {}) =>
    across.assemble({ ...sent(), ...over }, args, scanner);

  it('is found when its last piece comes, and reported once in five minutes', () => {
    expect(assemble({ path: '/tmp/a', text: 'BADG' })).toEqual([]);
    expect(assemble({ path: '/tmp/b', text: 'E123' })).toEqual([]);
    const finding = { pattern: 'badge', severity: 'critical', disguise: ['fragments'] };
    expect(assemble({ path: '/tmp/c', text: '456QX' })).toMatchObject([finding]);
    expect(alerts).toMatchObject([
      {
        alert_type: 'DLP_FRAGMENT_REASSEMBLY',
        severity: 'critical',
        agent_id: 'agent',
        details: { patterns: ['badge'], event_id: 'event' },
      },
    ]);
    expect(JSON.stringify(alerts)).not.toMatch(/123|456/);
    expect(assemble({ text: 'QX' })).toEqual([]);
    assemble({ text: 'BADGE123' });
    expect(assemble({ text: '456QX' })).toHaveLength(1);
    expect(alerts).toHaveLength(1);
  });

  it('is an alert though the clock was put back behind the one before', () => {
    for (const back of [0, 180]) {
      now -= back * MINUTE;
      assemble({ text: 'BADGE123' });
      assemble({ text: '456QX' });
    }
    expect(alerts).toHaveLength(2);
  });

  it('is found again where its last piece is repeated, also with a word before it', () => {
    assemble({ text: 'BADGE123' });
    for (const text of ['456QX', '456QX', 'and 456QX']) {
      expect(assemble({ text })).toHaveLength(1);
    }
    now += 11 * MINUTE;
    expect(assemble({ text: '456QX' })).toEqual([]);
  });

  it('flags calls that fit for two minutes from its completion, however often it is repeated', () => {
    assemble({ text: 'BADGE123' });
    for (let seconds = 0; seconds < 120; seconds += 30) {
      expect(assemble({ text: '456QX' })).toHaveLength(1);
      now += MINUTE / 2;
    }
    now += 1;
    expect(assemble({ text: '456QX' })).toEqual([]);
  });

  it('joins no piece of a clock that was ahead', () => {
    now += 24 * 60 * MINUTE;
    assemble({ text: 'BADGE123' });
    now -= 24 * 60 * MINUTE;
    expect(assemble({ text: '456QX' })).toEqual([]);
  });

  it('keeps a piece that completes nothing for ten minutes', () => {
    assemble({ text: 'BADGE123' });
    now += 9 * MINUTE;
    expect(assemble({ text: '456QX' })).toHaveLength(1);
  });

  it('is refused again where the joined pieces take too long, however often it is repeated', () => {
    const each = { regex: '[A-Z0-9]', severity: 'low' as const };
    const costly = createDlpScanner({
      custom: Array.from({ length: 100 }, (_, n) => ({ id: `${n}`, name: `n${n}`, ...each })),
    });
    const send = (text: string) => across.assemble(sent(), { text }, costly);
    expect(send('A1'.repeat(30))).toEqual([]);
    for (let times = 0; times < 3; times++) {
      expect(() => send('B7'.repeat(30))).toThrow(PatternBudgetError);
    }
  });

  it('is found behind a call that completes another one', () => {
    assemble({ decoy: 'BADGE123', text: 'nothing' });
    assemble({ decoy: '456QX', text: 'BADGE98' });
    expect(assemble({ decoy: 'nothing', text: '7654QX' })).toHaveLength(1);
  });

  it('is found behind what the argument was before, beside longer ones', () => {
    const whole = createDlpScanner({
      custom: [{ id: 'b', name: 'badge', regex: '\\bBADGE[0-9]{6}QX', severity: 'critical' }],
    });
    const send = (args: Record<string, unknown>) => across.assemble(sent(), args, whole);
    send({ text: 'Weather12' });
    send({ text: 'BADGE98', other: 'Longer7Words' });
    expect(send({ text: '7654QX', other: 'Longest7Words' })).toHaveLength(1);
  });

  it('is found with words around the pieces, and in other tools and arguments', () => {
    assemble({ text: 'the first part is "BADGE12",' });
    expect(assemble({ body: { note: 'and then 3456QX' } }, { toolName: 'send' })).toHaveLength(1);
  });

  it('is found behind other arguments, with another call between, and in reverse order', () => {
    const others = { a: 'note 1', b: 'note 2', c: 'Hello', d: 'World', e: { list: ['x1', 'x2'] } };
    assemble({ ...others, text: 'BADGE123' });
    expect(assemble({ ...others, text: '456QX' })).toHaveLength(1);
    assemble({ text: 'BADGE123' });
    for (const text of ['Weather12', 'and Page2 of Report7']) assemble({ text });
    expect(assemble({ text: '456QX' })).toHaveLength(1);
    now += 11 * MINUTE;
    assemble({ text: '456QX' });
    expect(assemble({ text: 'BADGE123' })).toHaveLength(1);
  });

  it('is not seen in ids, whatever follows them', () => {
    const id = (at: number) => createHash('sha256').update(`${at}`).digest('hex');
    for (let at = 0; at < 60; at++) {
      const [hex, number] = [id(at), Number.parseInt(id(at).slice(0, 12), 16)];
      const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
      assemble({ id: at % 3 === 0 ? hex : uuid, key: `PROJ-${number % 10_000}`, note: 'Report' });
      assemble({
        code: `A${number % 1_000_000}`,
        name: Buffer.from(hex, 'hex').toString('base64url'),
      });
    }
    expect(alerts).toEqual([]);
  });

  it('is none where the call holds the whole of another one', () => {
    const [first, second] = ['AKIAQ3EGKH7W2MJX5PLN', 'AKIAQ7MZ3HTXW5RBNC2V'];
    const encoded = Buffer.from(`key=${second}`).toString('base64');
    const known = new Set(['aws_access_key_id']);
    for (const text of [`aws ${first}`, encoded]) {
      expect(across.assemble(sent(), { text }, scanner, known)).toEqual([]);
    }
    expect(alerts).toEqual([]);
  });

  it('is none where a call held the whole of it before and another only lengthens it', () => {
    const [head, body, sign] = [
      'eyJhbGciOiJIUzI1NiJ9',
      'eyJzdWIiOiIxMjM0NTY3ODkwIn0',
      'dozjgNryP4J3jVmN',
    ];
    for (const whole of [`${head}.${body}.${sign}`, 'BADGE123456QX']) {
      for (const text of [whole, 'Hello there', 'and Page2', 'Report7']) {
        expect(across.assemble(sent(), { text }, scanner, new Set())).toEqual([]);
      }
    }
    expect(alerts).toEqual([]);
    // Another token in pieces behind it is one.
    expect(assemble({ text: `${head}.eyJzdWIi` })).toEqual([]);
    expect(assemble({ text: `OiI5ODc2NTQzMjEwIn0.${sign}` })).toMatchObject([{ pattern: 'jwt' }]);
  });

  it('is no token where a cursor of a list and names with dots only have its form', () => {
    const cursor = Buffer.from('{"cursor":894587738,"dir":"next"}').toString('base64url');
    for (const text of [
      cursor,
      'report_2026_Q1.xlsx',
      'report_2026_Q2.xlsx',
      'api1.production.example',
    ]) {
      expect(assemble({ text })).toEqual([]);
    }
    expect(alerts).toEqual([]);
    now += 11 * MINUTE;
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN';
    const pieces = [cursor, token.slice(0, 15), token.slice(15, 30), token.slice(30)];
    const found = pieces.map((text) => assemble({ text }).map(({ pattern }) => pattern));
    expect(found).toEqual([[], [], [], ['jwt']]);
  });

  it('is not joined from pieces of two agents, old pieces or a single call', () => {
    assemble({ text: 'BADGE123' });
    const caller = sent({ agent: { id: 'other' } }).caller;
    expect(assemble({ text: '456QX' }, { caller })).toEqual([]);
    now += 11 * MINUTE;
    expect(assemble({ text: '456QX' })).toEqual([]);
    expect(assemble({ text: 'BADGE123456QX' })).toEqual([]);
    expect(alerts).toEqual([]);
  });

  it('is a card in its order; ids that follow each other would often be one turned around', () => {
    const card = '4532015112830366';
    const turned = [...card].reverse().join('');
    assemble({ id: turned.slice(0, 8) });
    expect(assemble({ id: turned.slice(8) })).toEqual([]);
    assemble({ number: card.slice(0, 8) });
    expect(assemble({ number: card.slice(8) })).toMatchObject([{ pattern: 'payment_card' }]);
  });
});
