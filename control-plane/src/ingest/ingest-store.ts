/**
 * Reads and writes the ledger's tables as the ingest role. The role owns them, so row-level
 * security does not restrict it there: every statement names the tenant, which comes from the
 * caller's credentials.
 */

import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { BatchHeader } from '@governance/shared/ledger/audit-batch';
import pg, { type PoolClient } from 'pg';
import { QUARANTINED } from '../chain/ledger-columns.ts';
import { BOUND_HELD_LOCKS } from '../platform/database/tenant-lock.ts';
import { BEFORE_FIRST, type StreamPosition } from './batch-place.ts';

/**
 * Begins a transaction for a tenant and locks the heads of streams in it, creating missing ones.
 *
 * @param streams each once; UUIDs
 */
export async function beginWithHeads(
  client: PoolClient,
  tenantId: string,
  streams: readonly string[],
): Promise<Map<string, StreamPosition>> {
  const tenant = pg.escapeLiteral(tenantId);
  const list = streams.map((stream) => `${pg.escapeLiteral(stream)}::uuid`).join(', ');
  // Every transaction locks the heads in the same order, so they cannot deadlock.
  const select = `SELECT stream, epoch, next_seq, head FROM stream_heads
    WHERE tenant_id = ${tenant} AND stream IN (${list}) ORDER BY stream FOR UPDATE`;
  // One message, for one round trip. app.tenant_id is for the tables where row-level security
  // restricts this role too (alerts); synchronous_commit is set because an acknowledgement must
  // mean a durable commit, whatever the server's default.
  const results = (await client.query(
    `BEGIN; SELECT set_config('app.tenant_id', ${tenant}, true),
       set_config('synchronous_commit', 'on', true), ${BOUND_HELD_LOCKS}; ${select}`,
  )) as unknown as { rows: RawHead[] }[]; // the types know one statement only
  let rows = results[2]?.rows ?? [];
  if (rows.length < streams.length) {
    await client.query(
      `INSERT INTO stream_heads (tenant_id, stream, epoch, next_seq, head)
       SELECT $1, s, $3, $4, $5 FROM unnest($2::uuid[]) s ORDER BY s ON CONFLICT DO NOTHING`,
      [tenantId, streams, BEFORE_FIRST.epoch, BEFORE_FIRST.nextSeq, BEFORE_FIRST.head],
    );
    ({ rows } = await client.query<RawHead>(select));
  }
  return new Map(
    rows.map(({ stream, epoch, next_seq, head }) => [
      stream,
      { epoch, nextSeq: Number(next_seq), head },
    ]),
  );
}

interface RawHead {
  stream: string;
  epoch: number;
  next_seq: string;
  head: string;
}

export interface StoredHash {
  hash: string;
  prevHash: string;
  isQuarantined: boolean;
}

/** The stored hashes of a range of one epoch, by seq. */
export async function readHashes(
  client: PoolClient,
  tenantId: string,
  stream: string,
  range: { epoch: number; first: number; last: number },
): Promise<Map<number, StoredHash>> {
  const { rows } = await client.query<{
    seq: string;
    hash: string;
    prev_hash: string;
    type: string;
  }>(
    `SELECT seq, hash, prev_hash, type FROM ledger_records
     WHERE tenant_id = $1 AND stream = $2 AND epoch = $3 AND seq BETWEEN $4 AND $5`,
    [tenantId, stream, range.epoch, range.first, range.last],
  );
  return new Map(
    rows.map(({ seq, hash, prev_hash: prevHash, type }) => [
      Number(seq),
      { hash, prevHash, isQuarantined: type === QUARANTINED },
    ]),
  );
}

/** A batch that moves its stream's head. */
export interface HeadMove {
  before: StreamPosition;
  header: BatchHeader;
  signature: string;
  /**
   * Earliest and latest time of its records by their writer's clock, ISO 8601; null where none can
   * be read.
   */
  times: { first: string; last: string } | null;
}

