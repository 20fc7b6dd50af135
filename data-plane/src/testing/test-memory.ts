/**
 * What this process holds, for tests that bound it. Server, gateway and client of a test share one
 * process, so a bound here is on all three.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export const MIB = 1024 * 1024;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes of heap and buffers that are still reachable. */
export function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/**
 * The same once what was under way has settled: sockets close in later turns of the event loop, and
 * what a finalizer releases goes with the next collection.
 */
export async function settledBytes(): Promise<number> {
  await sleep(60);
  collect();
  await sleep(30);
  return heldBytes();
}

/**
 * What each round leaves behind. The first rounds do not count: compilers and pools fill up.
 *
 * @returns bytes a round
 */
export async function growthPerRound(rounds: number, work: () => Promise<void>): Promise<number> {
  for (let warm = 0; warm < 2; warm++) await work();
  const before = await settledBytes();
  for (let round = 0; round < rounds; round++) await work();
  return ((await settledBytes()) - before) / rounds;
}

/** Looks while `work` is under way how much more is held than before. */
export async function peakDuring(work: Promise<unknown>): Promise<number> {
  const before = heldBytes();
  let peak = 0;
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) {
    peak = Math.max(peak, heldBytes() - before);
    await sleep(25);
  }
  return peak;
}
