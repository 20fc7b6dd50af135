interface Waiter {
  target: number;
  done: (reached: boolean) => void;
}

/**
 * Lets callers wait until a tenant's counter, which only rises, reaches a target.
 *
 * @param current the present count; undefined for a tenant that is not served
 */
export function createProgressWaiters(current: (tenantId: string) => number | undefined) {
  const waiting = new Map<string, Set<Waiter>>();

  return {
    /** @returns true once `reached` reports `target` or more, false after `ms` or `drop` */
    wait: (tenantId: string, target: number, ms: number): Promise<boolean> => {
      const now = current(tenantId);
      if (now === undefined) return Promise.resolve(false);
      if (now >= target) return Promise.resolve(true);
      return new Promise((resolve) => {
        const ofTenant = waiting.get(tenantId) ?? new Set();
        waiting.set(tenantId, ofTenant);
        const waiter: Waiter = {
          target,
          done: (reached) => {
            clearTimeout(timer);
            ofTenant.delete(waiter);
            resolve(reached);
          },
        };
        const timer = setTimeout(() => waiter.done(false), ms);
        ofTenant.add(waiter);
      });
    },
    reached: (tenantId: string, value: number): void => {
      for (const waiter of waiting.get(tenantId) ?? []) {
        if (waiter.target <= value) waiter.done(true);
      }
    },
    /** Ends every wait of a tenant with false. */
    drop: (tenantId: string): void => {
      for (const waiter of waiting.get(tenantId) ?? []) waiter.done(false);
      waiting.delete(tenantId);
    },
  };
}
