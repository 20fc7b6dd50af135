/**
 * Breaks that no walk over the stored chains can find again, because the contradicting records are
 * not stored: a fork, and an admin chain or log that contradicts what data planes remember. They
 * count as breaks as long as they are recorded, even if acknowledged or explained.
 */

import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Prisma } from '../platform/generated/client.ts';
import type { FoundBreak, RecordedBreakKind } from './chain-breaks.ts';
import type { Restore, StreamMark } from './stream-mark.ts';

export interface StandingBreak extends FoundBreak {
  isAcknowledged: boolean;
  /** The announced restore that explains it; the chain stays invalid all the same. */
  explainedBy: Restore | null;
}

export interface Standing {
  /** The newest ones; `count` counts all. */
  breaks: StandingBreak[];
  count: number;
  /** Recorded breaks of any kind that nobody has acknowledged and no restore explains. */
  open: number;
}

const KINDS = ['fork', 'admin_head_went_back', 'log_went_back'];
const MAX_SHOWN = 100;

/** @param marks of a walk that was completed */
export async function readStanding(
  { db, scope: { tenantId } }: TenantTransaction,
  marks: ReadonlyMap<string, StreamMark>,
): Promise<Standing> {
  const where = { tenantId, kind: { in: KINDS } };
  const rows = await db.chainBreak.findMany({
    where,
    orderBy: [{ detectedAt: 'desc' }, { id: 'desc' }],
    take: MAX_SHOWN,
  });
  const restores = [...marks.values()].flatMap((mark) => mark.restores);
  const breaks = rows.map(
    (row): StandingBreak => ({
      stream: row.stream,
      epoch: row.epoch,
      seq: Number(row.seq),
      kind: row.kind as RecordedBreakKind,
      expected: row.expected ?? '',
      actual: row.actual ?? '',
      detail: row.detail,
      isAcknowledged: row.acknowledgedAt !== null,
      explainedBy: explain(row.signedAt, restores),
    }),
  );
  // Not counted from `breaks`, which has only the newest.
  const open = await db.chainBreak.count({
    where: { tenantId, acknowledgedAt: null, ...unexplainedBy(restores) },
  });
  const count = await db.chainBreak.count({ where });
  return { breaks, count, open };
}

/** Which breaks `explain` does not explain. */
function unexplainedBy(restores: readonly Restore[]): Prisma.ChainBreakWhereInput {
  if (restores.length === 0) return {};
  const newest = new Date(Math.max(...restores.map(({ at }) => Date.parse(at))));
  return { OR: [{ kind: { notIn: KINDS } }, { signedAt: null }, { signedAt: { gt: newest } }] };
}

/** A restore explains the loss of what was signed before it, never of what was signed after it. */
function explain(signedAt: Date | null, restores: readonly Restore[]): Restore | null {
  if (!signedAt) return null;
  return restores.find(({ at }) => signedAt.getTime() <= Date.parse(at)) ?? null;
}

/** Forks in the admin chain without a recorded break, because the row was removed. */
export async function findUnrecordedForks(
  { db, scope: { tenantId } }: TenantTransaction,
  marks: ReadonlyMap<string, StreamMark>,
): Promise<FoundBreak[]> {
  const forked = [...marks].flatMap(([stream, mark]) => (mark.isForked ? [stream] : []));
  if (forked.length === 0) return [];
  const recorded = await db.chainBreak.findMany({
    where: { tenantId, kind: 'fork', stream: { in: forked } },
    select: { stream: true },
    distinct: ['stream'],
  });
  const known = new Set(recorded.map(({ stream }) => stream));
  return forked
    .filter((stream) => !known.has(stream))
    .map((stream) => ({
      stream,
      epoch: 1,
      seq: 1,
      kind: 'fork',
      expected: 'one writer',
      actual: 'two',
      detail: 'the admin chain has a fork whose recorded break is gone',
    }));
}
