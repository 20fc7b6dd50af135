/**
 * Counts what is open of a kind (sessions, streams) in this process. Where it serves several
 * tenants, none takes more than are left free (ADR 34). Proven by open-places.test.ts.
 */
import { addTo } from '../upstream/shares/fair-shares.ts';

export type OpenPlaces = ReturnType<typeof createOpenPlaces>;

/** @param max of all tenants */
export function createOpenPlaces(max: number, servesSeveral: () => boolean) {
  const byTenant = new Map<string, number>();
  let open = 0;
  return {
    hasRoom: (tenantId: string): boolean => {
      const free = max - open;
      return free > 0 && (!servesSeveral() || (byTenant.get(tenantId) ?? 0) < free);
    },
    take: (tenantId: string): void => {
      open++;
      addTo(byTenant, tenantId, 1);
    },
    leave: (tenantId: string): void => {
      open--;
      addTo(byTenant, tenantId, -1);
    },
  };
}
