/** How a reader's time grows with its input. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Shape } from './shapes.ts';

export interface Reader {
  name: string;
  shapes: readonly Shape[];
  /** Each is twice the previous one. */
  sizes: readonly number[];
  /** Reads the bytes; refusing them is fine. */
  read(bytes: Buffer): unknown;
  /** CPU time used by the reader so far, in milliseconds; without it, this process's. */
  cpuMs?(): number;
}

export interface Growth {
  reader: string;
  shape: string;
  /** CPU milliseconds at each size. */
  ms: number[];
  /** The mean growth per doubling over all sizes. */
  ratio: number;
  /** The greatest single growth; it includes garbage collection and fresh pages of memory. */
  steepest: number;
}

/** Smaller times count as this: below it a doubling is mostly noise. */
const FLOOR_MS = 10;
/** How many rounds measure each size, and at most how many if the growth looks steep. */
const ROUNDS = 2;
const MAX_ROUNDS = 12;
export const GOAL = 2.5;
/** What a doubling costs in quadratic time: no single doubling may reach it. */
export const QUADRATIC = 4;

/**
 * Measures one shape. Other work on the machine, the collector and the optimiser only ever add to
 * CPU time, so the minimum over several rounds counts; a shape that looks too steep gets more
 * rounds.
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
    // A refusal is an answer, too.
  }
  // The CPU account of another process is up to date only once it is idle.
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
