import { cpuUsage } from 'node:process';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
/** The least duration of one turn: CPU time is counted in coarse steps. */
const TURN_MICROS = 40_000;
/** Warm-up of a piece of work until its code is optimised. */
const WARM_MICROS = 300_000;

/**
 * CPU microseconds of each piece of work. Every round measures all of them in turn, and the minimum
 * counts, since other work on the machine only ever adds.
 */
export function leastCpuMicros(works: readonly (() => unknown)[], rounds = ROUNDS): number[] {
  const repeats = works.map((work) => {
    let count = 2;
    let once = cpuMicros(work, count) / count;
    // The first calls are interpreted. A count estimated from them alone would be too low for the
    // code to be compiled.
    for (let spent = once * count; spent < WARM_MICROS; spent += once * count) {
      count = Math.max(1, Math.ceil(TURN_MICROS / Math.max(once, 0.5)));
      once = cpuMicros(work, count) / count;
    }
    return Math.max(1, Math.ceil(TURN_MICROS / Math.max(once, 0.5)));
  });
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < rounds; round++) {
    works.forEach((work, i) => {
      const count = repeats[i] ?? 1;
      least[i] = Math.min(least[i] ?? 0, cpuMicros(work, count) / count);
    });
  }
  return least;
}

function cpuMicros(work: () => unknown, times: number): number {
  const before = cpuUsage();
  for (let n = 0; n < times; n++) work();
  const { user, system } = cpuUsage(before);
  return user + system;
}
