/** This feature's rows: stored payloads of calls, encrypted, and counts of purged ones. */

import type { PayloadPart } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import { CLOCK_JUMP_MS } from '@governance/shared/time/clock-jumps';
import { DAY_MS } from '@governance/shared/time/durations';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface StoredPayload {
  eventId: string;
  part: PayloadPart;
  deploymentId: string;
  isEncrypted: boolean;
  dataKeyId: string;
  ciphertext: Uint8Array<ArrayBuffer>;
  receivedAt: Date;
}

/** What a ciphertext belongs to: it does not decrypt in another row. */
export function payloadContext(tenantId: string, eventId: string, part: PayloadPart) {
  return { tenant_id: tenantId, purpose: 'payload', event_id: eventId, part };
}

export function payloadStore({ db, scope: { tenantId } }: TenantTransaction) {
  /**
   * Serialises the counting until the transaction ends, so that later reads see everything counted.
   */
  const lockCount = () => db.$executeRaw`
    INSERT INTO payload_counts (tenant_id, events) VALUES (${tenantId}::uuid, 0)
    ON CONFLICT (tenant_id) DO UPDATE SET events = payload_counts.events`;

  return {
    /**
     * @returns whether it was new; an existing payload stays. Call `count` afterwards, last in the
     *   transaction.
     */
    insert: async (payload: StoredPayload): Promise<boolean> => {
      const { count } = await db.eventPayload.createMany({
        data: [{ tenantId, ...payload }],
        skipDuplicates: true,
      });
      return count === 1;
    },

    /**
     * Counts the events of which this transaction has inserted the first part.
     *
     * @param inserted the event's id, once for each inserted part
     */
    count: async (inserted: readonly string[]): Promise<void> => {
      if (inserted.length === 0) return;
      await lockCount();
      await db.$executeRaw`
        UPDATE payload_counts SET events = events + (
          SELECT count(*) FROM (
            SELECT event_id, count(*) AS parts FROM unnest(${[...inserted]}::uuid[]) AS event_id
            GROUP BY event_id
          ) AS mine
          WHERE parts = (
            SELECT count(*) FROM event_payloads p
            WHERE p.tenant_id = ${tenantId}::uuid AND p.event_id = mine.event_id)
        ) WHERE tenant_id = ${tenantId}::uuid`;
    },

    /**
     * Counts everything again if that was not done within a day: another version of the service may
     * have missed some.
     */
    recount: async (now: Date): Promise<void> => {
      const [from, to] = [new Date(now.getTime() - DAY_MS), new Date(now.getTime() + DAY_MS)];
      const due = await db.payloadCount.findUnique({
        // Counted later than now: the clock was put back since.
        where: { tenantId, OR: [{ countedAt: { lt: from } }, { countedAt: { gt: to } }] },
        select: { tenantId: true },
      });
      if (!due) return;
      await lockCount();
      await db.$executeRaw`
        UPDATE payload_counts SET counted_at = ${now}, events = (
          SELECT count(DISTINCT event_id) FROM event_payloads WHERE tenant_id = ${tenantId}::uuid
        ) WHERE tenant_id = ${tenantId}::uuid`;
    },

    /** The parts of a data plane's event, the input first. */
    find: async (eventId: string, deploymentId: string): Promise<StoredPayload[]> => {
      const rows = await db.eventPayload.findMany({
        where: { tenantId, eventId, deploymentId },
        orderBy: { part: 'asc' },
      });
      // The table's CHECK constraint guarantees the parts.
      return rows.map(({ tenantId: _, ...row }) => row as StoredPayload);
    },

    status: async (now: Date) => {
      const counted = await db.payloadCount.findUnique({ where: { tenantId } });
      const purged = await db.payloadPurge.aggregate({
        where: { tenantId, purgedAt: { gt: new Date(now.getTime() - DAY_MS) } },
        _sum: { events: true },
      });
      return {
        eventsWithPayload: Number(counted?.events ?? 0),
        purgedLast24h: purged._sum.events ?? 0,
      };
    },

    /** Has the retention of what was received while the clock was ahead begin now. */
    restartRetention: async (now: Date): Promise<void> => {
      const latest = new Date(now.getTime() + CLOCK_JUMP_MS);
      await db.$executeRaw`
        UPDATE event_payloads SET received_at = ${now}
        WHERE tenant_id = ${tenantId}::uuid AND received_at > ${latest}`;
    },

    /**
     * Deletes what was received before a time, both parts of an event at once.
     *
     * @returns how many events lost their payload; fewer than `limit` when no more are due
     */
    purge: async (before: Date, limit: number, now: Date): Promise<number> => {
      const [oldest] = await db.eventPayload.findMany({
        where: { tenantId, receivedAt: { lte: before } },
        select: { eventId: true },
        take: 1,
      });
      if (!oldest) return 0;
      await lockCount();
      const [row] = await db.$queryRaw<{ events: bigint }[]>`
        WITH due AS (
          SELECT DISTINCT event_id FROM (
            SELECT event_id FROM event_payloads
            WHERE tenant_id = ${tenantId}::uuid AND received_at <= ${before}
            ORDER BY received_at LIMIT ${limit}
          ) AS oldest
        ), gone AS (
          DELETE FROM event_payloads p USING due
          WHERE p.tenant_id = ${tenantId}::uuid AND p.event_id = due.event_id
          RETURNING p.event_id
        )
        SELECT count(DISTINCT event_id) AS events FROM gone`;
      const events = Number(row?.events ?? 0);
      if (events > 0) {
        await db.$executeRaw`
          UPDATE payload_counts SET events = greatest(0, events - ${events})
          WHERE tenant_id = ${tenantId}::uuid`;
        await db.payloadPurge.create({
          data: { tenantId, id: uuidv7(now.getTime()), events, purgedAt: now },
        });
      }
      return events;
    },

    /** Deletes the counts of purges that `status` no longer reads. */
    forgetPurges: async (now: Date): Promise<void> => {
      const before = new Date(now.getTime() - 2 * DAY_MS);
      await db.payloadPurge.deleteMany({ where: { tenantId, purgedAt: { lt: before } } });
    },
  };
}
