/**
 * No package with one edited byte of content is verified: every third byte of a short one is tried,
 * with ONE_BYTE_STEP=1 every byte.
 */
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { makeBases } from '../testing/mutators/bases.ts';
import { packed } from '../testing/mutators/members.ts';
import { withByte } from '../testing/mutators/random.ts';
import { SERVICE_LIMITS, verifyPackage } from './verify-package.ts';

const STEP = Number(process.env.ONE_BYTE_STEP ?? 3);

it('an edited byte in any member of a short package', { timeout: 300_000 }, async () => {
  const [base] = makeBases().filter(({ name }) => name === 'a short log');
  if (!base) throw new Error('there is no short log');
  const { members, anchor } = base;
  const given = { anchor, issuers: [], limits: SERVICE_LIMITS };
  const verdictOf = async ({ bytes }: { bytes: Buffer }) =>
    (await verifyPackage(Readable.from([bytes]), given)).verdict;
  expect(await verdictOf(packed(members))).toBe('VERIFIED');
  const verified: string[] = [];
  let edits = 0;
  for (const [which, [name, content]] of members.entries()) {
    for (let at = 0; at < content.length; at += STEP, edits++) {
      // Flips one bit, another one for each byte.
      const edited = members.with(which, [name, withByte(content, at, 1 << (at % 8))]);
      if ((await verdictOf(packed(edited))) === 'VERIFIED') verified.push(`${name}, byte ${at}`);
    }
  }
  expect(verified).toEqual([]);
  expect(edits).toBeGreaterThan(15_000 / STEP);
});
