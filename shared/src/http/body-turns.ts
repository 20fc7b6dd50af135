/**
 * Large bodies are read one after the other. Reading one, and the work that follows, blocks the
 * process; so after each one the process does other work for as long as that took, however many
 * wait. Tenants take turns, and within each its agents. Proven by body-turns.test.ts.
 */

import { workAndRest } from '../rests.ts';

/** A body up to this size is read at once. */
export const SMALL_BODY_BYTES = 16 * 1024;

const MIB = 1024 * 1024;
/** Limits on bodies that wait for their turn. */
const MAX_WAITING_BYTES = { agent: 64 * MIB, tenant: 256 * MIB };

/** Too much of this agent or tenant is waiting already. The message is safe to show. */
export class BodiesBusyError extends Error {
  constructor() {
    super('Busy: too many large bodies are waiting to be read. Try again later.');
    this.name = 'BodiesBusyError';
  }
}

/** The owner of a body. */
export interface BodyHolder {
  tenantId: string;
  /** An agent or another caller, unique within the tenant. */
  callerId: string;
}

interface Waiter {
  bytes: number;
  begin(): void;
}

/** Builds the turns of one process. `elapsed` is in monotonic milliseconds. */
export function createBodyTurns(elapsed: () => number = () => performance.now()) {
  /** By tenant and caller; the least recently served one comes first. */
  const waiting = new Map<string, Map<string, Waiter[]>>();
  let isTaken = false;

  function begin(work: () => void): void {
    isTaken = true;
    workAndRest(work, endTurn, elapsed);
  }

  function endTurn(): void {
    isTaken = false;
    const next = takeNext();
    if (next) begin(next.begin);
  }

  function takeNext(): Waiter | undefined {
    const [tenantId, callers] = firstOf(waiting);
    if (callers === undefined) return undefined;
    const [callerId, queue] = firstOf(callers);
    const next = queue?.shift();
    // A caller that still waits goes to the end.
    callers.delete(callerId);
    if (queue !== undefined && queue.length > 0) callers.set(callerId, queue);
    waiting.delete(tenantId);
    if (callers.size > 0) waiting.set(tenantId, callers);
    return next;
  }

  return {
    /**
     * Waits until a body may be read, which then has to happen at once.
     *
     * @returns undefined where that is now; otherwise a promise that rejects with BodiesBusyError
     *   where too much waits
     */
    take({ tenantId, callerId }: BodyHolder, bytes: number): Promise<void> | undefined {
      if (bytes <= SMALL_BODY_BYTES) return undefined;
      if (!isTaken) {
        // The caller reads it next.
        begin(() => undefined);
        return undefined;
      }
      const callers = waiting.get(tenantId) ?? new Map<string, Waiter[]>();
      const queue = callers.get(callerId) ?? [];
      const ofCaller = bytesOf([queue]);
      const ofTenant = bytesOf(callers.values());
      if (ofCaller >= MAX_WAITING_BYTES.agent || ofTenant >= MAX_WAITING_BYTES.tenant) {
        return Promise.reject(new BodiesBusyError());
      }
      return new Promise((resolve) => {
        queue.push({ bytes, begin: resolve });
        callers.set(callerId, queue);
        waiting.set(tenantId, callers);
      });
    },
  };
}

function firstOf<V>(map: ReadonlyMap<string, V>): [string, V | undefined] {
  return map.entries().next().value ?? ['', undefined];
}

function bytesOf(queues: Iterable<readonly Waiter[]>): number {
  let sum = 0;
  for (const queue of queues) for (const { bytes } of queue) sum += bytes;
  return sum;
}
