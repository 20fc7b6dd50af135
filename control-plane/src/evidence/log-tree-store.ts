/** The log's Merkle tree: its leaves and nodes, and the proofs made of them. */

import { batchLeafHash } from '@governance/shared/evidence/evidence-package';
import {
  foldSubtrees,
  type LeafRange,
  planConsistency,
  planInclusion,
  type SubtreeAt,
  subtreesOf,
} from '@governance/shared/evidence/merkle-proofs';
import { BatchHeader } from '@governance/shared/ledger/audit-batch';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

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

export function logTreeStore({ db, scope: { tenantId } }: TenantTransaction) {
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

  return {
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
  };
}