const MOVE_AND_PLACE = `WITH moves AS (
   SELECT * FROM unnest($2::uuid[], $3::int[], $4::bigint[], $5::bigint[], $6::text[],
     $7::int[], $8::bigint[], $9::text[], $10::text[], $11::text[], $12::timestamptz[],
     $13::timestamptz[]) WITH ORDINALITY
     AS m (stream, epoch, first_seq, last_seq, head, epoch_before, next_before, head_before,
       header, signature, first_time, last_time, n)
 ), moved AS (
   UPDATE stream_heads h
   SET epoch = m.epoch, next_seq = m.last_seq + 1, head = m.head, updated_at = now()
   FROM moves m
   WHERE h.tenant_id = $1 AND h.stream = m.stream AND h.epoch = m.epoch_before
     AND h.next_seq = m.next_before AND h.head = m.head_before
   RETURNING 1
 ), placed AS (
   INSERT INTO tenant_positions (tenant_id, position, log_size)
   VALUES ($1, $14, (SELECT count(*) FROM moves))
   ON CONFLICT (tenant_id) DO UPDATE SET position = tenant_positions.position + $14,
     log_size = tenant_positions.log_size + excluded.log_size
   RETURNING position, log_size, clock_timestamp() AS received_at
 ), kept AS (
   INSERT INTO ledger_batches (tenant_id, stream, epoch, last_seq, first_seq, header, signature,
     received_at, leaf_index, first_time, last_time)
   SELECT $1, stream, epoch, last_seq, first_seq, header, signature, received_at,
     log_size - (SELECT count(*) FROM moves) + n - 1, coalesce(first_time, received_at),
     coalesce(last_time, received_at)
   FROM moves, placed
 )
 SELECT (SELECT count(*) FROM moved) AS moved, position, received_at FROM placed`;

/**
 * Moves the heads by compare-and-set, stores what the writers signed (for verification and
 * evidence) as the next leaves of the tenant's log, and takes the next positions in its order of
 * receipt. From here to the commit the tenant's other writers wait, so that positions become
 * visible in their order.
 *
 * @returns the position of the first of `count` records, and the time of receipt in milliseconds
 */
export async function takePositions(
  client: PoolClient,
  tenantId: string,
  moves: readonly HeadMove[],
  count: number,
): Promise<{ firstPosition: number; receivedAt: number }> {
  const headers = moves.map((move) => move.header);
  const { rows } = await client.query<{ moved: string; position: string; received_at: Date }>({
    // Named, so that each connection plans it once.
    name: 'take_positions',
    text: MOVE_AND_PLACE,
    values: [
      tenantId,
      headers.map((header) => header.stream),
      headers.map((header) => header.epoch),
      headers.map((header) => header.first_seq),
      headers.map((header) => header.last_seq),
      headers.map((header) => header.head),
      moves.map((move) => move.before.epoch),
      moves.map((move) => move.before.nextSeq),
      moves.map((move) => move.before.head),
      headers.map((header) => canonicalize(header)),
      moves.map((move) => move.signature),
      moves.map((move) => move.times?.first ?? null),
      moves.map((move) => move.times?.last ?? null),
      count,
    ],
  });
  const [row] = rows;
  if (Number(row?.moved) !== moves.length) throw new Error('a stream head moved under its lock');
  return {
    firstPosition: Number(row?.position) - count + 1,
    receivedAt: row?.received_at.getTime() ?? Number.NaN,
  };
}

/**
 * Those of `agentIds` that the tenant has or had, in lower case.
 *
 * @param tenantId as text that PostgreSQL reads as a UUID; `agentIds` likewise
 */
