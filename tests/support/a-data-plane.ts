/** A registered data plane for tests, with a ledger in memory that signs real batches. */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import type { TenantScope } from '@governance/control-plane/platform/database/tenant-scope';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { type SignedBatch, signBatch } from '@governance/shared/ledger/audit-batch';
import { GENESIS_HASH, recordHash } from '@governance/shared/ledger/hash-chain';
import {
  type ChainHead,
  chainRecord,
  LedgerRecord,
  type UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { aDecision as decision, type Unchained } from '@governance/shared/testing/test-records';
import type { TestDatabase } from './test-database.ts';

export interface WrittenRecord {
  epoch: number;
  seq: number;
  prevHash: string;
  hash: string;
  bytes: Buffer;
}

export interface TestDataPlane {
  deploymentId: string;
  signingKey: KeyObject;
  records: WrittenRecord[];
  head: ChainHead;
  append(record: UnchainedRecord): WrittenRecord;
  /** Appends arbitrary bytes, made for their place: what a newer or broken writer does. */
  appendRaw(make: (place: ChainHead) => Uint8Array): WrittenRecord;
  /** Begins the next epoch, as a boot does. */
  boot(): WrittenRecord;
  /** Signs records[from..to); all of one epoch. */
  batch(from: number, to?: number): SignedBatch;
  /** Another writer with the same key and history, like a cloned disk. */
  clone(): TestDataPlane;
}

export async function aDataPlane(
  { db }: Pick<TestDatabase, 'db'>,
  scope: TenantScope,
): Promise<TestDataPlane> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const deploymentId = uuidv7();
  const jwk = publicKey.export({ format: 'jwk' });
  await db.inTenant(scope, async (tx) => {
    await tx.db.dataPlane.create({
      data: {
        tenantId: scope.tenantId,
        deploymentId,
        signingKey: JSON.stringify(jwk),
        sealingKey: '{}',
      },
    });
    // The agent of `aDecision`'s calls, long gone.
    const gone = { status: 'deprovisioned', secretHash: '', clientId: `gone-${uuidv7()}` };
    const named = { id: AGENT_ID, name: 'gone', agentType: 'assistant', owner: 'tests' };
    const row = { tenantId: scope.tenantId, ...named, ...gone };
    await tx.db.agent.createMany({ data: [row], skipDuplicates: true });
    tx.audit.append({
      action: 'data_plane_registered',
      target: `data_plane/${deploymentId}`,
      details: { signing_key: jwk.x },
    });
  });
  return createWriter(scope.tenantId, deploymentId, privateKey);
}

export function createWriter(
  tenantId: string,
  deploymentId: string,
  signingKey: KeyObject,
  history: WrittenRecord[] = [],
): TestDataPlane {
  const records = [...history];
  const end = records.at(-1);
  const head: ChainHead = {
    tenant_id: tenantId,
    stream: deploymentId,
    epoch: end?.epoch ?? 0,
    seq: end?.seq ?? 0,
    head: end?.hash ?? GENESIS_HASH,
  };
  const push = (bytes: Buffer, hash: string): WrittenRecord => {
    const prevHash = head.head;
    head.seq += 1;
    head.head = hash;
    const written = { epoch: head.epoch, seq: head.seq, prevHash, hash, bytes };
    records.push(written);
    return written;
  };
  const append = (record: UnchainedRecord): WrittenRecord => {
    const { bytes, hash } = chainRecord(head, record);
    return push(bytes, hash);
  };
  return {
    deploymentId,
    signingKey,
    records,
    head,
    append,
    appendRaw: (make) => {
      const bytes = Buffer.from(make({ ...head, seq: head.seq + 1 }));
      return push(bytes, recordHash(bytes));
    },
    boot: () => {
      const previous =
        head.epoch === 0 ? null : { epoch: head.epoch, last_seq: head.seq, head: head.head };
      head.epoch += 1;
      head.seq = 0;
      return append({
        type: 'epoch_start',
        id: uuidv7(),
        timestamp: new Date().toISOString(),
        bundle_revision: null,
        previous,
        reason: previous ? 'boot' : 'created',
        writer_version: 'test',
      });
    },
    batch: (from, to = records.length) => {
      const chosen = records.slice(from, to);
      const [first] = chosen;
      const last = chosen.at(-1);
      if (!first || !last) throw new Error('an empty batch');
      const header = {
        tenant_id: tenantId,
        stream: deploymentId,
        epoch: first.epoch,
        first_seq: first.seq,
        last_seq: last.seq,
        prev_head: first.prevHash,
        head: last.hash,
      };
      const hashes = chosen.map((record) => record.hash);
      return {
        ...signBatch(signingKey, header, hashes),
        records: chosen.map((record) => record.bytes),
      };
    },
    clone: () => createWriter(tenantId, deploymentId, signingKey, records),
  };
}

