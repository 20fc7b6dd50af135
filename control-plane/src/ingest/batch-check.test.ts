import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { expect, it } from 'vitest';
import {
  aDecision,
  anOutcome,
  aPolicyAlert,
  createWriter,
} from '../../../tests/support/a-data-plane.ts';
import { checkBatch, readContent } from './batch-check.ts';
import { findReferring } from './reference-faults.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const writer = createWriter(uuidv7(), uuidv7(), privateKey);
writer.boot();
const read = (record: UnchainedRecord) => readContent(writer.append(record).bytes);
const small = '0190aaaa-0000-7000-8000-00000000000a';
const large = small.toUpperCase();

it.each<[string, (id: string) => UnchainedRecord]>([
  ['id', (id) => aDecision({ id })],
  ['agent_id', (id) => aDecision({ agent_id: id })],
  ['workflow_session_id', (id) => aDecision({ workflow_session_id: id })],
  ['event_id of an outcome', (id) => anOutcome(id)],
  ['agent_id of an alert', (id) => aPolicyAlert({ agent_id: id })],
])('a record whose %s is in capitals is not read', (_, make) => {
  expect(read(make(small))).toHaveProperty('record');
  expect(read(make(large))).toMatchObject({ fault: 'has an id in capital letters' });
});

it('what verifiers read of a record in quarantine is known without parsing it again', async () => {
  const [tenantId, stream] = [uuidv7(), uuidv7()];
  const lying = createWriter(tenantId, stream, privateKey);
  lying.boot();
  const decision = aDecision({ id: large, bundle_revision: 999 });
  lying.append(decision);
  const key = createPublicKey(privateKey);
  const { records } = await checkBatch({ tenantId, stream, key }, lying.batch(0), new Set());
  expect(records[1]).toMatchObject({
    fault: { kind: 'unreadable' },
    shown: { timestamp: decision.timestamp },
  });
  const unread = records.map((record) => ({ ...record, bytes: new Uint8Array() }));
  expect(findReferring({ records: unread })).toMatchObject([{ seq: 2, decision: { id: large } }]);
});
