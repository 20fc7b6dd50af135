/**
 * Notices a process that hangs: one whose event loop no longer runs ends nothing that waits for it,
 * and does not exit by itself.
 */
const PING_MS = 3_000;
/**
 * Pings in a row that stay unanswered, together 15 s. Pings are counted, not time: while this
 * process does not run either (the machine was suspended), none is sent. What blocks a worker's
 * event loop longest is taking over a large snapshot of facts: 2 s for 300,000 facts.
 */
const MISSED_PINGS = 5;

/**
 * Pings a process that is ready. Each of its reports is an answer: a ping may wait behind many
 * connections that are handed over.
 *
 * @param onHung called once
 * @returns ends the pings
 */
export function watchHeartbeat(
  process: { ping(): void; onReport(listener: () => void): void },
  onHung: () => void,
): () => void {
  let missed = 0;
  process.onReport(() => {
    missed = 0;
  });
  const timer = setInterval(() => {
    if (missed === MISSED_PINGS) {
      clearInterval(timer);
      onHung();
      return;
    }
    missed++;
    process.ping();
  }, PING_MS);
  return () => clearInterval(timer);
}
