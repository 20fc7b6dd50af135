import { AppError } from '@governance/shared/errors';
import type { Page } from '../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { type BreakFilter, breakStore } from './break-store.ts';

export interface BreakServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}

export type BreakService = ReturnType<typeof createBreakService>;

/** Recorded breaks, and administrators' acknowledgements. */
export function createBreakService({ db, now }: BreakServiceDeps) {
  return {
    list: (scope: TenantScope, filter: BreakFilter, page: Page) =>
      db.inTenant(scope, (tx) => breakStore(tx).list(filter, page)),

    /** The first acknowledgement stands; repeating it changes nothing. */
    acknowledge: (scope: TenantScope, id: string, notes: string | null) =>
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
