import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Allowance, restAfter } from '../pacing.ts';

/**
 * Reads what a process writes, chunk by chunk, at a pace (pacing.ts). Resolves when the pipe has
 * ended, in whatever way.
 *
 * @param exited aborted when the process has exited: what is left in the pipe is read at once
 * @throws what `take` throws; the pipe is closed then
 */
export async function readPaced(
  pipe: Readable,
  take: (chunk: Buffer) => void,
  exited: AbortSignal,
  allowance: Allowance,
): Promise<void> {
  let fault: { error: unknown } | null = null;
  try {
    for await (const chunk of pipe as AsyncIterable<Buffer>) {
      const begun = performance.now();
      try {
        take(chunk);
      } catch (error) {
        fault = { error };
        break;
      }
      const rest = Math.max(restAfter(begun), allowance.spend(chunk.length, begun));
      if (rest > 0 && !exited.aborted) {
        await sleep(rest, undefined, { signal: exited }).catch(() => undefined);
      }
    }
  } catch {
    // It was closed: the exit says why.
  }
  if (fault) throw fault.error;
}
