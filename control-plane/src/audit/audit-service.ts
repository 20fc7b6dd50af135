import type { Page } from '../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { toAuditEvent } from './audit-event.ts';
import { auditStore, type EventFilter } from './audit-store.ts';

export interface AuditServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
}

export type AuditService = ReturnType<typeof createAuditService>;

/**
 * How far beyond its page a list counts. An exact count would read every event of the tenant at
 * each request. This count is exact up to the bound; while there are more events it stays above the
 * number shown, so that a client that pages until `total` reaches the end.
 */
export const COUNT_BEYOND_PAGE = 10_000;

export function createAuditService({ db }: AuditServiceDeps) {
  return {
    /** Newest first. `isExact` is false when there are more than `total`. */
    listEvents: (scope: TenantScope, filter: EventFilter, page: Page) =>
      db.inTenant(scope, async (tx) => {
        const store = auditStore(tx);
        const rows = await store.listEvents(filter, page);
        const events = rows.map(({ row, ...about }) => toAuditEvent(row, about));
        if (events.length < page.limit && (events.length > 0 || page.offset === 0)) {
          // This page ends the list, so its length is known.
          return { events, total: page.offset + events.length, isExact: true };
        }
        const bound = page.offset + page.limit + COUNT_BEYOND_PAGE;
        const total = await store.countEvents(filter, bound);
        return { events, total, isExact: total < bound };
      }),
  };
}
