/**
 * Tells the rest of the control plane that a transaction committed something for a tenant. It
 * carries no data: a listener reads what it needs, so a lost or doubled message costs only time.
 */
export interface TenantChange {
  tenantId: string;
  /** The newest entry of the tenant's feed, when the transaction wrote to it. */
  feedSeq?: number;
  /** The newest position in ledger_records, when the transaction wrote there. */
  position?: number;
}

export interface ChangeBus {
  publish(change: TenantChange): void;
  /** @returns a function that ends the subscription */
  subscribe(listener: (change: TenantChange) => void): () => void;
}

/** A bus within one process; replicas will hear each other by LISTEN/NOTIFY behind the same interface. */
export function createChangeBus(onListenerError: (error: unknown) => void): ChangeBus {
  const listeners = new Set<(change: TenantChange) => void>();
  return {
    publish: (change) => {
      for (const listener of [...listeners]) {
        try {
          listener(change);
        } catch (error) {
          // The change is committed: one listener's failure is not the publisher's, nor the others'.
          onListenerError(error);
        }
      }
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Waits for the next change of a tenant that a condition accepts.
 *
 * Subscribe before you read, or a change between the read and the wait is missed:
 * `const next = nextChange(…); read(); await next`.
 *
 * @returns the change, or undefined after `timeoutMs` or when the signal aborts
 */
export function nextChange(
  bus: ChangeBus,
  tenantId: string,
  options: {
    timeoutMs: number;
    signal?: AbortSignal | undefined;
    accepts?: (change: TenantChange) => boolean;
  },
): Promise<TenantChange | undefined> {
  const { timeoutMs, signal, accepts = () => true } = options;
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(undefined);
    const end = (change?: TenantChange) => {
      unsubscribe();
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(change);
    };
    const onAbort = () => end();
    const unsubscribe = bus.subscribe((change) => {
      if (change.tenantId === tenantId && accepts(change)) end(change);
    });
    const timer = setTimeout(end, timeoutMs);
    signal?.addEventListener('abort', onAbort);
  });
}
