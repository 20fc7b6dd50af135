import { canonicalize } from '@governance/shared/json/canonical-json';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { boundedDetails, formerValues } from './admin-details.ts';

it('tells the former values of what changed, objects member by member', () => {
  const before = {
    rate: 5,
    tiers: { low: 1, high: 2 },
    names: ['a'],
    kept: true,
    unset: undefined,
  };
  const after = { rate: 6, tiers: { low: 1, high: 3 }, names: ['b'], kept: true, unset: 'now' };
  expect(formerValues(before, after)).toEqual({
    rate: 5,
    tiers: { high: 2 },
    names: ['a'],
    unset: null,
  });
  expect(formerValues({ a: 1, gone: { b: 2 } }, { a: 1 })).toEqual({ gone: { b: 2 } });
  expect(formerValues({ a: null }, {})).toEqual({});
});

it.each(['toString', 'constructor', 'hasOwnProperty'])('tells that %s was not set', (name) => {
  expect(formerValues({ tools: {} }, { tools: { [name]: 'read' } })).toEqual({
    tools: { [name]: null },
  });
  expect(formerValues({ [name]: 'read' }, {})).toEqual({ [name]: 'read' });
});

it('shows a large former value by its digest', () => {
  const names = Array.from({ length: 200 }, (_, index) => `${index}`.padEnd(200, 'x'));
  expect(formerValues({ names }, { names: [] })).toEqual({
    names: {
      omitted_bytes: Buffer.byteLength(canonicalize(names)),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    },
  });
});

it('always bounds details, and keeps the small members', () => {
  const member = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.integer({ min: 1, max: 300_000 }).map((length) => 'é'.repeat(length)),
    fc.array(fc.integer({ min: 1, max: 90_000 }).map((length) => '"'.repeat(length))),
  );
  const details = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}$/), member, { maxKeys: 12 });
  fc.assert(
    fc.property(details, (given) => {
      const bounded = boundedDetails(given);
      expect(Buffer.byteLength(canonicalize(bounded))).toBeLessThan(210 * 1024);
      expect(Object.keys(bounded)).toEqual(Object.keys(given));
      for (const [name, value] of Object.entries(given)) {
        if (canonicalize(value).length < 64) expect(bounded[name]).toEqual(value);
      }
    }),
    { numRuns: 30 },
  );
});

it('shows the largest values by their digests, and what is beside them as it is', () => {
  const participant = (actions: number) => ({
    role: 'reader',
    allowed_actions: Array.from({ length: actions }, (_, index) => `${index}`.padEnd(200, 'x')),
  });
  const permitted = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`agent-${index}`, participant(index < 80 ? 50 : 1)]),
  );
  const bounded = boundedDetails({ name: 'w', permitted, before: { permitted } }) as never as {
    permitted: typeof permitted;
    before: { permitted: typeof permitted };
  };
  expect(Buffer.byteLength(canonicalize(bounded))).toBeLessThan(201 * 1024);
  for (const { permitted: shown } of [bounded, bounded.before]) {
    expect(shown['agent-0']).toEqual({
      role: 'reader',
      allowed_actions: { omitted_bytes: expect.any(Number), sha256: expect.any(String) },
    });
    expect(shown['agent-99']).toEqual(participant(1));
  }
  expect(permitted['agent-0']).toEqual(participant(50));
});

it('bounds what has very many members, too', () => {
  const many = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, index) => [`member-${index}`.padEnd(40, 'x'), index]),
  );
  const bounded = boundedDetails({ name: 'w', many, other: 'x' });
  expect(Buffer.byteLength(canonicalize(bounded))).toBeLessThan(1024);
  expect(bounded).toMatchObject({
    name: 'w',
    other: 'x',
    many: { omitted_bytes: expect.any(Number) },
  });
});