export async function findAgentIds(
  pool: pg.Pool,
  tenantId: string,
  agentIds: readonly string[],
): Promise<string[]> {
  // Two statements in one message, as in findSigningKey.
  const tenant = pg.escapeLiteral(tenantId);
  const ids = pg.escapeLiteral(`{${agentIds.join(',')}}`);
  const results = (await pool.query(
    `SELECT set_config('app.tenant_id', ${tenant}, true);
     SELECT id FROM agents WHERE tenant_id = ${tenant} AND id = ANY(${ids}::uuid[])`,
  )) as unknown as { rows: { id: string }[] }[]; // the types know one statement only
  return results[1]?.rows.map(({ id }) => id) ?? [];
}

export interface QuarantineEntry {
  epoch: number;
  seq: number;
  kind: 'fork' | 'unreadable' | 'forbidden';
  hash: string;
  reason: string;
  bytes: Uint8Array;
}

/** A clone that keeps sending must not fill the database: both limits are per stream. */
export const MAX_FORK_RECORDS = 1_000;
const MAX_FORK_BYTES = 64 * 1024 * 1024;

/**
 * Keeps records as evidence beside the ledger; a record already there is not stored again. The
 * caller holds the lock of the stream's head.
 */
export async function keepInQuarantine(
  client: PoolClient,
  tenantId: string,
  stream: string,
  entries: readonly QuarantineEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  await client.query(
    `INSERT INTO ledger_quarantine (tenant_id, id, stream, epoch, seq, kind, hash, reason, bytes)
     SELECT $1, q.id, $2, q.epoch, q.seq, q.kind, q.hash, q.reason, q.bytes
     FROM unnest($3::uuid[], $4::int[], $5::bigint[], $6::text[], $7::text[], $8::text[],
       $9::bytea[]) AS q (id, epoch, seq, kind, hash, reason, bytes)
     ON CONFLICT DO NOTHING`,
    [
      tenantId,
      stream,
      entries.map(() => uuidv7()),
      entries.map((entry) => entry.epoch),
      entries.map((entry) => entry.seq),
      entries.map((entry) => entry.kind),
      entries.map((entry) => entry.hash),
      entries.map((entry) => entry.reason),
      entries.map((entry) => Buffer.from(entry.bytes)),
    ],
  );
}

/** Those of `entries` that are new and fit within the limits of the stream's stored forks. */
export async function withinForkBounds(
  client: PoolClient,
  tenantId: string,
  stream: string,
  entries: readonly QuarantineEntry[],
): Promise<QuarantineEntry[]> {
  const { rows } = await client.query<{ records: string; bytes: string; known: string[] | null }>(
    `SELECT count(*) AS records, coalesce(sum(octet_length(bytes)), 0) AS bytes,
       array_agg(hash) FILTER (WHERE hash = ANY($3)) AS known
     FROM ledger_quarantine WHERE tenant_id = $1 AND stream = $2 AND kind = 'fork'`,
    [tenantId, stream, entries.map((entry) => entry.hash)],
  );
  let records = Number(rows[0]?.records);
  let bytes = Number(rows[0]?.bytes);
  const known = new Set(rows[0]?.known);
  return entries.filter((entry) => {
    if (known.has(entry.hash)) return false;
    records += 1;
    bytes += entry.bytes.byteLength;
    return records <= MAX_FORK_RECORDS && bytes <= MAX_FORK_BYTES;
  });
}

/**
 * The registered Ed25519 public key of a data plane, as JWK text.
 *
 * @param tenantId and deploymentId as texts that PostgreSQL reads as UUIDs
 */
export async function findSigningKey(
  pool: pg.Pool,
  tenantId: string,
  deploymentId: string,
): Promise<string | undefined> {
  // Two statements in one message are one transaction: the first sets the tenant that row-level
  // security allows in the second.
  const tenant = pg.escapeLiteral(tenantId);
  const results = (await pool.query(
    `SELECT set_config('app.tenant_id', ${tenant}, true);
     SELECT signing_key FROM data_planes
     WHERE tenant_id = ${tenant} AND deployment_id = ${pg.escapeLiteral(deploymentId)}`,
  )) as unknown as { rows: { signing_key?: string }[] }[]; // the types know one statement only
  return results[1]?.rows[0]?.signing_key;
}
