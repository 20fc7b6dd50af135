/**
 * Large pieces of work with a rest after each, so that others get at least half of the process's
 * time. Proven by rests.test.ts and body-turns.test.ts.
 */

/** A slow piece makes the others wait no longer than this. */
const MAX_REST_MS = 100;

/**
 * Begins a piece of work, and reports when the process did other work for as long as the piece
 * took together with what followed it synchronously, also of promises.
 *
 * @param elapsed in monotonic milliseconds
 */
export function workAndRest(work: () => void, rested: () => void, elapsed: () => number): void {
  const began = elapsed();
  work();
  setImmediate(() => {
    const restMs = Math.min(elapsed() - began, MAX_REST_MS);
    if (restMs < 1) rested();
    else setTimeout(rested, restMs);
  });
}

/**
 * Pieces one after the other. Node delivers the messages of a thread in a row: without a rest,
 * large calls that were scanned would be judged in a row too, and stop all others meanwhile.
 *
 * @param elapsed in monotonic milliseconds
 * @returns begins a piece at once, or when the ones before are done and rested
 */
export function createRests(elapsed: () => number = () => performance.now()) {
  const waiting: (() => void)[] = [];
  let isTaken = false;

  function begin(work: () => void): void {
    isTaken = true;
    workAndRest(work, end, elapsed);
  }

  function end(): void {
    isTaken = false;
    const next = waiting.shift();
    if (next) begin(next);
  }

  return (work: () => void): void => {
    if (isTaken) waiting.push(work);
    else begin(work);
  };
}
