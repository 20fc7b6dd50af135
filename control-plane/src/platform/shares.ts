/**
 * Bounds concurrency in total and per tenant, so that no tenant takes it all. Proven by
 * shares.test.ts.
 */
export interface Shares {
  /** @returns a function that releases it (once), or undefined when not enough is left */
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
