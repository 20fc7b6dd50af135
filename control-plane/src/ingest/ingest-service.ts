/**
 * Takes the batches of data planes into the ledger. A batch is acknowledged only after the commit
 * returned; whatever is stored is never overwritten. Proven by ingest-service.pg.test.ts: any
 * interleaving of doubled, reordered and cut batches leaves each (stream, epoch, seq) once.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import type { BatchReceipt, SignedBatch } from '@governance/shared/audit-batch';
import { canonicalize } from '@governance/shared/canonical-json';
import { AppError } from '@governance/shared/errors';
import type { Pool, PoolClient } from 'pg';
import type { ChainBreakRecorder } from '../audit/chain-breaks.ts';
import { ledgerColumns } from '../audit/ledger-projection.ts';
import type { ChangeBus } from '../platform/change-bus.ts';
import { type CheckedBatch, type CheckedRecord, checkBatch } from './batch-check.ts';
import { placeBatch } from './batch-place.ts';
import {
  appendRecords,
  findSigningKey,
  insertAlerts,
  insertBatch,
  lockStreamHead,
  type NewLedgerRow,
  type ProjectedAlert,
  readHashes,
  type StreamKey,
} from './ingest-store.ts';

export interface IngestDeps {
  ingestPool: Pool;
  changes: ChangeBus;
  breaks: Pick<ChainBreakRecorder, 'record'>;
}

export interface IngestService {
  /**
   * Stores a batch of a data plane's ledger.
   *
   * @param tenantId and deploymentId as the caller's credentials say; the stream is the deployment
   * @returns after the commit: `accepted`, or `already_stored` when every record was there before
   * @throws AppError VALIDATION_FAILED naming the seq of a bad record; DATA_PLANE_NOT_FOUND;
   *   BATCH_CONFLICT when the batch contradicts what is stored (`errors[0].type` is `stream_fork`;
   *   a chain break and an alert are recorded) or when earlier records are missing here
   *   (`stream_gap`; `loc` ends in the epoch and seq that are expected)
   */
  ingestBatch(tenantId: string, deploymentId: string, batch: SignedBatch): Promise<BatchReceipt>;
}

interface Fork {
  seq: number;
  expected: string;
  actual: string;
}

type Outcome =
  /** `position` is undefined where all were stored before. */
  | { kind: 'stored'; position: number | undefined }
  | { kind: 'fork'; fork: Fork }
  | { kind: 'gap'; expected: { epoch: number; seq: number } };

export function createIngestService({ ingestPool, changes, breaks }: IngestDeps): IngestService {
  return {
    async ingestBatch(tenantId, deploymentId, batch) {
      const key = { tenantId, stream: deploymentId };
      const { checked, outcome } = await inTransaction(ingestPool, tenantId, async (client) => {
        const jwk = await findSigningKey(client, tenantId, deploymentId);
        if (jwk === undefined) throw new AppError('DATA_PLANE_NOT_FOUND');
        const writer = { ...key, key: publicKeyOf(jwk) };
        const checked = await checkBatch(writer, batch);
        return { checked, outcome: await store(client, key, checked) };
      });
      const { header } = checked;
      if (outcome.kind === 'gap') throw gap(outcome.expected);
      if (outcome.kind === 'fork') {
        await breaks.record(tenantId, [
          {
            stream: deploymentId,
            epoch: header.epoch,
            kind: 'fork',
            ...outcome.fork,
            detail: null,
          },
        ]);
        throw fork(outcome.fork);
      }
      const { position } = outcome;
      if (position !== undefined) changes.publish({ tenantId, position });
      return {
        status: position === undefined ? 'already_stored' : 'accepted',
        stream: header.stream,
        epoch: header.epoch,
        last_seq: header.last_seq,
        head: header.head,
      };
    },
  };
}

async function store(client: PoolClient, key: StreamKey, batch: CheckedBatch): Promise<Outcome> {
  const stored = await lockStreamHead(client, key);
  const placement = placeBatch(stored, batch);
  if (placement.kind === 'gap') return placement;
  if (placement.kind === 'fork') {
    const { kind, ...fork } = placement;
    return { kind, fork };
  }
  const from = placement.kind === 'append' ? placement.from : batch.records.length;
  const fork = await findDifference(client, key, batch, from);
  if (fork) return { kind: 'fork', fork };
  const fresh = batch.records.slice(from);
  const rows = fresh.map(toRow);
  const position = await appendRecords(client, key, stored, batch.header.epoch, rows);
  if (position !== undefined) await insertBatch(client, key, batch.header, batch.signature);
  await insertAlerts(client, key.tenantId, fresh.flatMap(toAlert));
  return { kind: 'stored', position };
}

/** The first of the batch's leading `count` records that is not what is stored. */
async function findDifference(
  client: PoolClient,
  key: StreamKey,
  { header, records }: CheckedBatch,
  count: number,
): Promise<Fork | undefined> {
  if (count === 0) return undefined;
  const range = { first: header.first_seq, last: header.first_seq + count - 1 };
  const stored = await readHashes(client, key, header.epoch, range);
  for (const { seq, hash } of records.slice(0, count)) {
    const expected = stored.get(seq);
    if (expected !== hash) return { seq, expected: expected ?? 'none', actual: hash };
  }
  return undefined;
}

function toRow({ seq, hash, bytes, record }: CheckedRecord): NewLedgerRow {
  return { ...ledgerColumns(record), seq, hash, prevHash: record.prev_hash, bytes };
}

function toAlert({ record }: CheckedRecord): ProjectedAlert[] {
  if (record.type !== 'alert') return [];
  return [
    {
      id: record.id,
      alertType: record.alert_type,
      severity: record.severity,
      agentId: record.agent_id,
      title: record.title,
      details: canonicalize(record.details),
      dedupeKey: record.dedupe_key,
      createdAt: record.timestamp,
    },
  ];
}

async function inTransaction<T>(
  pool: Pool,
  tenantId: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN');
    // The tenant for the tables that row-level security guards here too (alerts, data_planes); and
    // an acknowledgement must mean a durable commit, whatever the server's default is.
    await client.query(
      `SELECT set_config('app.tenant_id', $1, true), set_config('synchronous_commit', 'on', true)`,
      [tenantId],
    );
    const result = await work(client);
    const { command } = await client.query('COMMIT');
    // PostgreSQL answers the commit of a failed transaction with ROLLBACK, which is no error.
    if (command !== 'COMMIT') throw new Error(`the commit ended in ${command}`);
    broken = false;
    return result;
  } catch (error) {
    broken = !(await client.query('ROLLBACK').then(
      () => true,
      () => false,
    ));
    throw error;
  } finally {
    client.release(broken);
  }
}

function publicKeyOf(jwk: string): KeyObject {
  return createPublicKey({ key: JSON.parse(jwk) as JsonWebKey, format: 'jwk' });
}

function gap(expected: { epoch: number; seq: number }): AppError {
  const detail = `Earlier records are missing here: epoch ${expected.epoch}, seq ${expected.seq} comes next.`;
  return new AppError('BATCH_CONFLICT', detail, {
    errors: [{ loc: ['stream', expected.epoch, expected.seq], msg: detail, type: 'stream_gap' }],
  });
}

function fork({ seq, expected, actual }: Fork): AppError {
  const detail = `The record with seq ${seq} contradicts the stream that is stored.`;
  return new AppError('BATCH_CONFLICT', detail, {
    errors: [
      { loc: ['records', seq], msg: `${detail} (${expected}, ${actual})`, type: 'stream_fork' },
    ],
  });
}
