/** The log's rows, of the transaction's tenant. */

import { BatchHeader } from '@governance/shared/audit-batch';
import { SignedLogEpoch } from '@governance/shared/evidence/evidence-keys';
import { batchLeafHash } from '@governance/shared/evidence/evidence-package';
import { MAX_WATCHED_EPOCHS } from '@governance/shared/evidence/log-watch';
import {
  foldSubtrees,
  type LeafRange,
  planConsistency,
  planInclusion,
  type SubtreeAt,
  subtreesOf,
} from '@governance/shared/evidence/merkle-proofs';
import type { StoredCheckpoint } from '../chain/signed-place-rows.ts';
import { type Page, rowsOf } from '../platform/page.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';

export interface LogHead {
  epoch: number;
  /** Leaves whose nodes are computed. */
  size: number;
  adminEpoch: number;
  adminSeq: number;
}

const NOTHING_YET: LogHead = { epoch: 1, size: 0, adminEpoch: 0, adminSeq: 0 };

/** A node of the log is missing. Only tampering with the database causes this. */
class MissingLogNode extends Error {}

/** The result of a read from the log; undefined when nodes are missing. */
export async function whereWhole<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof MissingLogNode) return undefined;
    throw error;
  }
}

/** The root of a full subtree, in lower-case hexadecimal. */
export interface LogNode extends SubtreeAt {
  hash: string;
}

