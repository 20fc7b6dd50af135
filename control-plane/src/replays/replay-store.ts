import { CLOCK_JUMP_MS } from '@governance/shared/time/clock-jumps';
import { readStored } from '../platform/database/damaged-rows.ts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import { MAX_ENDED_OF_POLICY, type Replay, type ReplayStatus } from './replay.ts';
import { ReplayResult } from './replay-result.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['policyReplay']['findFirstOrThrow']>>;

/** Half-open, by the writer's clock, up to a position of receipt. */
export interface DecisionRange {
  from: Date;
  to: Date;
  untilPosition: number;
}

/** A recorded decision with its stored policy input. */
export interface DecisionRow {
  position: bigint;
  id: string;
  event_time: Date;
  bytes: Uint8Array;
  is_encrypted: boolean | null;
  data_key_id: string | null;
  ciphertext: Uint8Array | null;
}

/** Byte limit of a step's rows, which the first row may exceed. */
const MAX_STEP_BYTES = 16 * 1024 * 1024;

/** This feature's rows, of the transaction's tenant. */
export function replayStore({ db, scope: { tenantId } }: TenantTransaction) {
  const inRange = ({ from, to, untilPosition }: DecisionRange) => Prisma.sql`
    r.tenant_id = ${tenantId}::uuid AND r.type = 'decision' AND r.event_time >= ${from}
      AND r.event_time < ${to} AND r.position <= ${untilPosition}`;
  return {
    insert: async ({ result, ...replay }: Replay): Promise<void> => {
      await db.policyReplay.create({ data: { tenantId, ...replay, result } });
    },

    find: async (policyId: string, id: string): Promise<Replay | undefined> => {
      const row = await db.policyReplay.findFirst({ where: { tenantId, id, policyId } });
      return row ? toReplay(row) : undefined;
    },

    /** Newest first. */
    list: async (policyId: string, page: Page) => {
      const where = { tenantId, policyId };
      const rows = await db.policyReplay.findMany({
        where,
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { found: rows.map(toReplay), total: await db.policyReplay.count({ where }) };
    },

    /** @returns undefined when another replica was first, or the replay has ended */
    claim: async (
      id: string,
      at: Date,
      leaseUntil: Date,
    ): Promise<Pick<Replay, 'policyId' | 'attempts'> | undefined> => {
      const { count } = await db.policyReplay.updateMany({
        where: {
          ...{ tenantId, id, leaseUntil: { lte: at } },
          status: { in: ['queued', 'running'] },
        },
        data: { status: 'running', leaseUntil, attempts: { increment: 1 } },
      });
      if (count === 0) return undefined;
      const row = await db.policyReplay.findUnique({
        where: { tenantId_id: { tenantId, id } },
        select: { policyId: true, attempts: true },
      });
      return row ?? undefined;
    },

    /**
     * Stores a claimed replay's progress, if its lease is still the one that this replica took.
     *
     * @returns false if another replica took the lease, or the replay was cancelled
     */
    save: async (
      { id, leaseUntil }: Pick<Replay, 'id' | 'leaseUntil'>,
      data: Partial<
        Pick<
          Replay,
          'position' | 'result' | 'leaseUntil' | 'attempts' | 'status' | 'reason' | 'finishedAt'
        >
      >,
    ): Promise<boolean> => {
      const { count } = await db.policyReplay.updateMany({
        where: { tenantId, id, status: 'running', leaseUntil },
        data,
      });
      return count > 0;
    },

    /** @returns false when it has ended */
    cancel: async (id: string, at: Date): Promise<boolean> => {
      const { count } = await db.policyReplay.updateMany({
        where: { tenantId, id, status: { in: ['queued', 'running'] } },
        data: { status: 'cancelled', finishedAt: at },
      });
      return count > 0;
    },

    /** Deletes a policy's ended replays beyond the number that is kept. */
    prune: async (policyId: string): Promise<void> => {
      await db.$executeRaw`
        DELETE FROM policy_replays WHERE tenant_id = ${tenantId}::uuid AND id IN (
          SELECT id FROM policy_replays
          WHERE tenant_id = ${tenantId}::uuid AND policy_id = ${policyId}::uuid
            AND status NOT IN ('queued', 'running')
          ORDER BY created_at DESC, id DESC OFFSET ${MAX_ENDED_OF_POLICY})`;
    },

    /**
     * Deletes replays that ended longer ago than payloads are kept, since their examples may quote
     * payloads. One that ended while the clock was ahead counts as ended now.
     */
    purge: async (before: Date, now: Date): Promise<void> => {
      const latest = new Date(now.getTime() + CLOCK_JUMP_MS);
      await db.policyReplay.updateMany({
        where: { tenantId, finishedAt: { gt: latest } },
        data: { finishedAt: now },
      });
      await db.policyReplay.deleteMany({ where: { tenantId, finishedAt: { lte: before } } });
    },

    newestPosition: async (): Promise<number> => {
      const row = await db.tenantPosition.findUnique({ where: { tenantId } });
      return Number(row?.position ?? 0);
    },

    hasEncryptedPayloads: async (): Promise<boolean> =>
      (await db.eventPayload.findFirst({
        where: { tenantId, isEncrypted: true },
        select: { eventId: true },
      })) !== null,

    countDecisions: async (range: DecisionRange): Promise<number> => {
      const [row] = await db.$queryRaw<{ count: bigint }[]>`
        SELECT count(*) AS count FROM ledger_records r WHERE ${inRange(range)}`;
      return Number(row?.count ?? 0);
    },

    /** In order of receipt, after a position. */
    readDecisions: (range: DecisionRange, after: number, limit: number): Promise<DecisionRow[]> =>
      db.$queryRaw<DecisionRow[]>`
        SELECT position, id::text AS id, event_time, bytes, is_encrypted,
          data_key_id::text AS data_key_id, ciphertext
        FROM (
          SELECT page.*, sum(octet_length(page.bytes) + coalesce(octet_length(page.ciphertext), 0))
              OVER (ORDER BY page.position) AS bytes_so_far,
            row_number() OVER (ORDER BY page.position) AS nth
          FROM (
            SELECT r.position, r.id, r.event_time, r.bytes, p.is_encrypted, p.data_key_id,
              p.ciphertext
            FROM (
              SELECT r.position, r.id, r.event_time, r.stream, r.bytes FROM ledger_records r
              WHERE ${inRange(range)} AND r.position > ${after}
              ORDER BY r.position LIMIT ${limit}
            ) r
            LEFT JOIN event_payloads p ON p.tenant_id = ${tenantId}::uuid AND p.event_id = r.id
              AND p.part = 'input' AND p.deployment_id = r.stream
          ) page
        ) counted
        WHERE bytes_so_far <= ${MAX_STEP_BYTES} OR nth = 1
        ORDER BY position`,
  };
}

function toReplay({ tenantId: _, ...row }: Row): Replay {
  return {
    ...row,
    // The table's CHECK constraint guarantees its values.
    status: row.status as ReplayStatus,
    untilPosition: Number(row.untilPosition),
    position: Number(row.position),
    decisionsTotal: Number(row.decisionsTotal),
    result: readStored(ReplayResult, row.result, `policy_replays ${row.id}`),
  };
}
