import { generateKeyPairSync } from 'node:crypto';
import { readGeneration, type SignedPresent } from '@governance/shared/channel/signed-statement';
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { createAdminHeadStatements } from './admin-head-statements.ts';
import type { ClockReading, DatedStatement } from './dated-statements.ts';
import { createFreshnessStatements } from './freshness-statements.ts';
import { createRecognitionStatements } from './recognition-statements.ts';

const DAY = 86_400_000;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const { privateKey: key, publicKey } = generateKeyPairSync('ed25519');
const signer = async () => ({ key, kid: 'k' });
const tenantId = uuidv7();
const digest = '0'.repeat(64);
const HEADS = { seq: 1, digest, compactedSeq: 0, bundle: null, admin: null };
const freshness = createFreshnessStatements(signer);
const recognitions = createRecognitionStatements(signer);
const adminHeads = createAdminHeadStatements(signer);

it.each([
  [
    'freshness',
    async (time: Date) => {
      return (await freshness.about(tenantId, HEADS, { time, generation: 0 })).signed;
    },
  ],
  [
    'the admin head',
    (at: Date) => {
      const head = { stream: tenantId, epoch: 1, seq: 1, hash: digest };
      return adminHeads.about(tenantId, head, at);
    },
  ],
])('a statement of %s is signed once a minute, also once the clock was put back', async (_, about) => {
  const at = (ms: number) => about(new Date(START + ms));
  const first = await at(0);
  expect(await at(59_000)).toBe(first);
  const next = await at(60_000);
  expect(next).not.toBe(first);
  expect(await at(61_000)).toBe(next);
  expect((await at(400 * DAY)).statement.time).toBe(new Date(START + 400 * DAY).toISOString());
  const after = await at(62_000);
  expect(await at(63_000)).toBe(after);
});

it.each([
  ['freshness', (at: ClockReading) => freshness.about(tenantId, HEADS, at)],
  ['recognition', (at: ClockReading) => recognitions.about(tenantId, tenantId, at)],
])('a statement of %s is signed again at once by a clock that was accepted', async (_, about) => {
  const trust = {
    tenantId,
    keys: [{ ...publicKey.export({ format: 'jwk' }), kty: 'OKP', kid: 'k' }],
  };
  const generationOf = ({ signed, clock }: DatedStatement<SignedPresent>) =>
    readGeneration(signed.statement, clock, trust);
  const time = new Date(START + 900 * DAY);
  const before = await about({ time, generation: 0 });
  expect(before.clock).toBeUndefined();
  const after = await about({ time, generation: 7 });
  expect([before, after].map(generationOf)).toEqual([0, 7]);
  expect(await about({ time, generation: 7 })).toBe(after);
  expect((await about({ time: new Date(START), generation: 8 })).signed.statement.time).toBe(
    new Date(START).toISOString(),
  );
});