export function logStore({ db, scope: { tenantId } }: TenantTransaction) {
  const readNodes = async (wanted: readonly SubtreeAt[]) => {
    const rows = await db.$queryRaw<{ level: number; idx: bigint; hash: string }[]>`
      SELECT level, idx, encode(hash, 'hex') AS hash FROM log_nodes
      JOIN unnest(${wanted.map(({ level }) => level)}::smallint[],
        ${wanted.map(({ index }) => BigInt(index))}::bigint[]) AS wanted (level, idx)
        USING (level, idx)
      WHERE tenant_id = ${tenantId}::uuid`;
    const known = new Map(rows.map(({ level, idx, hash }) => [`${level}/${idx}`, hash]));
    return ({ level, index }: SubtreeAt): string => {
      const hash = known.get(`${level}/${index}`);
      if (hash === undefined) throw new MissingLogNode(`the log has no node ${level}/${index}`);
      return hash;
    };
  };

  const readRoots = async (ranges: readonly LeafRange[]): Promise<string[]> => {
    const rootOf = await readNodes(ranges.flatMap(subtreesOf));
    return ranges.map((range) => foldSubtrees(subtreesOf(range).map(rootOf)));
  };

  const toCheckpoint = (row: Awaited<ReturnType<typeof db.logCheckpoint.findFirstOrThrow>>) => {
    const { epoch, size, root, note, madeAt } = row;
    return { epoch, size: Number(size), root, note, madeAt } satisfies StoredCheckpoint;
  };

  return {
    findHead: async (): Promise<LogHead> => {
      const row = await db.logHead.findUnique({ where: { tenantId } });
      if (!row) return NOTHING_YET;
      const { epoch, size, adminEpoch, adminSeq } = row;
      return { epoch, size: Number(size), adminEpoch, adminSeq: Number(adminSeq) };
    },

    /** Serialises the log's growth after ingest, until the transaction ends. */
    lockHead: async (): Promise<LogHead> => {
      const [row] = await db.$queryRaw<
        { epoch: number; size: bigint; admin_epoch: number; admin_seq: bigint }[]
      >`INSERT INTO log_heads (tenant_id) VALUES (${tenantId}::uuid)
        ON CONFLICT (tenant_id) DO UPDATE SET updated_at = now()
        RETURNING epoch, size, admin_epoch, admin_seq`;
      if (!row) throw new Error('the log has no head');
      return {
        epoch: row.epoch,
        size: Number(row.size),
        adminEpoch: row.admin_epoch,
        adminSeq: Number(row.admin_seq),
      };
    },

    moveAdminEnd: async ({ adminEpoch, adminSeq }: Pick<LogHead, 'adminEpoch' | 'adminSeq'>) => {
      const data = { adminEpoch, adminSeq: BigInt(adminSeq) };
      await db.logHead.update({ where: { tenantId }, data });
    },

    moveEpoch: async (epoch: number): Promise<void> => {
      await db.logHead.update({ where: { tenantId }, data: { epoch } });
    },

    /** The hashes of leaves that are not yet in the tree, in order. */
    readLeaves: async (from: number, limit: number): Promise<string[]> => {
      const rows = await db.ledgerBatch.findMany({
        where: { tenantId, leafIndex: { gte: from } },
        select: { leafIndex: true, header: true, signature: true },
        orderBy: { leafIndex: 'asc' },
        take: limit,
      });
      return rows.map(({ leafIndex, header, signature }, index) => {
        if (Number(leafIndex) !== from + index) throw new Error(`leaf ${from + index} is missing`);
        return batchLeafHash({ header: BatchHeader.parse(JSON.parse(header)), signature });
      });
    },

    /** The roots of the full subtrees of the first `size` leaves, left to right. */
    readFrontier: async (size: number): Promise<LogNode[]> => {
      const subtrees = subtreesOf({ start: 0, end: size });
      const rootOf = await readNodes(subtrees);
      return subtrees.map((at) => ({ ...at, hash: rootOf(at) }));
    },

    grow: async (nodes: readonly LogNode[], size: number): Promise<void> => {
      await db.$executeRaw`
        INSERT INTO log_nodes (tenant_id, level, idx, hash)
        SELECT ${tenantId}::uuid, level, idx, decode(hash, 'hex')
        FROM unnest(${nodes.map(({ level }) => level)}::smallint[],
          ${nodes.map(({ index }) => BigInt(index))}::bigint[],
          ${nodes.map(({ hash }) => hash)}::text[]) AS node (level, idx, hash)`;
      await db.logHead.update({ where: { tenantId }, data: { size: BigInt(size) } });
    },

    /** @throws Error beyond the tree's size */
    readRoot: async (size: number): Promise<string> =>
      (await readRoots([{ start: 0, end: size }]))[0] as string,

    /** RFC 6962 inclusion proof in the tree of that size. */
    proveInclusion: (leaf: number, size: number): Promise<string[]> =>
      readRoots(planInclusion(leaf, size)),

    /** RFC 6962 consistency proof. @throws RangeError when `from` is larger */
    proveConsistency: (from: number, to: number): Promise<string[]> =>
      readRoots(planConsistency(from, to)),

    insertCheckpoint: async (checkpoint: StoredCheckpoint): Promise<void> => {
      const { size, ...rest } = checkpoint;
      await db.logCheckpoint.createMany({
        data: [{ tenantId, size: BigInt(size), ...rest }],
        skipDuplicates: true,
      });
    },

    /** The newest checkpoint, of the given epoch and size if given. */
    findCheckpoint: async (wanted: {
      epoch?: number;
      size?: number;
    }): Promise<StoredCheckpoint | undefined> => {
      const { epoch, size } = wanted;
      const row = await db.logCheckpoint.findFirst({
        where: {
          tenantId,
          ...(epoch === undefined ? {} : { epoch }),
          ...(size === undefined ? {} : { size: BigInt(size) }),
        },
        orderBy: [{ epoch: 'desc' }, { size: 'desc' }],
      });
      return row ? toCheckpoint(row) : undefined;
    },

    listCheckpoints: async (size: number | undefined, page: Page) => {
      const where = { tenantId, ...(size === undefined ? {} : { size: BigInt(size) }) };
      const rows = await db.logCheckpoint.findMany({
        where,
        orderBy: [{ epoch: 'desc' }, { size: 'desc' }],
        ...rowsOf(page),
      });
      const total = await db.logCheckpoint.count({ where });
      return { checkpoints: rows.map(toCheckpoint), total };
    },

    /**
     * The signed statements of log epochs from this one on, ascending; at most MAX_WATCHED_EPOCHS.
     */
    listEpochs: async (from: number): Promise<SignedLogEpoch[]> => {
      const rows = await db.logEpoch.findMany({
        where: { tenantId, epoch: { gte: from } },
        orderBy: { epoch: 'asc' },
        take: MAX_WATCHED_EPOCHS,
      });
      return rows.map(({ statement, kid, signature }) =>
        SignedLogEpoch.parse({ statement: JSON.parse(statement), kid, signature }),
      );
    },

    /** Thins out checkpoints made before a time, and keeps the largest of each hour. */
    thinCheckpoints: async (before: Date): Promise<void> => {
      await db.$executeRaw`
        DELETE FROM log_checkpoints c WHERE tenant_id = ${tenantId}::uuid AND made_at < ${before}
          AND EXISTS (
            SELECT 1 FROM log_checkpoints later WHERE later.tenant_id = c.tenant_id
              AND later.epoch = c.epoch AND later.size > c.size
              AND later.made_at >= c.made_at
              AND later.made_at < date_trunc('hour', c.made_at) + interval '1 hour')`;
    },
  };
}
