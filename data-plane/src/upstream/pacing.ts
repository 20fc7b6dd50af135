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

const MIB = 1024 * 1024;
/** What reading costs beside what is made of it: ms for each MiB. */
const MS_PER_MIB = 3;
/** Reading of one pipe at full pace. */
const BURST_MS = 1_000;
/** What reading it takes of the time beyond that. */
const LASTING_SHARE = 0.1;

export type Allowance = ReturnType<typeof createAllowance>;

/** The reading of one pipe: what nobody waits for takes little of the time if it never ends. */
export function createAllowance(started = performance.now()) {
  let left = BURST_MS;
  let at = started;
  return {
    /**
     * @param begun when the reading of a chunk began, and `ended`, when it ended, in milliseconds of
     *   the performance clock
     * @returns how long to stop reading
     */
    spend: (bytes: number, begun: number, ended = performance.now()): number => {
      const cost = Math.max(ended - begun, (bytes / MIB) * MS_PER_MIB);
      left = Math.min(BURST_MS, left + (ended - at) * LASTING_SHARE) - cost;
      at = ended;
      return left < 0 ? -left / LASTING_SHARE : 0;
    },
    /** Something came that was waited for: what is behind it is read at full pace. */
    refill: (): void => {
      left = BURST_MS;
    },
  };
}

/** Shared by all servers: a process that floods its pipe waits, and nobody else does. */
export const restAfter = createPace();
