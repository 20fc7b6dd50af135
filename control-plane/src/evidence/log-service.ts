import { AppError } from '@governance/shared/errors';
import type { Page } from '../platform/database/page.ts';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { logEpochStore } from './log-epoch-store.ts';
import { logStore } from './log-store.ts';

export type LogService = ReturnType<typeof createLogService>;

/** Reads a tenant's log. */
export function createLogService({ db }: { db: Pick<TenantDatabase, 'inTenant'> }) {
  return {
    listCheckpoints: (scope: TenantScope, size: number | undefined, page: Page) =>
      db.inTenant(scope, (tx) => logStore(tx).listCheckpoints(size, page)),

    listEpochs: (scope: TenantScope, page: Page) =>
      db.inTenant(scope, async (tx) => {
        const store = logEpochStore(tx);
        return { log_epochs: await store.listPage(page), total: await store.count() };
      }),

    /**
     * @param from not larger than `to`
     * @throws AppError CHECKPOINT_NOT_FOUND when the log is smaller than `to`
     */
    prove: (scope: TenantScope, from: number, to: number): Promise<string[]> =>
      db.inTenant(scope, async (tx) => {
        const store = logStore(tx);
        if (to > (await store.findHead()).size) throw new AppError('CHECKPOINT_NOT_FOUND');
        return store.proveConsistency(from, to);
      }),
  };
}
