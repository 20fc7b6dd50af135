/** A small generator of reproducible numbers (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    integer,
    chance: (probability: number) => next() < probability,
    pick: <T>(from: readonly T[]): T => from[integer(0, from.length - 1)] as T,
    some: <T>(from: readonly T[], max: number): T[] =>
      Array.from({ length: integer(0, max) }, () => from[integer(0, from.length - 1)] as T),
  };
}
export type Random = ReturnType<typeof createRandom>;
