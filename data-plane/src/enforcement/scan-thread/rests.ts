/**
 * Pieces of work one after the other. Node delivers the messages of a thread in a row: without a
 * rest, large calls that were scanned would be judged in a row too, and stop all others meanwhile.
 * Proven by rests.test.ts.
 */

/** A slow piece makes the others wait no longer than this. */
const MAX_REST_MS = 100;

/**
 * Begins a piece at once, or when the ones before are done and the process did other work for as
 * long as each of them took.
 *
 * @param elapsed in monotonic milliseconds
 */
export function createRests(elapsed: () => number = () => performance.now()) {
  const waiting: (() => void)[] = [];
  let isTaken = false;

  function begin(work: () => void): void {
    isTaken = true;
    const began = elapsed();
    work();
    // What follows synchronously, also of promises, is done by then.
    setImmediate(() => {
      const restMs = Math.min(elapsed() - began, MAX_REST_MS);
      if (restMs < 1) end();
      else setTimeout(end, restMs);
    });
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
