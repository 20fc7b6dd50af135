/**
 * Bounds what is under way at once, in all and for each tenant, so that none takes what is there for
 * all. Proven by shares.test.ts.
 */
export interface Shares {
  /** @returns a function that gives it back (once), or undefined when there is not as much left */
  take(tenantId: string, amount: number): (() => void) | undefined;
  taken(): number;
}

export function createShares(limits: { total: number; perTenant: number }): Shares {
  const tenants = new Map<string, number>();
  let taken = 0;
  const change = (tenantId: string, amount: number) => {
    taken += amount;
    const own = (tenants.get(tenantId) ?? 0) + amount;
    if (own === 0) tenants.delete(tenantId);
    else tenants.set(tenantId, own);
  };
  return {
    take: (tenantId, amount) => {
      const own = tenants.get(tenantId) ?? 0;
      if (taken + amount > limits.total || own + amount > limits.perTenant) return undefined;
      change(tenantId, amount);
      let isBack = false;
      return () => {
        if (isBack) return;
        isBack = true;
        change(tenantId, -amount);
      };
    },
    taken: () => taken,
  };
}
