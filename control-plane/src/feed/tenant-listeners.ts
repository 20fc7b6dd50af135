/**
 * Long polls that wait for the next change of a tenant. One subscription to the bus serves all, so
 * a change costs work only for the listeners of its tenant. Their number is bounded, in total, per
 * tenant and per deployment, so that nobody takes every place.
 */
import { AppError } from '@governance/shared/errors';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import { createShares } from '../platform/shares.ts';

/** How many may wait at once. */
export interface ListenerLimits {
  total: number;
  perTenant: number;
  perDeployment: number;
}

/**
 * A tenant has at most 2,000 data planes; each waits once, and twice while an earlier connection
 * that broke is not yet noticed.
 */
export const LISTENER_LIMITS: ListenerLimits = {
  total: 10_000,
  perTenant: 4_000,
  perDeployment: 16,
};

/** Who waits. Without a deployment (a root's token, which many may use) only the tenant counts. */
export interface Waiter {
  tenantId: string;
  deploymentId?: string | undefined;
}

export interface TenantListener {
  /**
   * Waits for a change since the listener was made or last answered true.
   *
   * @returns false once the time is up, the signal aborted, or the service is stopping
   */
  next(): Promise<boolean>;
  end(): void;
}

export interface TenantListeners {
  /**
   * Begins to listen. Listen before you read, or a change between the read and the wait is missed.
   *
   * @throws AppError UNAVAILABLE when too many listen already, in total or of this waiter's
   */
  listen(
    waiter: Waiter,
    options: { waitMs: number; signal?: AbortSignal | undefined },
  ): TenantListener;
  count(): number;
  /** Ends every wait at once, and all later ones. */
  close(): void;
}

interface Listener {
  onChange(): void;
  stop(): void;
}

export function createTenantListeners(
  changes: Pick<ChangeBus, 'subscribe'>,
  limits: ListenerLimits = LISTENER_LIMITS,
): TenantListeners {
  const tenants = new Map<string, Set<Listener>>();
  const places = createShares(limits);
  const ownPlaces = createShares({ total: limits.total, perTenant: limits.perDeployment });
  let closed = false;
  const unsubscribe = changes.subscribe(
    ({ tenantId, feedSeq, tokensRevoked }) => {
      // Each poll is answered, so that its token is checked again.
      if (tokensRevoked) for (const listener of [...(tenants.get(tenantId) ?? [])]) listener.stop();
      if (feedSeq === undefined) return;
      for (const listener of tenants.get(tenantId) ?? []) listener.onChange();
    },
    // A change or a revoked token may have been missed: each poll reads again and is answered.
    stopAll,
  );

  function stopAll(): void {
    for (const listeners of tenants.values()) {
      for (const listener of [...listeners]) listener.stop();
    }
  }

  function add(tenantId: string, listener: Listener): () => void {
    const listeners = tenants.get(tenantId) ?? new Set();
    tenants.set(tenantId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && tenants.get(tenantId) === listeners) tenants.delete(tenantId);
    };
  }

  /** @returns a function that gives the place back */
  function takePlace({ tenantId, deploymentId }: Waiter): () => void {
    const ofDeployment =
      deploymentId === undefined ? () => {} : ownPlaces.take(`${tenantId}/${deploymentId}`, 1);
    const ofTenant = ofDeployment && places.take(tenantId, 1);
    if (!ofTenant) {
      ofDeployment?.();
      throw new AppError('UNAVAILABLE', 'Too many requests are waiting: try again.');
    }
    return () => {
      ofDeployment();
      ofTenant();
    };
  }

  return {
    listen: (waiter, { waitMs, signal }) => {
      const giveBack = waitMs > 0 ? takePlace(waiter) : () => {};
      const join = (listener: Listener) => {
        const leave = add(waiter.tenantId, listener);
        return () => {
          leave();
          giveBack();
        };
      };
      return startListening(join, { waitMs: closed ? 0 : waitMs, signal });
    },
    count: places.taken,
    close: () => {
      closed = true;
      unsubscribe();
      stopAll();
    },
  };
}

function startListening(
  add: (listener: Listener) => () => void,
  { waitMs, signal }: { waitMs: number; signal?: AbortSignal | undefined },
): TenantListener {
  let changed = false;
  let ended = false;
  let answer: ((changed: boolean) => void) | undefined;
  const settle = (value: boolean) => {
    const waiting = answer;
    answer = undefined;
    waiting?.(value);
  };
  const end = () => {
    if (ended) return;
    ended = true;
    remove();
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    settle(false);
  };
  const onChange = () => {
    changed = true;
    if (!answer) return;
    changed = false;
    settle(true);
  };
  const remove = add({ onChange, stop: end });
  const timer = setTimeout(end, waitMs);
  if (signal?.aborted || waitMs <= 0) end();
  else signal?.addEventListener('abort', end);
  return {
    next: () => {
      if (ended) return Promise.resolve(false);
      if (changed) {
        changed = false;
        return Promise.resolve(true);
      }
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    end,
  };
}
