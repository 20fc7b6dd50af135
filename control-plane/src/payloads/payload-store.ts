/** This feature's rows: what is kept of calls, encrypted, and how much of it was purged. */

import type { PayloadPart } from '@governance/shared/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import type { TenantTransaction } from '../platform/tenant-scope.ts';

export interface StoredPayload {
  eventId: string;
  part: PayloadPart;
  deploymentId: string;
  isEncrypted: boolean;
  dataKeyId: string;
  ciphertext: Uint8Array<ArrayBuffer>;
  receivedAt: Date;
}

/** What a ciphertext belongs to: moved to another row it does not decrypt. */
export function payloadContext(tenantId: string, eventId: string, part: PayloadPart) {
  return { tenant_id: tenantId, purpose: 'payload', event_id: eventId, part };
}

const DAY_MS = 86_400_000;

export function payloadStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /** @returns whether it was new: what is there stays */
    insert: async (payload: StoredPayload): Promise<boolean> => {
      const { count } = await db.eventPayload.createMany({
        data: [{ tenantId, ...payload }],
        skipDuplicates: true,
      });
      return count === 1;
    },

    /** The parts of one event, the input first. */
    find: async (eventId: string): Promise<StoredPayload[]> => {
      const rows = await db.eventPayload.findMany({
        where: { tenantId, eventId },
        orderBy: { part: 'asc' },
      });
      // The table's CHECK holds the parts.
      return rows.map(({ tenantId: _, ...row }) => row as StoredPayload);
    },

    status: async (now: Date) => {
      const [row] = await db.$queryRaw<{ events: bigint }[]>`
        SELECT count(DISTINCT event_id) AS events FROM event_payloads
        WHERE tenant_id = ${tenantId}::uuid`;
      const purged = await db.payloadPurge.aggregate({
        where: { tenantId, purgedAt: { gt: new Date(now.getTime() - DAY_MS) } },
        _sum: { events: true },
      });
      return {
        eventsWithPayload: Number(row?.events ?? 0),
        purgedLast24h: purged._sum.events ?? 0,
      };
    },

    /**
     * Deletes what was received before a time, both parts of an event at once.
     *
     * @returns how many events lost their payload; fewer than `limit` when no more are due
     */
    purge: async (before: Date, limit: number, now: Date): Promise<number> => {
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
        await db.payloadPurge.create({
          data: { tenantId, id: uuidv7(now.getTime()), events, purgedAt: now },
        });
      }
      return events;
    },

    /** Counts that `status` does not read any more. */
    forgetPurges: async (now: Date): Promise<void> => {
      const before = new Date(now.getTime() - 2 * DAY_MS);
      await db.payloadPurge.deleteMany({ where: { tenantId, purgedAt: { lt: before } } });
    },
  };
}
