import type { ChainPosition } from '@governance/shared/ledger/hash-chain';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { StoredRow } from './chain-walk.ts';
import type { LinkHashes, RecordRange } from './recent-records.ts';

export type StreamKind = 'admin' | 'data_plane' | 'unknown';

/** A stream, its separately stored head, and its newest stored record. */
export interface StreamEnd {
  stream: string;
  kind: StreamKind;
  /**
   * Null when no head is stored (an unknown stream), or when the head says that the stream is
   * empty.
   */
  head: ChainPosition | null;
  newest: ChainPosition | null;
}

/** A stored signed batch, with the stored hash of its last record. */
export interface StoredBatch {
  epoch: number;
  firstSeq: number;
  lastSeq: number;
  header: string;
  signature: string;
  hash: string | null;
}

/** A data plane's row, with the stored state of its stream. */
export interface StoredPlane {
  deploymentId: string;
  /** The public key, as JWK text. */
  signingKey: string;
  isForked: boolean;
  /** Its last heartbeat, as JSON; null before the first. */
  lastHeartbeat: string | null;
  /** Whether it reported an empty backlog when it last read its feed. */
  hasShippedAll: boolean;
  hasRecords: boolean;
}

export interface RecordPlace {
  stream: string;
  epoch: number;
  seq: number;
}

const PAGE_BATCHES = 500;
/**
 * Bounds a page in memory, since a heartbeat may have 64 KiB (data-plane-routes.ts). It is read
 * whole: SQL fails on one that was edited, which must not end the verification.
 */
const PAGE_PLANES = 100;
/** Both bound a page in memory, since a record may have up to 1 MiB. */
const PAGE_ROWS = 500;
const PAGE_BYTES = 4 * 1024 * 1024;

export interface ChainStore {
  /** One statement, so that heads and records are consistent. */
  readEnds(): Promise<StreamEnd[]>;
  /**
   * The tenant's newest position in the order of receipt. Each position up to it belongs to one
   * record.
   */
  readPosition(): Promise<number>;
  /** A page of data planes, ordered by id, beginning after the given one. */
  readPlanes(after: string | null): Promise<StoredPlane[]>;
  /**
   * For each place, in order: the stored hash and the hash of the stored bytes; null where there is
   * no record.
   */
  readHashes(places: readonly RecordPlace[]): Promise<({ kept: string; actual: string } | null)[]>;
  readBatches(
    stream: string,
    after: { epoch: number; lastSeq: number },
    last: { epoch: number; seq: number },
  ): Promise<StoredBatch[]>;
  /** The links of a range of records; where two share a place, the first of them. */
  readLinks(stream: string, range: RecordRange): Promise<LinkHashes[]>;
  /** Rows behind `after` up to `last`, in order of (epoch, seq, position). */
  readPage(
    stream: string,
    after: { epoch: number; seq: number; position: number },
    last: { epoch: number; seq: number },
  ): Promise<StoredRow[]>;
}

interface RawEnd {
  stream: string;
  kind: StreamKind;
  epoch: number | null;
  seq: bigint | null;
  head: string | null;
  newest_epoch: number | null;
  newest_seq: bigint | null;
  newest_hash: string | null;
}

