/**
 * How much of a kind of work may be under way at once, in all and for each tenant: work that holds a
 * connection of the pool for longer than a request does. Proven by slots.test.ts.
 */
import { AppError } from '@governance/shared/errors';

export interface SlotLimits {
  /** What is said to who cannot have one. */
  busy: string;
  /** Of all tenants together. */
  total: number;
  /** Of one tenant, so that it leaves room for the others. */
  perTenant: number;
  /** How many may wait for a slot, and for how long. */
  waiting: number;
  waitMs: number;
}

export interface Slots {
  /**
   * Waits for a slot, in the order of asking where the tenant's own limit allows it.
   *
   * @returns what gives it back; calling it again does nothing
   * @throws AppError UNAVAILABLE when too many wait, or it took too long
   */
  take(tenantId: string, signal?: AbortSignal): Promise<() => void>;
}

interface Waiting {
  tenantId: string;
  start(release: () => void): void;
}

export function createSlots(limits: SlotLimits): Slots {
  const taken = new Map<string, number>();
  const queue: Waiting[] = [];
  let total = 0;

  const isFree = (tenantId: string) =>
    total < limits.total && (taken.get(tenantId) ?? 0) < limits.perTenant;

  function occupy(tenantId: string): () => void {
    total++;
    taken.set(tenantId, (taken.get(tenantId) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      total--;
      const left = (taken.get(tenantId) ?? 1) - 1;
      if (left === 0) taken.delete(tenantId);
      else taken.set(tenantId, left);
      startNext();
    };
  }

  function startNext(): void {
    const index = queue.findIndex(({ tenantId }) => isFree(tenantId));
    const [next] = index === -1 ? [] : queue.splice(index, 1);
    next?.start(occupy(next.tenantId));
  }

  return {
    take: (tenantId, signal) => {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (isFree(tenantId)) return Promise.resolve(occupy(tenantId));
      if (queue.length >= limits.waiting) return Promise.reject(tooMany(limits.busy));
      return new Promise((resolve, reject) => {
        const leave = (error: unknown) => {
          const index = queue.indexOf(waiting);
          if (index === -1) return;
          queue.splice(index, 1);
          finish();
          reject(error);
        };
        const onAbort = () => leave(signal?.reason);
        const timer = setTimeout(() => leave(tooMany(limits.busy)), limits.waitMs);
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

function tooMany(busy: string): AppError {
  return new AppError('UNAVAILABLE', busy);
}
