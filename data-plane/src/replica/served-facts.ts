/** The tenants that this process serves: how far the facts of each are, and who waits for them. */
import { createProgressWaiters } from '../storage/progress-waiters.ts';
import type { TenantState } from './fact-seal.ts';

interface ServedTenant extends TenantState {
  deploymentId: string;
}

export function createServedFacts() {
  const served = new Map<string, ServedTenant>();
  const waiters = createProgressWaiters((tenantId) => served.get(tenantId)?.place.cursor);

  return {
    has: (tenantId: string): boolean => served.has(tenantId),
    list: (): string[] => [...served.keys()],
    find: (tenantId: string): ServedTenant | undefined => served.get(tenantId),
    /** @throws when the tenant is not served */
    get: (tenantId: string): ServedTenant => {
      const tenant = served.get(tenantId);
      if (!tenant) throw new Error('the tenant is not served here');
      return tenant;
    },
    put: (tenantId: string, tenant: ServedTenant): void => {
      served.set(tenantId, tenant);
    },
    moveTo: (tenantId: string, { place, sum }: TenantState): void => {
      const tenant = served.get(tenantId);
      // Removed while its snapshot arrived.
      if (!tenant) return;
      served.set(tenantId, { ...tenant, place, sum });
      waiters.reached(tenantId, place.cursor);
    },
    waitFor: waiters.wait,
    drop: (tenantId: string): void => {
      served.delete(tenantId);
      waiters.drop(tenantId);
    },
  };
}
