/**
 * The ledger's tables as the ingest role sees them. The role owns them, so row-level security does
 * not hold it there: every statement names the tenant, which comes from the caller's credentials.
 */
import type { BatchHeader } from '@governance/shared/audit-batch';
import { canonicalize } from '@governance/shared/canonical-json';
import type { PoolClient } from 'pg';
import type { LedgerColumns } from '../audit/ledger-projection.ts';
import { BEFORE_FIRST, type StreamPosition } from './batch-place.ts';

export interface StreamKey {
  tenantId: string;
  stream: string;
}

export interface NewLedgerRow extends LedgerColumns {
  seq: number;
  hash: string;
  prevHash: string;
  bytes: Uint8Array;
}

/** Locks the stream's head for this transaction, making it where there is none yet. */
export async function lockStreamHead(
  client: PoolClient,
  { tenantId, stream }: StreamKey,
): Promise<StreamPosition> {
  const select = () =>
    client.query<{ epoch: number; next_seq: string; head: string }>(
      `SELECT epoch, next_seq, head FROM stream_heads
       WHERE tenant_id = $1 AND stream = $2 FOR UPDATE`,
      [tenantId, stream],
    );
  let [row] = (await select()).rows;
  if (!row) {
    await client.query(
      `INSERT INTO stream_heads (tenant_id, stream, epoch, next_seq, head)
       VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
      [tenantId, stream, BEFORE_FIRST.epoch, BEFORE_FIRST.nextSeq, BEFORE_FIRST.head],
    );
    [row] = (await select()).rows;
  }
  if (!row) throw new Error('a stream head vanished under its lock');
  return { epoch: row.epoch, nextSeq: Number(row.next_seq), head: row.head };
}

/** The stored hashes of a range of one epoch, by seq. */
export async function readHashes(
  client: PoolClient,
  key: StreamKey,
  epoch: number,
  range: { first: number; last: number },
): Promise<Map<number, string>> {
  const { rows } = await client.query<{ seq: string; hash: string }>(
    `SELECT seq, hash FROM ledger_records
     WHERE tenant_id = $1 AND stream = $2 AND epoch = $3 AND seq BETWEEN $4 AND $5`,
    [key.tenantId, key.stream, epoch, range.first, range.last],
  );
  return new Map(rows.map((row) => [Number(row.seq), row.hash]));
}

/**
 * Writes records behind the stored ones, gives them their place in the tenant's order of receipt,
 * and moves the head if it still is where `before` says.
 *
 * @returns the position of the last one, undefined where there was nothing to write
 */
export async function appendRecords(
  client: PoolClient,
  key: StreamKey,
  before: StreamPosition,
  epoch: number,
  rows: readonly NewLedgerRow[],
): Promise<number | undefined> {
  const last = rows.at(-1);
  if (!last) return undefined;
  // The lock of this row is held to the commit, so positions become visible in their order.
  const { rows: positions } = await client.query<{ position: string }>(
    `INSERT INTO tenant_positions (tenant_id, position) VALUES ($1, $2)
     ON CONFLICT (tenant_id) DO UPDATE SET position = tenant_positions.position + $2
     RETURNING position`,
    [key.tenantId, rows.length],
  );
  const lastPosition = Number(positions[0]?.position);
  const offsets: number[] = [];
  let offset = 1;
  for (const row of rows) {
    offsets.push(offset);
    offset += row.bytes.byteLength;
  }
  // The bytes go as one binary parameter that the server cuts: as an array they would travel as
  // hexadecimal text.
  await client.query(
    `INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
       subject_id, agent_id, policy_result, event_time, hash, prev_hash, bytes)
     SELECT $1, t.received_at, $2::bigint + r.ord - 1, $3, $4, r.seq, r.type, r.id, r.subject_id,
       r.agent_id, r.policy_result, r.event_time, r.hash, r.prev_hash,
       substring($5::bytea FROM r.bytes_from FOR r.bytes_count)
     FROM (SELECT clock_timestamp() AS received_at) t,
       unnest($6::bigint[], $7::text[], $8::uuid[], $9::uuid[], $10::uuid[], $11::text[],
         $12::timestamptz[], $13::text[], $14::text[], $15::int[], $16::int[])
       WITH ORDINALITY AS r (seq, type, id, subject_id, agent_id, policy_result, event_time, hash,
         prev_hash, bytes_from, bytes_count, ord)`,
    [
      key.tenantId,
      lastPosition - rows.length + 1,
      key.stream,
      epoch,
      Buffer.concat(rows.map((row) => row.bytes)),
      rows.map((row) => row.seq),
      rows.map((row) => row.type),
      rows.map((row) => row.id),
      rows.map((row) => row.subjectId),
      rows.map((row) => row.agentId),
      rows.map((row) => row.policyResult),
      rows.map((row) => row.eventTime),
      rows.map((row) => row.hash),
      rows.map((row) => row.prevHash),
      offsets,
      rows.map((row) => row.bytes.byteLength),
    ],
  );
  const { rowCount } = await client.query(
    `UPDATE stream_heads SET epoch = $3, next_seq = $4, head = $5, updated_at = now()
     WHERE tenant_id = $1 AND stream = $2 AND epoch = $6 AND next_seq = $7 AND head = $8`,
    [
      key.tenantId,
      key.stream,
      epoch,
      last.seq + 1,
      last.hash,
      before.epoch,
      before.nextSeq,
      before.head,
    ],
  );
  if (rowCount !== 1) throw new Error('a stream head moved under its lock');
  return lastPosition;
}

/** Keeps what the writer signed, for verification and evidence. */
export async function insertBatch(
  client: PoolClient,
  { tenantId, stream }: StreamKey,
  header: BatchHeader,
  signature: string,
): Promise<void> {
  await client.query(
    `INSERT INTO ledger_batches (tenant_id, stream, epoch, last_seq, first_seq, header, signature)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      tenantId,
      stream,
      header.epoch,
      header.last_seq,
      header.first_seq,
      canonicalize(header),
      signature,
    ],
  );
}

