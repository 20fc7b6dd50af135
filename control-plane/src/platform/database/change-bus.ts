/**
 * Announces that a transaction committed a change of a tenant. It carries no data: a listener reads
 * what it needs, so a lost or duplicate message costs only time.
 */
export interface TenantChange {
  tenantId: string;
  /** The newest entry of the tenant's feed, when the transaction wrote to it. */
  feedSeq?: number;
  /** The newest position in ledger_records, when the transaction wrote there. */
  position?: number;
  /** Data-plane tokens were revoked: their open polls must be answered. */
  tokensRevoked?: true;
}

/** Published in place of a tenant id when the service's own keys changed. */
export const PLATFORM = 'platform';

export interface ChangeBus {
  publish(change: TenantChange): void;
  /**
   * @param onChange called for each change, here or on another replica
   * @param onMissed called when changes of any tenant may have been missed (the connection to the
   *   other replicas was lost): caches may be stale
   * @returns a function that ends the subscription
   */
  subscribe(onChange: (change: TenantChange) => void, onMissed: () => void): () => void;
}

/** A bus within one process; replica-changes.ts joins it to those of other replicas. */
export interface LocalChangeBus extends ChangeBus {
  /** Tells every listener that it may have missed changes. */
  announceMissed(): void;
}

export function createChangeBus(onListenerError: (error: unknown) => void): LocalChangeBus {
  interface Listener {
    onChange(change: TenantChange): void;
    onMissed(): void;
  }
  const listeners = new Set<Listener>();
  const notify = (call: (listener: Listener) => void) => {
    for (const listener of [...listeners]) {
      try {
        call(listener);
      } catch (error) {
        // The change is committed: a failing listener affects neither the publisher nor the others.
        onListenerError(error);
      }
    }
  };
  return {
    publish: (change) => notify((listener) => listener.onChange(change)),
    announceMissed: () => notify((listener) => listener.onMissed()),
    subscribe: (onChange, onMissed) => {
      const listener = { onChange, onMissed };
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
 * @returns the change (without numbers, where changes may have been missed), or undefined after
 *   `timeoutMs` or when the signal aborts
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
    const unsubscribe = bus.subscribe(
      (change) => {
        if (change.tenantId === tenantId && accepts(change)) end(change);
      },
      () => end({ tenantId }),
    );
    const timer = setTimeout(end, timeoutMs);
    signal?.addEventListener('abort', onAbort);
  });
}
