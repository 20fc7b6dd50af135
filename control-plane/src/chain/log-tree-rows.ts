/** The log's leaves and nodes, as read for verification; they may have been tampered with. */
import { type SubtreeAt, subtreesOf } from '@governance/shared/evidence/merkle-proofs';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

/** The log's size as several tables state it, read at one moment. */
export interface LogEnd {
  epoch: number;
  /** Leaves that the tree was computed for. */
  size: number;
  /** Leaves that were given an index. */
  indexes: number;
  /** One more than the largest stored index. */
  leaves: number;
  /** One more than the index of the last leaf with a node. */
  nodes: number;
  /**
   * Where the admin chain's batches end, according to the log's head and to the stored batches; as
   * `epoch/seq`.
   */
  admin: string;
  adminBatches: string;
  /** The size that the newest checkpoint signs; 0 without one. */
  checkpointSize: number;
}

export interface StoredLeaf {
  leafIndex: number;
  stream: string;
  epoch: number;
  firstSeq: number;
  lastSeq: number;
  header: string;
  signature: string;
  /** The stored hash of its last record. */
  lastHash: string | null;
}

/** Limit in characters, since the text may have been edited. */
const MAX_HEADER = 4_096;

export function logTreeRows({ db, scope }: TenantTransaction) {
  const tenant = Prisma.sql`${scope.tenantId}::uuid`;

  return {
    readEnd: async (): Promise<LogEnd> => {
      const [row] = await db.$queryRaw<RawEnd[]>`
        SELECT coalesce(h.epoch, 1) AS epoch, coalesce(h.size, 0) AS size,
          coalesce(h.admin_epoch, 0) || '/' || coalesce(h.admin_seq, 0) AS admin,
          coalesce((SELECT log_size FROM tenant_positions WHERE tenant_id = ${tenant}), 0)
            AS indexes,
          coalesce((SELECT max(leaf_index) + 1 FROM ledger_batches WHERE tenant_id = ${tenant}), 0)
            AS leaves,
          coalesce((SELECT max(idx) + 1 FROM log_nodes WHERE tenant_id = ${tenant} AND level = 0), 0)
            AS nodes,
          coalesce((SELECT epoch || '/' || last_seq FROM ledger_batches
            WHERE tenant_id = ${tenant} AND stream = t.admin_stream
            ORDER BY epoch DESC, last_seq DESC LIMIT 1), '0/0') AS admin_batches,
          coalesce((SELECT size FROM log_checkpoints WHERE tenant_id = ${tenant}
            ORDER BY epoch DESC, size DESC LIMIT 1), 0) AS checkpoint_size
        FROM (SELECT) one LEFT JOIN tenant_heads t ON t.tenant_id = ${tenant}
        LEFT JOIN log_heads h ON h.tenant_id = ${tenant}`;
      if (!row) throw new Error('exactly one row was expected');
      return {
        epoch: row.epoch,
        size: Number(row.size),
        indexes: Number(row.indexes),
        leaves: Number(row.leaves),
        nodes: Number(row.nodes),
        admin: row.admin,
        adminBatches: row.admin_batches,
        checkpointSize: Number(row.checkpoint_size),
      };
    },

    /** The stored leaves with an index from `from` to before `to`. */
    readLeaves: async (from: number, to: number): Promise<StoredLeaf[]> => {
      const rows = await db.$queryRaw<RawLeaf[]>`
        SELECT b.leaf_index, b.stream, b.epoch, b.first_seq, b.last_seq,
          left(b.header, ${MAX_HEADER}) AS header, left(b.signature, 256) AS signature, r.hash
        FROM ledger_batches b LEFT JOIN LATERAL (
          SELECT hash FROM ledger_records l
          WHERE l.tenant_id = b.tenant_id AND l.stream = b.stream AND l.epoch = b.epoch
            AND l.seq = b.last_seq LIMIT 1
        ) r ON true
        WHERE b.tenant_id = ${tenant} AND b.leaf_index >= ${from}::bigint
          AND b.leaf_index < ${to}::bigint
        ORDER BY b.leaf_index`;
      return rows.map((row) => ({
        leafIndex: Number(row.leaf_index),
        stream: row.stream,
        epoch: row.epoch,
        firstSeq: Number(row.first_seq),
        lastSeq: Number(row.last_seq),
        header: row.header,
        signature: row.signature,
        lastHash: row.hash,
      }));
    },

    /** The nodes that the leaves from index `from` to before `to` complete, by `level/index`. */
    readNodesOf: async (from: number, to: number): Promise<Map<string, string>> => {
      const levels: number[] = [];
      for (let level = 0; 2 ** level <= to; level++) levels.push(level);
      const rows = await db.$queryRaw<RawNode[]>`
        SELECT n.level, n.idx, encode(n.hash, 'hex') AS hash
        FROM unnest(${levels}::smallint[], ${levels.map((l) => Math.floor(from / 2 ** l))}::bigint[],
          ${levels.map((l) => Math.floor(to / 2 ** l))}::bigint[]) AS wanted (level, first, behind)
        JOIN log_nodes n ON n.tenant_id = ${tenant} AND n.level = wanted.level
          AND n.idx >= wanted.first AND n.idx < wanted.behind`;
      return byPlace(rows);
    },

    /**
     * The stored roots of the full subtrees that make up the tree at each of these sizes, by
     * `level/index`.
     */
    readFrontiers: async (sizes: readonly number[]): Promise<Map<string, string>> => {
      const wanted = new Map<string, SubtreeAt>();
      for (const size of sizes) {
        for (const at of subtreesOf({ start: 0, end: size })) wanted.set(nodeName(at), at);
      }
      const all = [...wanted.values()];
      const rows = await db.$queryRaw<RawNode[]>`
        SELECT n.level, n.idx, encode(n.hash, 'hex') AS hash
        FROM unnest(${all.map(({ level }) => level)}::smallint[],
          ${all.map(({ index }) => index)}::bigint[]) AS wanted (level, idx)
        JOIN log_nodes n ON n.tenant_id = ${tenant} AND n.level = wanted.level
          AND n.idx = wanted.idx`;
      return byPlace(rows);
    },
  };
}

/** A node's key in the results of these reads. */
export const nodeName = ({ level, index }: SubtreeAt): string => `${level}/${index}`;

function byPlace(rows: readonly RawNode[]): Map<string, string> {
  return new Map(
    rows.map(({ level, idx, hash }) => [nodeName({ level, index: Number(idx) }), hash]),
  );
}

interface RawEnd {
  epoch: number;
  size: bigint;
  indexes: bigint;
  leaves: bigint;
  nodes: bigint;
  admin: string;
  admin_batches: string;
  checkpoint_size: bigint;
}

interface RawLeaf {
  leaf_index: bigint;
  stream: string;
  epoch: number;
  first_seq: bigint;
  last_seq: bigint;
  header: string;
  signature: string;
  hash: string | null;
}

interface RawNode {
  level: number;
  idx: bigint;
  hash: string;
}
