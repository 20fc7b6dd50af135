/**
 * Exchanges whose answer has come and whose stream has not ended. A well-behaved server ends it at
 * once, and the connection serves the next call; another would collect a connection for each call.
 * Proven by unended.test.ts.
 */

/** Milliseconds that a server has to end a stream behind its answer. */
const GRACE_MS = 1000;
/** Such exchanges at a time, of all servers: the oldest ends for one more. */
export const MAX_UNENDED = 512;

const unended = new Map<() => void, NodeJS.Timeout>();

/**
 * Ends an exchange after its grace, or sooner where too many others wait.
 *
 * @returns to be called when it has ended by itself
 */
export function endLater(end: () => void): () => void {
  for (const oldest of unended.keys()) {
    if (unended.size < MAX_UNENDED) break;
    oldest();
  }
  const timer = setTimeout(end, GRACE_MS);
  timer.unref();
  unended.set(end, timer);
  return () => {
    clearTimeout(unended.get(end));
    unended.delete(end);
  };
}
