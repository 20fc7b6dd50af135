import { generateKeyPairSync } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { createAdminHeadStatements } from './admin-head-statements.ts';
import { createFreshnessStatements } from './freshness-statements.ts';

const DAY = 86_400_000;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const { privateKey: key } = generateKeyPairSync('ed25519');
const signer = async () => ({ key, kid: 'k' });
const tenantId = uuidv7();
const digest = '0'.repeat(64);
const freshness = createFreshnessStatements(signer);
const adminHeads = createAdminHeadStatements(signer);

it.each([
  [
    'freshness',
    (at: Date) => {
      const heads = { seq: 1, digest, compactedSeq: 0, bundle: null, admin: null };
      return freshness.about(tenantId, heads, at);
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
