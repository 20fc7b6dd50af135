import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { restAfter } from '../pacing.ts';

/**
 * Reads what a process writes, chunk by chunk, at a pace (pacing.ts). Resolves when the pipe has
 * ended, in whatever way.
 *
 * @throws what `take` throws; the pipe is closed then
 */
export async function readPaced(pipe: Readable, take: (chunk: Buffer) => void): Promise<void> {
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
      const rest = restAfter(begun);
      if (rest > 0) await sleep(rest);
    }
  } catch {
    // It was closed: the exit says why.
  }
  if (fault) throw fault.error;
}
