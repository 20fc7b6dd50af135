/** Reading that takes longer is costly. */
const CHEAP_MS = 2;

/**
 * A pace for several readers: their costly reading together takes half of the time.
 *
 * @returns says how long to stop reading a server after a chunk of what it sends: as long as the
 *   reading took, in turn with others; 0 after a cheap chunk. It takes when the reading of the chunk
 *   began and ended. All are milliseconds of the performance clock.
 */
export function createPace() {
  let freeAt = 0;
  return (begun: number, ended = performance.now()): number => {
    if (ended - begun < CHEAP_MS) return 0;
    freeAt = Math.max(freeAt, begun) + 2 * (ended - begun);
    return freeAt - ended;
  };
}

/** Of all servers: a process that floods its pipe waits, and nobody else does. */
export const restAfter = createPace();
