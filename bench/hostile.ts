/**
 * `npm run bench:hostile`: feeds each reader of untrusted bytes hostile shapes at doubling sizes,
 * prints how its CPU time grows per doubling, then how long the same shapes delay other calls to a
 * running service. Exits with 1 if a doubling costs more than 2.5 times, or calls are delayed by
 * more than 100 ms. The policy compiler is exempt: it is bounded by termination. Needs Linux.
 *
 * BENCH_READERS (all; part of a name), BENCH_VERBOSE=1 for each shape's times
 */
import { measureDelays } from './hostile/delays.ts';
import { GOAL, type Growth, measureGrowth, QUADRATIC, type Reader } from './hostile/growth.ts';
import { createReaders } from './hostile/readers.ts';
import { startHostileService } from './hostile/service.ts';

const only = process.env.BENCH_READERS ?? '';
const isVerbose = process.env.BENCH_VERBOSE === '1';
const MAX_DELAY_MS = 100;
const MIN_SHAPES = 20;

interface Row {
  reader: string;
  growth: string;
  delay: string;
  isMissed: boolean;
}

const began = performance.now();
const rows: Row[] = [];
say('readers without a listener');
const quiet = await createReaders();
try {
  for (const reader of quiet.readers) await measure(reader);
} finally {
  await quiet.stop();
}
say('a whole service');
const service = await startHostileService();
try {
  for (const reader of service.readers) {
    const found = await measure(reader);
    if (found.length > 0 && service.isDelaying(reader)) await measureDelay(reader, found);
  }
} finally {
  await service.stop();
}
report();

async function measure(reader: Reader): Promise<Growth[]> {
  if (!reader.name.includes(only)) return [];
  const found: Growth[] = [];
  for (const shape of reader.shapes) found.push(await measureGrowth(reader, shape));
  const worst = greatest(found, ({ ratio }) => ratio);
  const dearest = greatest(found, costOf);
  const steep = found.filter(isSteep);
  for (const one of isVerbose ? found : steep) {
    const times = one.ms.map((ms) => ms.toFixed(1)).join(' ');
    say(`  ${isSteep(one) ? 'MISSED' : ''} ${reader.name}, ${one.shape}: ${times} ms`);
  }
  const isMissed = steep.length > 0 || found.length < MIN_SHAPES;
  const growth = [
    String(found.length).padStart(3),
    worst.ratio.toFixed(2).padStart(6),
    greatest(found, ({ steepest }) => steepest)
      .steepest.toFixed(2)
      .padStart(8),
    `${costOf(dearest).toFixed(1).padStart(7)}  ${worst.shape}; ${dearest.shape}`,
  ].join(' ');
  rows.push({ reader: reader.name, growth, delay: '', isMissed });
  say(`${reader.name}: ${worst.ratio.toFixed(2)} a doubling`);
  return found;
}

async function measureDelay(reader: Reader, found: readonly Growth[]): Promise<void> {
  const measured = await measureDelays(service, reader, found);
  const { calls, p50, p99, controlP99, share, delayMs, loopStopMs } = measured;
  const isMissed = !(delayMs <= MAX_DELAY_MS);
  const delay = [p50, p99, controlP99, share * 100, delayMs, loopStopMs]
    .map((figure) => figure.toFixed(0).padStart(8))
    .join('');
  rows.push({
    reader: reader.name,
    growth: '',
    delay: String(calls).padStart(6) + delay,
    isMissed,
  });
  say(`${reader.name}: other calls delayed by ${delayMs.toFixed(0)} ms`);
}

function report(): void {
  const print = (head: string, part: 'growth' | 'delay') => {
    console.log(`\n${'reader'.padEnd(32)}${head}`);
    for (const row of rows.filter((one) => one[part] !== '')) {
      console.log(`${row.reader.padEnd(32)}${row[part]}${row.isMissed ? '  MISSED' : ''}`);
    }
  };
  print('shp growth steepest most ms  with what: growth; CPU', 'growth');
  print(' calls  p50 ms  p99 ms control   ran %   delay loop ms', 'delay');
  const isMissed = rows.some((row) => row.isMissed);
  const goal = `growth at most ${GOAL}, delay at most ${MAX_DELAY_MS} ms`;
  say(`${isMissed ? 'MISSED' : 'held'}: ${goal}`);
  if (isMissed) process.exitCode = 1;
}

function isSteep({ ratio, steepest }: Growth): boolean {
  return ratio > GOAL || steepest >= QUADRATIC;
}

/** CPU at the largest size. */
function costOf({ ms }: Growth): number {
  return Math.max(...ms);
}

function greatest(found: readonly Growth[], by: (one: Growth) => number): Growth {
  return found.reduce((most, one) => (by(one) > by(most) ? one : most));
}

function say(what: string): void {
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${what}`);
}