export interface ProjectedAlert {
  id: string;
  alertType: string;
  severity: string;
  agentId: string | null;
  title: string;
  details: string;
  dedupeKey: string | null;
  createdAt: string;
}

/** Raises the alerts of a batch; one whose key an open alert already has is only in the ledger. */
export async function insertAlerts(
  client: PoolClient,
  tenantId: string,
  alerts: readonly ProjectedAlert[],
): Promise<void> {
  if (alerts.length === 0) return;
  await client.query(
    `INSERT INTO alerts (tenant_id, id, alert_type, severity, status, agent_id, title, details,
       dedupe_key, created_at)
     SELECT $1, a.id, a.alert_type, a.severity, 'open', a.agent_id, a.title, a.details,
       a.dedupe_key, a.created_at
     FROM unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[],
       $8::text[], $9::timestamptz[])
       AS a (id, alert_type, severity, agent_id, title, details, dedupe_key, created_at)
     ON CONFLICT DO NOTHING`,
    [
      tenantId,
      alerts.map((alert) => alert.id),
      alerts.map((alert) => alert.alertType),
      alerts.map((alert) => alert.severity),
      alerts.map((alert) => alert.agentId),
      alerts.map((alert) => alert.title),
      alerts.map((alert) => alert.details),
      alerts.map((alert) => alert.dedupeKey),
      alerts.map((alert) => alert.createdAt),
    ],
  );
}

/** The registered Ed25519 public key of a data plane, as JWK text. */
export async function findSigningKey(
  client: PoolClient,
  tenantId: string,
  deploymentId: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ signing_key: string }>(
    'SELECT signing_key FROM data_planes WHERE tenant_id = $1 AND deployment_id = $2',
    [tenantId, deploymentId],
  );
  return rows[0]?.signing_key;
}
