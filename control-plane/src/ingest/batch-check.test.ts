import { generateKeyPairSync } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import { expect, it } from 'vitest';
import {
  aDecision,
  anOutcome,
  aPolicyAlert,
  createWriter,
} from '../../../tests/support/a-data-plane.ts';
import { readContent } from './batch-check.ts';

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
  expect(read(make(large))).toEqual({ fault: 'has an id in capital letters' });
});
