/** Reading that takes longer is costly. */
const CHEAP_MS = 2;

/** Performance clock: costly reading of all servers together takes half of the time until then. */
let freeAt = 0;

/**
 * How long to stop reading a server after a chunk of what it sends: as long as the reading took, in
 * turn with others. A process that floods its pipe waits then, and nobody else does.
 *
 * @param begun when the reading of the chunk began, by the performance clock
 * @returns milliseconds; 0 after a cheap chunk
 */
export function restAfter(begun: number): number {
  const now = performance.now();
  if (now - begun < CHEAP_MS) return 0;
  freeAt = Math.max(freeAt, begun) + 2 * (now - begun);
  return freeAt - now;
}
