/** Removes deployments' tokens 30 days after they ended, so that renewals do not fill the table. */

import { DAY_MS } from '@governance/shared/time/durations';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { dataPlaneTokenStore } from './data-plane-token-store.ts';

const KEPT_MS = 30 * DAY_MS;
const BATCH = 1_000;

export interface TokenPurgeDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}

export function createTokenPurge({ db, now }: TokenPurgeDeps): LeaderTask {
  return {
    name: 'data_plane_tokens',
    everyMs: DAY_MS,
    run: async (signal) => {
      const deadline = new Date(now().getTime() - KEPT_MS);
      await forEachTenant(db, signal, async (tenantId) => {
        const purge = () =>
          db.inTenant(systemScope(tenantId), (tx) =>
            dataPlaneTokenStore(tx).purge(deadline, BATCH),
          );
        while ((await purge()) === BATCH && !signal.aborted);
      });
    },
  };
}