export {
  anAlert as aPolicyAlert,
  anAnswerStarted,
  anOutcome,
} from '@governance/shared/testing/test-records';

export const AGENT_ID = '0190aaaa-0000-7000-8000-00000000000a';

export const aDecision = (over: Partial<Unchained<'decision'>> = {}) =>
  decision({
    agent_id: AGENT_ID,
    // Of a revision that the control plane does not have, it would dispute each record.
    bundle_revision: null,
    instruction_hash: randomBytes(32).toString('hex'),
    ...over,
  });

/** The record behind an escalated decision: its call is held for a person. */
export function aHoldOpened(
  decision: Unchained<'decision'>,
  overrides: Partial<Unchained<'hold_opened'>> = {},
): Unchained<'hold_opened'> {
  return {
    type: 'hold_opened',
    id: uuidv7(),
    timestamp: decision.timestamp,
    bundle_revision: null,
    escalation_id: uuidv7(),
    event_id: decision.id,
    held: 'call',
    agent_id: decision.agent_id,
    requester_id: null,
    mcp_server: 'files',
    method: 'tools/call',
    tool_name: 'delete_thing',
    instruction_hash: decision.instruction_hash,
    target: '/srv/data',
    risk_tier: 'high',
    reason: 'Baseline: destructive',
    timeout_at: new Date(Date.parse(decision.timestamp) + 60_000).toISOString(),
    ...overrides,
  };
}

export function aResultHeld(
  decision: Unchained<'decision'>,
  overrides: Partial<Unchained<'result_held'>> = {},
): Unchained<'result_held'> {
  const place = '/content/0/text';
  return {
    type: 'result_held',
    id: uuidv7(),
    timestamp: decision.timestamp,
    bundle_revision: null,
    escalation_id: uuidv7(),
    event_id: decision.id,
    agent_id: decision.agent_id,
    requester_id: null,
    mcp_server: 'web',
    method: 'tools/call',
    tool_name: 'read_page',
    instruction_hash: decision.instruction_hash,
    target: 'read_page',
    risk_tier: 'high',
    severity: 'high',
    findings: [{ class: 'imperative_command', severity: 'high', place, length: 80, score: 0.9 }],
    findings_count: 1,
    result_bytes: 120,
    timeout_at: new Date(Date.parse(decision.timestamp) + 60_000).toISOString(),
    ...overrides,
  };
}

/** Appends a record in version 1, without the fields added since. */
export function appendVersion1(plane: TestDataPlane, record: UnchainedRecord): WrittenRecord {
  const [version1] = LedgerRecord.options;
  const schema = version1.options.find(({ shape }) => shape.type.value === record.type);
  if (!schema) throw new Error(`version 1 has no ${record.type}`);
  const own = Object.entries(record).filter(([member]) => member in schema.shape);
  return plane.appendRaw(({ tenant_id, stream, epoch, seq, head: prev_hash }) =>
    Buffer.from(
      canonicalize({
        ...Object.fromEntries(own),
        ...{ v: 1, tenant_id, stream, epoch, seq, prev_hash },
      }),
    ),
  );
}
