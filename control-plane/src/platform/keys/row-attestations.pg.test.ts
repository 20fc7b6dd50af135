/** What one row's attestation says is said of no other, and by no other key. */
import { uuidv7 } from '@governance/shared/ids';
import { Secret } from '@governance/shared/settings';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { createServiceKeys } from './keys.ts';
import { createMasterKey } from './master-key.ts';
import {
  attestationFault,
  createRowAttestations,
  ROLL_OUT_MS,
  type RowStatement,
} from './row-attestations.ts';

const { db } = await testDatabase();
const masterKey = createMasterKey(new Secret(Buffer.alloc(32, 7)));
const keys = createServiceKeys({ db, masterKey, overlapMs: 0 });
let elapsedMs = 0;
const attestations = createRowAttestations(keys, () => elapsedMs);

const ROW: RowStatement = {
  tenantId: uuidv7(),
  about: 'policy/1',
  states: { name: 'one', status: 'active' },
  recordId: uuidv7(),
};

it('is of one row, one state and one record', async () => {
  const attest = await attestations.prepare();
  const judge = await attestations.verifier();
  const { recordId, attestation } = attest(ROW);
  expect(recordId).toBe(ROW.recordId);
  expect(judge(ROW, attestation)).toBe('attested');
  for (const other of [
    { tenantId: uuidv7() },
    { about: 'policy/2' },
    { states: { ...ROW.states, status: 'draft' } },
    { recordId: uuidv7() },
  ]) {
    expect(judge({ ...ROW, ...other }, attestation)).toBe('wrong');
  }
  expect(judge(ROW, `${attestation}A`)).toBe('wrong');
  for (const text of [null, '', '.', 'x.y', attestation.slice(1)]) {
    expect(judge(ROW, text)).toBe('unsigned');
  }
});

it('outlives the rotation of its key, and its revocation no longer than an hour', async () => {
  const { attestation } = (await attestations.prepare())(ROW);
  const verdict = async () => (await attestations.verifier())(ROW, attestation);
  const actor = { id: 'a', username: 'a', role: 'super_admin' } as const;
  const order = { reason: 'x', actor, requestId: uuidv7() };
  await keys.rotate('batch-signing', { ...order, revoke: false });
  expect(await verdict()).toBe('attested');
  const second = (await attestations.prepare())(ROW).attestation;
  await keys.rotate('batch-signing', { ...order, revoke: true });
  const judge = await attestations.verifier();
  expect(judge(ROW, second)).toBe('revoked');
  expect(judge({ ...ROW, recordId: uuidv7() }, second)).toBe('unsigned');
  expect(attestationFault(judge, ROW, { recordId: ROW.recordId, attestation: second })).toBe(
    'key_revoked',
  );
  expect(await attestations.listRevoked()).toEqual([second.split('.')[0]]);
  elapsedMs += ROLL_OUT_MS;
  expect((await attestations.verifier())(ROW, second)).toBe('unsigned');
  expect(await attestations.listRevoked()).toEqual([]);
  expect(await verdict()).toBe('attested');
});
