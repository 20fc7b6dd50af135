/**
 * Shares that are waited for: bounds long work that holds a connection of the pool, in total and
 * per tenant. Proven by slots.test.ts.
 */
import { AppError } from '@governance/shared/errors';
import { createShares } from './shares.ts';

export interface SlotLimits {
  /** The error text when none is free. */
  busy: string;
  /** Slots of all tenants together. */
  total: number;
  /** Per tenant, so that it leaves room for others. */
  perTenant: number;
  /** How many requests may wait for a slot; each waits `waitMs` at most. */
  waiting: number;
  /** How many of these may be of one tenant; without it, all. */
  waitingOfTenant?: number;
  waitMs: number;
  /** Told to whoever got none. */
  retryAfterSeconds?: number;
}

export interface Slots {
  /**
   * Waits for a slot. Requests are served in their order, except that a tenant at its own limit is
   * passed over.
   *
   * @returns a function that releases it; calling it again does nothing
   * @throws AppError UNAVAILABLE when too many wait, or it took too long
   */
  take(tenantId: string, signal?: AbortSignal): Promise<() => void>;
}

interface Waiting {
  tenantId: string;
  start(release: () => void): void;
}

export function createSlots(limits: SlotLimits): Slots {
  const shares = createShares(limits);
  const queue: Waiting[] = [];

  /** @returns undefined when there is none for this tenant */
  function occupy(tenantId: string): (() => void) | undefined {
    const giveBack = shares.take(tenantId, 1);
    return (
      giveBack &&
      (() => {
        giveBack();
        startNext();
      })
    );
  }

  function isFull(tenantId: string): boolean {
    if (queue.length >= limits.waiting) return true;
    const { waitingOfTenant: most } = limits;
    return most !== undefined && queue.filter((one) => one.tenantId === tenantId).length >= most;
  }

  function startNext(): void {
    for (const [index, { tenantId, start }] of queue.entries()) {
      const release = occupy(tenantId);
      if (!release) continue;
      queue.splice(index, 1);
      start(release);
      return;
    }
  }

  return {
    take: (tenantId, signal) => {
      if (signal?.aborted) return Promise.reject(signal.reason);
      const free = occupy(tenantId);
      if (free) return Promise.resolve(free);
      if (isFull(tenantId)) return Promise.reject(tooMany(limits));
      return new Promise((resolve, reject) => {
        const leave = (error: unknown) => {
          const index = queue.indexOf(waiting);
          if (index === -1) return;
          queue.splice(index, 1);
          finish();
          reject(error);
        };
        const onAbort = () => leave(signal?.reason);
        const timer = setTimeout(() => leave(tooMany(limits)), limits.waitMs);
        const finish = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        };
        const waiting: Waiting = {
          tenantId,
          start: (release) => {
            finish();
            resolve(release);
          },
        };
        signal?.addEventListener('abort', onAbort);
        queue.push(waiting);
      });
    },
  };
}

function tooMany({ busy, retryAfterSeconds }: SlotLimits): AppError {
  return new AppError('UNAVAILABLE', busy, retryAfterSeconds ? { retryAfterSeconds } : {});
}
