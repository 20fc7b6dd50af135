import { setTimeout as sleep } from 'node:timers/promises';

/** Resolves after `ms`, or when the signal aborts. It keeps no process alive. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}
