import { AppError } from '@governance/shared/errors';
import type { TenantDatabase, TenantScope } from '../platform/tenant-scope.ts';
import { toAuditEvent } from './audit-event.ts';
import { auditStore, type EventFilter } from './audit-store.ts';
import { type BreakFilter, breakStore } from './break-store.ts';

export interface AuditServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}

export type AuditService = ReturnType<typeof createAuditService>;

/**
 * How far beyond its page a list counts. An exact count of everything would read every event of the
 * tenant at each request; this one is exact for a list of this many, and always larger than what
 * was shown while there is more, so that whoever pages to the end gets there.
 */
export const COUNT_BEYOND_PAGE = 10_000;

export function createAuditService({ db, now }: AuditServiceDeps) {
  return {
    /** Newest first. `isExact` is false when there are more than `total` says. */
    listEvents: (
      scope: TenantScope,
      filter: EventFilter,
      page: { limit: number; offset: number },
    ) =>
      db.inTenant(scope, async (tx) => {
        const store = auditStore(tx);
        const rows = await store.listEvents(filter, page);
        const events = rows.map(({ row, outcomeBytes }) => toAuditEvent(row, outcomeBytes));
        if (events.length < page.limit && (events.length > 0 || page.offset === 0)) {
          // The page shows the end of the list, so the list's length is known.
          return { events, total: page.offset + events.length, isExact: true };
        }
        const bound = page.offset + page.limit + COUNT_BEYOND_PAGE;
        const total = await store.countEvents(filter, bound);
        return { events, total, isExact: total < bound };
      }),

    listBreaks: (
      scope: TenantScope,
      filter: BreakFilter,
      page: { limit: number; offset: number },
    ) => db.inTenant(scope, (tx) => breakStore(tx).list(filter, page)),

    /** The first acknowledgement stands; repeating it changes nothing. */
    acknowledgeBreak: (scope: TenantScope, id: string, notes: string | null) =>
      db.inTenant(scope, async (tx) => {
        const store = breakStore(tx);
        const { username } = scope.actor;
        const acknowledged = await store.acknowledge(id, { by: username, notes, at: now() });
        if (acknowledged) {
          tx.audit.append({
            action: 'chain_break_acknowledged',
            target: `chain_break/${id}`,
            details: { notes },
          });
        }
        const found = await store.find(id);
        if (!found) throw new AppError('CHAIN_BREAK_NOT_FOUND');
        return found;
      }),
  };
}
