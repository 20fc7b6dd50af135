import type { ResultRelease } from '@governance/shared/channel/facts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { type Escalation, Prisma } from '../platform/generated/client.ts';
import type { Attestation } from '../platform/keys/row-attestations.ts';
import type { EscalationStatus, Held, Resolution } from './escalation.ts';

/** Rows changed per transaction of the task. */
const BATCH = 100;

export interface Resolving {
  status: Exclude<Resolution, 'timed_out'>;
  by: string;
  notes: string | null;
  /** For an approval. */
  grant: { id: string; lasts: string } | null;
  /** For an approved result. */
  release: ResultRelease | null;
}

/**
 * This feature's rows, of the transaction's tenant.
 *
 * @param held which kind is listed, found and resolved
 */
export function escalationStore(
  { db, scope: { tenantId } }: TenantTransaction,
  held: Held = 'call',
) {
  async function findAll(ids: readonly { id: string }[]): Promise<Escalation[]> {
    if (ids.length === 0) return [];
    const where = { tenantId, id: { in: ids.map(({ id }) => id) } };
    return db.escalation.findMany({ where, orderBy: { id: 'asc' } });
  }

  return {
    /** Newest first. */
    list: async (
      { status, release }: { status?: EscalationStatus | undefined; release?: string | undefined },
      page: Page,
    ): Promise<{ escalations: Escalation[]; total: number }> => {
      const where = { tenantId, held, ...(status && { status }), ...(release && { release }) };
      const escalations = await db.escalation.findMany({
        where,
        orderBy: [{ openedAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return { escalations, total: await db.escalation.count({ where }) };
    },

    find: async (id: string): Promise<Escalation | undefined> =>
      (await db.escalation.findUnique({ where: { tenantId_id: { tenantId, id }, held } })) ??
      undefined,

    /**
     * Stores a person's decision; the only way to do so. @returns undefined when it is no longer
     * pending
     */
    resolve: async (id: string, to: Resolving): Promise<Escalation | undefined> => {
      const { status, by, notes, grant, release } = to;
      const expiresAt = grant
        ? Prisma.sql`now() + ${grant.lasts}::interval`
        : Prisma.sql`NULL::timestamptz`;
      const changed = await db.$queryRaw<{ id: string }[]>`
        UPDATE escalations SET status = ${status}, resolved_at = now(), resolved_by = ${by},
          notes = ${notes}, grant_id = ${grant?.id ?? null}::uuid, grant_expires_at = ${expiresAt},
          release = ${release}, is_in_feed = true, updated_at = now()
        WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid
          AND held = ${held} AND status = 'pending' AND now() < timeout_at
        RETURNING id::text AS id`;
      return (await findAll(changed))[0];
    },

    /** Stores the exception that was created with the approval. */
    setException: async (id: string, exceptionId: string): Promise<Escalation> =>
      db.escalation.update({ where: { tenantId_id: { tenantId, id } }, data: { exceptionId } }),

    /** Stores which record approved it, and the service's word for that. */
    setAttestation: async (id: string, attested: Attestation): Promise<void> => {
      await db.escalation.update({ where: { tenantId_id: { tenantId, id } }, data: attested });
    },

    /**
     * Forgets the shapes of a server's pending escalations. One that is being decided is skipped: its
     * approval waits for the server's row, and would wait for this in turn.
     */
    forgetShapes: async (serverId: string): Promise<void> => {
      await db.$executeRaw`
        UPDATE escalations SET shape = NULL, updated_at = now()
        WHERE tenant_id = ${tenantId}::uuid AND id IN (
          SELECT id FROM escalations
          WHERE tenant_id = ${tenantId}::uuid AND status = 'pending' AND mcp_server = ${serverId}
            AND shape IS NOT NULL
          FOR UPDATE SKIP LOCKED)`;
    },

    /**
     * Ends a batch of escalations whose time is over, by the database's clock and at `settled`.
     * @returns the ended ones
     */
    timeOut: async (settled: Date): Promise<Escalation[]> =>
      findAll(
        await db.$queryRaw<{ id: string }[]>`
          UPDATE escalations SET status = 'timed_out', resolved_at = now(), is_in_feed = true,
            updated_at = now()
          WHERE tenant_id = ${tenantId}::uuid AND status = 'pending'
            AND timeout_at <= least(now(), ${settled})
            AND id IN (
              SELECT id FROM escalations
              WHERE tenant_id = ${tenantId}::uuid AND status = 'pending'
                AND timeout_at <= least(now(), ${settled})
              ORDER BY timeout_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
          RETURNING id::text AS id`,
      ),

    /** Marks a batch of pending escalations as announced to other data planes. @returns them */
    announce: async (): Promise<Escalation[]> =>
      findAll(
        await db.$queryRaw<{ id: string }[]>`
          UPDATE escalations SET is_announced = true
          WHERE tenant_id = ${tenantId}::uuid AND id IN (
            SELECT id FROM escalations
            WHERE tenant_id = ${tenantId}::uuid AND status = 'pending' AND binding IS NOT NULL
              AND NOT is_announced
            ORDER BY opened_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
          RETURNING id::text AS id`,
      ),

    /**
     * Whether another escalation with the same binding is announced, so that the fact's key is in
     * use.
     */
    isReplaced: async ({ id, binding }: Escalation): Promise<boolean> => {
      const where = { tenantId, binding, isAnnounced: true, id: { not: id } };
      return (await db.escalation.count({ where })) > 0;
    },

    /**
     * Marks a batch of escalations whose facts are no longer needed as out of the feed. @returns
     * them
     */
    leaveFeed: async (kept: string, settled: Date): Promise<Escalation[]> =>
      findAll(
        await db.$queryRaw<{ id: string }[]>`
          UPDATE escalations SET is_in_feed = false, is_announced = false
          WHERE tenant_id = ${tenantId}::uuid AND id IN (
            SELECT id FROM escalations
            WHERE tenant_id = ${tenantId}::uuid AND is_in_feed
              AND resolved_at <= least(now(), ${settled}) - ${kept}::interval
            LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
          RETURNING id::text AS id`,
      ),
  };
}