export function chainStore({ db, scope }: TenantTransaction): ChainStore {
  const tenant = Prisma.sql`${scope.tenantId}::uuid`;
  return {
    readEnds: async () => {
      // The recursive part skips from stream to stream along the index, to find records of streams
      // without a stored head as well.
      const rows = await db.$queryRaw<RawEnd[]>`
        WITH RECURSIVE stored AS (
          (SELECT stream FROM ledger_records WHERE tenant_id = ${tenant} ORDER BY stream LIMIT 1)
          UNION ALL
          SELECT (SELECT stream FROM ledger_records
                  WHERE tenant_id = ${tenant} AND stream > stored.stream ORDER BY stream LIMIT 1)
          FROM stored WHERE stored.stream IS NOT NULL
        ), heads AS (
          SELECT admin_stream AS stream, 'admin' AS kind, admin_epoch AS epoch, admin_seq AS seq,
            admin_head AS head
          FROM tenant_heads WHERE tenant_id = ${tenant}
          UNION ALL
          SELECT stream, 'data_plane', epoch, next_seq - 1, head
          FROM stream_heads WHERE tenant_id = ${tenant}
        )
        SELECT stream, coalesce(heads.kind, 'unknown') AS kind, heads.epoch, heads.seq, heads.head,
          newest.epoch AS newest_epoch, newest.seq AS newest_seq, newest.hash AS newest_hash
        FROM heads FULL JOIN (SELECT stream FROM stored WHERE stream IS NOT NULL) s USING (stream)
        LEFT JOIN LATERAL (
          SELECT epoch, seq, hash FROM ledger_records r
          WHERE tenant_id = ${tenant} AND r.stream = coalesce(heads.stream, s.stream)
          ORDER BY epoch DESC, seq DESC LIMIT 1
        ) newest ON true
        ORDER BY kind, stream`;
      return rows.map((row) => ({
        stream: row.stream,
        kind: row.kind,
        head: toPosition(row.epoch, row.seq, row.head),
        newest: toPosition(row.newest_epoch, row.newest_seq, row.newest_hash),
      }));
    },
    readPosition: async () => {
      const found = await db.tenantPosition.findUnique({ where: { tenantId: scope.tenantId } });
      return Number(found?.position ?? 0);
    },
    readPlanes: async (after) => {
      const rows = await db.$queryRaw<RawPlane[]>`
        SELECT deployment_id, signing_key, status = 'forked' AS is_forked, last_heartbeat,
          feed_read_at IS NOT NULL AND backlog_records = 0 AS has_shipped_all,
          EXISTS (SELECT 1 FROM ledger_records r
            WHERE r.tenant_id = p.tenant_id AND r.stream = p.deployment_id) AS has_records
        FROM data_planes p
        WHERE tenant_id = ${tenant} AND (${after}::uuid IS NULL OR deployment_id > ${after}::uuid)
        ORDER BY deployment_id LIMIT ${PAGE_PLANES}`;
      return rows.map((row) => ({
        deploymentId: row.deployment_id,
        signingKey: row.signing_key,
        isForked: row.is_forked,
        lastHeartbeat: row.last_heartbeat,
        hasShippedAll: row.has_shipped_all ?? false,
        hasRecords: row.has_records,
      }));
    },
    readHashes: async (places) => {
      if (places.length === 0) return [];
      const rows = await db.$queryRaw<{ kept: string | null; actual: string | null }[]>`
        SELECT r.hash AS kept, encode(sha256('\\x00'::bytea || r.bytes), 'hex') AS actual
        FROM unnest(${places.map(({ stream }) => stream)}::uuid[],
          ${places.map(({ epoch }) => epoch)}::int[], ${places.map(({ seq }) => seq)}::bigint[])
          WITH ORDINALITY AS place (stream, epoch, seq, n)
        LEFT JOIN LATERAL (
          SELECT hash, bytes FROM ledger_records l
          WHERE l.tenant_id = ${tenant} AND l.stream = place.stream AND l.epoch = place.epoch
            AND l.seq = place.seq ORDER BY l.position LIMIT 1
        ) r ON true ORDER BY place.n`;
      return rows.map(({ kept, actual }) =>
        kept === null || actual === null ? null : { kept, actual },
      );
    },
    readBatches: async (stream, after, last) => {
      const rows = await db.$queryRaw<RawBatch[]>`
        SELECT b.*, r.hash FROM (
          SELECT epoch, first_seq, last_seq, header, signature FROM ledger_batches
          WHERE tenant_id = ${tenant} AND stream = ${stream}::uuid
            AND (epoch, last_seq) > (${after.epoch}::int, ${after.lastSeq}::bigint)
            AND (epoch, last_seq) <= (${last.epoch}::int, ${last.seq}::bigint)
          ORDER BY epoch, last_seq LIMIT ${PAGE_BATCHES}
        ) b LEFT JOIN LATERAL (
          SELECT hash FROM ledger_records
          WHERE tenant_id = ${tenant} AND stream = ${stream}::uuid AND epoch = b.epoch
            AND seq = b.last_seq LIMIT 1
        ) r ON true ORDER BY epoch, last_seq`;
      return rows.map(({ first_seq, last_seq, ...row }) => ({
        ...row,
        firstSeq: Number(first_seq),
        lastSeq: Number(last_seq),
      }));
    },
    readLinks: async (stream, { epoch, firstSeq, lastSeq }) => {
      const rows = await db.$queryRaw<{ hash: string; prev_hash: string }[]>`
        SELECT DISTINCT ON (seq) hash, prev_hash FROM ledger_records
        WHERE tenant_id = ${tenant} AND stream = ${stream}::uuid AND epoch = ${epoch}::int
          AND seq BETWEEN ${firstSeq}::bigint AND ${lastSeq}::bigint
        ORDER BY seq, position`;
      return rows.map(({ hash, prev_hash: prevHash }) => ({ hash, prevHash }));
    },
    readPage: async (stream, after, last) => {
      const rows = await db.$queryRaw<RawRow[]>`
        SELECT * FROM (
          SELECT *, sum(octet_length(bytes)) OVER (ORDER BY epoch, seq, position)
            - octet_length(bytes) AS bytes_before
          FROM (
            SELECT position, type, id, subject_id, agent_id, policy_result, event_time, received_at,
              epoch, seq, hash, prev_hash, bytes,
              type = 'quarantined' AND EXISTS (
                SELECT 1 FROM ledger_quarantine q
                WHERE q.tenant_id = r.tenant_id AND q.stream = r.stream AND q.epoch = r.epoch
                  AND q.seq = r.seq AND q.hash = r.hash AND q.kind <> 'fork'
              ) AS is_quarantined
            FROM ledger_records r
            WHERE tenant_id = ${tenant} AND stream = ${stream}::uuid
              AND (epoch, seq) >= (${after.epoch}::int, ${after.seq}::bigint)
              AND (epoch, seq) <= (${last.epoch}::int, ${last.seq}::bigint)
              -- Reads a second row with the epoch and seq of the last page's end, too.
              AND NOT (epoch = ${after.epoch} AND seq = ${after.seq} AND position <= ${after.position})
            ORDER BY epoch, seq, position LIMIT ${PAGE_ROWS}
          ) page
        ) sized WHERE bytes_before < ${PAGE_BYTES} ORDER BY epoch, seq, position`;
      return rows.map((row) => ({
        stream,
        position: Number(row.position),
        type: row.type,
        id: row.id,
        subjectId: row.subject_id,
        agentId: row.agent_id,
        policyResult: row.policy_result,
        eventTime: row.event_time,
        receivedAt: row.received_at,
        epoch: row.epoch,
        seq: Number(row.seq),
        hash: row.hash,
        prevHash: row.prev_hash,
        bytes: row.bytes,
        isQuarantined: row.is_quarantined,
      }));
    },
  };
}

interface RawPlane {
  deployment_id: string;
  signing_key: string;
  is_forked: boolean;
  last_heartbeat: string | null;
  has_shipped_all: boolean | null;
  has_records: boolean;
}

interface RawBatch {
  epoch: number;
  first_seq: bigint;
  last_seq: bigint;
  header: string;
  signature: string;
  hash: string | null;
}

interface RawRow {
  position: bigint;
  type: string;
  id: string;
  subject_id: string | null;
  agent_id: string | null;
  policy_result: string | null;
  event_time: Date;
  received_at: Date;
  epoch: number;
  seq: bigint;
  hash: string;
  prev_hash: string;
  bytes: Uint8Array;
  is_quarantined: boolean;
}

function toPosition(
  epoch: number | null,
  seq: bigint | null,
  head: string | null,
): ChainPosition | null {
  // A head with seq 0 belongs to a stream without records.
  if (epoch === null || seq === null || head === null || seq === 0n) return null;
  return { epoch, seq: Number(seq), head };
}
