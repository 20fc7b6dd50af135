import { describe, expect, it } from 'vitest';
import {
  affectsDecisions,
  auditOf,
  changedFields,
  findPolicyWarnings,
  type Policy,
  type PolicyStatus,
} from './policy.ts';
import { doesNotCompile } from './policy-errors.ts';

const aPolicy = (given: Partial<Policy> = {}): Policy => ({
  id: '0190aaaa-0000-7000-8000-000000000001',
  name: 'one',
  description: '',
  regoContent: 'package p',
  status: 'active',
  origin: 'custom',
  createdAt: new Date(0),
  updatedAt: new Date(0),
  ...given,
});

describe('whether a change reaches the bundle', () => {
  it.each<[Partial<Policy> | undefined, Partial<Policy>, boolean]>([
    [undefined, { status: 'active' }, true],
    [undefined, { status: 'draft' }, false],
    [{ status: 'draft' }, { status: 'active' }, true],
    [{ status: 'active' }, { status: 'archived' }, true],
    [{ status: 'archived' }, { status: 'draft' }, false],
    [{}, {}, false],
    [{}, { name: 'two' }, true],
    [{}, { regoContent: 'package q' }, true],
    [{}, { description: 'else' }, false],
    [{ status: 'draft' }, { status: 'draft', regoContent: 'package q' }, false],
  ])('%o → %o: %s', (before, after, expected) => {
    expect(affectsDecisions(before && aPolicy(before), aPolicy(after))).toBe(expected);
  });
});

describe('what the audit chain keeps', () => {
  it.each<[PolicyStatus, PolicyStatus, string]>([
    ['draft', 'draft', 'policy_updated'],
    ['draft', 'active', 'policy_activated'],
    ['archived', 'active', 'policy_activated'],
    ['active', 'archived', 'policy_archived'],
    ['active', 'draft', 'policy_deactivated'],
    ['archived', 'draft', 'policy_restored'],
  ])('%s → %s is %s', (before, after, action) => {
    const record = auditOf(aPolicy({ status: before }), aPolicy({ status: after, name: 'two' }));
    expect(record).toMatchObject({ action, details: { status_before: before, status: after } });
    expect(record.details?.changed).toContain('name');
  });

  it('names the source by its hash and does not hold it', () => {
    const record = auditOf(undefined, aPolicy({ regoContent: 'package of_somebody' }));
    expect(record.action).toBe('policy_created');
    expect(JSON.stringify(record)).not.toContain('of_somebody');
    expect(record.details?.rego_sha256).toMatch(/^[0-9a-f]{64}$/);
  });
});

it('finds the fields that changed, times aside', () => {
  expect(changedFields(aPolicy(), aPolicy({ updatedAt: new Date(5) }))).toEqual([]);
  expect(changedFields(aPolicy(), aPolicy({ name: 'two', status: 'draft' }))).toEqual([
    'name',
    'status',
  ]);
});

it('names line and column of what does not compile, and the policy when it is another', () => {
  const id = aPolicy().id;
  const one = { code: 'rego_parse_error', message: 'no', row: 3, col: 5 };
  const error = doesNotCompile(
    [
      { ...one, policy_id: id },
      { ...one, policy_id: 'other' },
    ],
    id,
  );
  expect(error).toMatchObject({
    code: 'POLICY_DOES_NOT_COMPILE',
    detail: 'The policy does not compile: line 3, column 5: no (rego_parse_error)',
    errors: [
      { loc: ['body', 'rego_content', 3, 5], msg: 'no', type: 'rego_parse_error' },
      { loc: ['policies', 'other', 3, 5], msg: 'no', type: 'rego_parse_error' },
    ],
  });
  expect(doesNotCompile([{ ...one, policy_id: 'other' }], id).detail).toContain('policy other');
});

it('lists 50 faults, and says how many more there are', () => {
  const faults = (count: number) =>
    doesNotCompile(
      Array.from({ length: count }, (_, row) => ({ code: 'c', message: 'no', row, col: 1 })),
      aPolicy().id,
    );
  expect(faults(50).detail).toBe('The policy does not compile: line 0, column 1: no (c)');
  expect(faults(73).detail).toMatch(/ \(c\); the first 50 faults are listed, 23 more are not$/);
  expect(faults(73).errors).toHaveLength(50);
});

describe('a source that decides nothing', () => {
  const none = ['It has no rule deny, escalate or allow: it decides nothing.'];

  it.each([
    'package p',
    'package p\nescalates contains "x" if true # escalate',
    'package p\ndenied contains "deny" if input.x == `allow\nallow if true`',
    'package p\nx := "\\"allow"',
  ])('is warned of: %j', (rego) => {
    expect(findPolicyWarnings(rego)).toEqual(none);
  });

  it.each([
    'package p\ndeny if true',
    'package p\ndefault allow := false',
    'package p\nescalate[x] { x := "#" }',
    'package p\nx := "#"\nallow := x == "y"',
    'package p\nx := `"`\ndeny contains "z" if x',
  ])('is none: %j', (rego) => {
    expect(findPolicyWarnings(rego)).toEqual([]);
  });

  it('is told in linear time', () => {
    const began = performance.now();
    for (const part of ['"', '`', '#', '\\"', '"\\"', 'x#']) {
      findPolicyWarnings(part.repeat(131_072 / part.length));
    }
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});
