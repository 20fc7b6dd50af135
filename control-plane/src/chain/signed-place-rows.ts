/** What was signed about a tenant's log, as read for verification; it may have been tampered with. */

import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

export interface StoredCheckpoint {
  epoch: number;
  size: number;
  root: string;
  note: string;
  madeAt: Date;
}

export interface StoredAnchor {
  epoch: number;
  size: number;
  root: string;
}

export interface BeyondHead extends StoredAnchor {
  kind: 'log_checkpoint' | 'log_anchor' | 'log_epoch';
  /** For a log epoch, the id of the key that signed it. */
  root: string;
}

export interface StoredLogEpoch {
  epoch: number;
  statement: string;
  kid: string;
  signature: string;
}

/** Places signed since a time, with sizes up to `upTo`. */
export interface SignedRange {
  since: Date;
  upTo: number;
}

/** Above every epoch: the columns are integers of 32 bits. */
export const NO_EPOCH = 2 ** 31;
/** Limit in characters, since the texts may have been edited. */
const MAX_NOTE = 65_537;
/** Limit for checkpoints that come with one page of leaves. */
const MAX_ROWS = 5_000;

export function signedPlaceRows({ db, scope }: TenantTransaction) {
  const tenant = Prisma.sql`${scope.tenantId}::uuid`;
  const toAnchors = (rows: { epoch: number; size: bigint; root: string }[]): StoredAnchor[] =>
    rows.map(({ epoch, size, root }) => ({ epoch, size: Number(size), root }));
  const toCheckpoints = (rows: RawCheckpoint[]): StoredCheckpoint[] =>
    rows.map(({ made_at: madeAt, size, ...row }) => ({ ...row, size: Number(size), madeAt }));

  return {
    /** Checkpoints with a size above `beyond`, up to `to`. */
    readCheckpoints: async (beyond: number, to: number): Promise<StoredCheckpoint[]> =>
      toCheckpoints(
        await db.$queryRaw<RawCheckpoint[]>`
        SELECT c.epoch, c.size, left(c.root, 100) AS root, left(c.note, ${MAX_NOTE}) AS note,
          c.made_at
        FROM (SELECT DISTINCT epoch FROM log_epochs WHERE tenant_id = ${tenant}
          UNION SELECT 1) e (epoch)
        JOIN log_checkpoints c ON c.tenant_id = ${tenant} AND c.epoch = e.epoch
          AND c.size > ${beyond}::bigint AND c.size <= ${to}::bigint
        ORDER BY c.size, c.epoch LIMIT ${MAX_ROWS}`,
      ),

    /** In the order of their making. */
    readLateCheckpoints: async (
      { since, upTo }: SignedRange,
      after: Pick<StoredCheckpoint, 'madeAt' | 'epoch' | 'size'> | undefined,
      limit: number,
    ): Promise<StoredCheckpoint[]> => {
      const { madeAt, epoch, size } = after ?? { madeAt: since, epoch: -NO_EPOCH, size: 0 };
      const rows = await db.$queryRaw<RawCheckpoint[]>`
        SELECT epoch, size, left(root, 100) AS root, left(note, ${MAX_NOTE}) AS note, made_at
        FROM log_checkpoints WHERE tenant_id = ${tenant} AND size <= ${upTo}::bigint
          AND (made_at, epoch, size) > (${madeAt}, ${epoch}::bigint, ${size}::bigint)
        ORDER BY made_at, epoch, size LIMIT ${limit}`;
      return toCheckpoints(rows);
    },

    findCheckpointRoot: async (epoch: number, size: number): Promise<string | undefined> => {
      const [row] = await db.$queryRaw<{ root: string }[]>`
        SELECT left(root, 100) AS root FROM log_checkpoints
        WHERE tenant_id = ${tenant} AND epoch = ${epoch}::int AND size = ${size}::bigint`;
      return row?.root;
    },

    /** Anchors that were handed out, the largest first. */
    readAnchors: async (
      { since, upTo }: SignedRange,
      after: Pick<StoredAnchor, 'epoch' | 'size'> | undefined,
      limit: number,
    ): Promise<StoredAnchor[]> => {
      const { epoch, size } = after ?? { epoch: NO_EPOCH, size: 0 };
      return toAnchors(
        await db.$queryRaw`
        SELECT epoch, size, left(root, 100) AS root FROM log_anchors
        WHERE tenant_id = ${tenant} AND issued_at >= ${since}
          AND size > 0 AND size <= ${upTo}::bigint
          AND (epoch, size) < (${epoch}::bigint, ${size}::bigint)
        ORDER BY epoch DESC, size DESC LIMIT ${limit}`,
      );
    },

    /** Checkpoints, anchors and log epochs whose size or epoch exceeds that of the log's head. */
    readBeyond: async (): Promise<BeyondHead[]> => {
      const rows = await db.$queryRaw<(RawAnchor & Pick<BeyondHead, 'kind'>)[]>`
        WITH head AS (
          SELECT coalesce(max(epoch), 1) AS epoch, coalesce(max(size), 0) AS size FROM log_heads
          WHERE tenant_id = ${tenant}
        )
        (SELECT 'log_checkpoint' AS kind, c.epoch, c.size, left(root, 100) AS root
          FROM log_checkpoints c, head WHERE c.tenant_id = ${tenant}
            AND (c.size > head.size OR c.epoch > head.epoch OR c.size < 1 OR c.epoch < 1)
          LIMIT 100)
        UNION ALL
        (SELECT 'log_anchor', a.epoch, a.size, left(root, 100)
          FROM log_anchors a, head WHERE a.tenant_id = ${tenant}
            AND (a.size > head.size OR a.epoch > head.epoch) LIMIT 100)
        UNION ALL
        (SELECT 'log_epoch', e.epoch, 0, left(kid, 200)
          FROM log_epochs e, head WHERE e.tenant_id = ${tenant} AND e.epoch > head.epoch LIMIT 100)`;
      return rows.map((row) => ({ ...row, size: Number(row.size) }));
    },

    /** The signed statements of log epochs below a number, newest first. */
    readEpochs: async (below: number, limit: number): Promise<StoredLogEpoch[]> =>
      db.$queryRaw<StoredLogEpoch[]>`
        SELECT epoch, left(statement, ${MAX_NOTE}) AS statement, left(kid, 200) AS kid,
          left(signature, 256) AS signature
        FROM log_epochs WHERE tenant_id = ${tenant} AND epoch < ${below}::bigint
        ORDER BY epoch DESC LIMIT ${limit}`,
  };
}

interface RawAnchor {
  epoch: number;
  size: bigint;
  root: string;
}

interface RawCheckpoint extends RawAnchor {
  note: string;
  made_at: Date;
}
