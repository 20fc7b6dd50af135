import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

/** A chunk that takes longer is costly. */
const CHEAP_MS = 2;

/** Performance clock: costly chunks of all processes together take half of the time before it. */
let freeAt = 0;

/**
 * Reads what a process writes, chunk by chunk. After a costly one the pipe rests for as long, in
 * turn with others, so that a process that floods its pipe waits and nobody else does. Resolves
 * when the pipe has ended, in whatever way.
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
      await rest(begun);
    }
  } catch {
    // It was closed: the exit says why.
  }
  if (fault) throw fault.error;
}

async function rest(begun: number): Promise<void> {
  const now = performance.now();
  if (now - begun < CHEAP_MS) return;
  freeAt = Math.max(freeAt, now) + (now - begun);
  await sleep(freeAt - now);
}
