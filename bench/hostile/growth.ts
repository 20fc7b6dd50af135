/** How a reader's time grows with its input. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Shape } from './shapes.ts';

export interface Reader {
  name: string;
  shapes: readonly Shape[];
  /** Each twice the one before. */
  sizes: readonly number[];
  /** Reads it, refused or not. */
  read(bytes: Buffer): unknown;
  /** CPU of what reads, in milliseconds so far; this process where it says nothing. */
  cpuMs?(): number;
}

export interface Growth {
  reader: string;
  shape: string;
  /** Milliseconds of CPU at each size. */
  ms: number[];
  /** The growth of one doubling: the mean over all sizes. */
  ratio: number;
  /** The greatest single one, in which the collector and fresh pages of memory show. */
  steepest: number;
}

/** Below this a doubling is mostly noise; smaller times count as this. */
const FLOOR_MS = 10;
/** How often each size is read, one after the other, and how often at most where it looks steep. */
const ROUNDS = 2;
const MAX_ROUNDS = 12;
export const GOAL = 2.5;
/** What a doubling costs in quadratic time: no single one may. */
export const QUADRATIC = 4;

/**
 * Measures one shape. Other work on the machine, the collector and the optimiser only ever add to
 * CPU time, so the least of several rounds counts; what looks too steep is read more often.
 */
export async function measureGrowth(reader: Reader, shape: Shape): Promise<Growth> {
  const inputs = reader.sizes.map((size) => shape.make(size));
  const ms = inputs.map(() => Number.POSITIVE_INFINITY);
  let ratio = 0;
  let steepest = 0;
  for (let round = 1; round <= MAX_ROUNDS; round++) {
    for (const [i, input] of inputs.entries()) {
      ms[i] = Math.min(ms[i] as number, await cpuOf(reader, input));
    }
    ({ ratio, steepest } = growthOf(ms));
    if (round >= ROUNDS && ratio <= GOAL && steepest <= GOAL) break;
  }
  return { reader: reader.name, shape: shape.name, ms, ratio, steepest };
}

async function cpuOf({ read, cpuMs }: Reader, input: Buffer): Promise<number> {
  const before = (cpuMs ?? ownCpuMs)();
  try {
    await read(input);
  } catch {
    // Refused, which is an answer.
  }
  // The account of another process is brought up to date when it comes to rest.
  if (cpuMs) await sleep(2);
  return (cpuMs ?? ownCpuMs)() - before;
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function growthOf(ms: readonly number[]): Pick<Growth, 'ratio' | 'steepest'> {
  const counted = ms.map((one) => Math.max(one, FLOOR_MS));
  const doublings = counted.slice(1).map((one, i) => one / (counted[i] as number));
  const product = doublings.reduce((all, one) => all * one, 1);
  return { ratio: product ** (1 / doublings.length), steepest: Math.max(...doublings) };
}
