import type { ServerResponse } from 'node:http';

/**
 * Closes an answer that was not read to its end in time. A connection on which nothing moves is
 * closed anyway (unsent-bytes.ts); this is for readers that read a little now and then.
 */
export function closeAfter(answer: ServerResponse, ms: number): void {
  // Its `close` has been.
  if (answer.destroyed) return;
  const timer = setTimeout(() => answer.destroy(), ms);
  timer.unref();
  answer.once('close', () => clearTimeout(timer));
}
