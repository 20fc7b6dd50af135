/**
 * `npm run bench:hostile`: feeds every reader of foreign bytes shapes at doubling sizes and prints
 * how its CPU time grows a doubling, then how long other calls to a running service are delayed
 * while the same shapes come in. Ends with 1 where a doubling costs more than 2.5 times, or where
 * calls are delayed by more than 100 ms. The compiler of policies is exempt: it is bounded by being
 * ended. Needs Linux.
 *
 *   BENCH_READERS (all; part of a name), BENCH_VERBOSE=1 for each shape's times
 */
import { GOAL, type Growth, measureGrowth, type Reader } from './hostile/growth.ts';
import { createReaders } from './hostile/readers.ts';
import { startHostileService } from './hostile/service.ts';

const only = process.env.BENCH_READERS ?? '';
const isVerbose = process.env.BENCH_VERBOSE === '1';
const MAX_DELAY_MS = 100;
/** Of a hundred calls this many may be slower: something else may run on the machine. */
const SLOWER = 0.01;

console.log('reader                           shapes   greatest growth a doubling, and with what');
const quiet = await createReaders();
try {
  await measureAll(quiet.readers);
} finally {
  await quiet.stop();
}
const service = await startHostileService();
try {
  await measureAll(service.readers);
  console.log('\nother calls while it comes in    calls    p50 ms   p99 ms   most CPU of one, ms');
  const isBody = ({ name }: Reader) => name.startsWith('gateway: a') || name === 'API: a body';
  for (const reader of service.readers.filter(isBody)) await reportDelays(reader);
} finally {
  await service.stop();
}

async function measureAll(readers: readonly Reader[]): Promise<void> {
  for (const reader of readers) {
    if (reader.name.includes(only)) report(await measureReader(reader));
  }
}

async function measureReader(reader: Reader): Promise<Growth[]> {
  const found: Growth[] = [];
  for (const shape of reader.shapes) found.push(await measureGrowth(reader, shape));
  return found;
}

function report(found: readonly Growth[]): void {
  const worst = found.reduce((most, one) => (one.ratio > most.ratio ? one : most));
  const missed = found.filter(({ ratio }) => ratio > GOAL);
  const line = `${worst.ratio.toFixed(2).padStart(6)}  ${worst.shape}`;
  console.log(`${worst.reader.padEnd(32)} ${String(found.length).padStart(6)} ${line}`);
  for (const one of isVerbose ? found : missed) {
    const times = one.ms.map((ms) => ms.toFixed(1)).join(' ');
    console.log(`    ${one.ratio > GOAL ? 'MISSED' : '      '} ${one.shape}: ${times} ms`);
  }
  if (missed.length > 0) process.exitCode = 1;
}

/** The largest bodies of all shapes, two at a time, one after the other. */
async function reportDelays(reader: Reader): Promise<void> {
  const bodies = reader.shapes.map((shape) => shape.make(reader.sizes.at(-1) as number));
  let most = 0;
  const delays = await service.delaysDuring(
    (async () => {
      for (const body of bodies) {
        const before = service.cpuMs();
        await reader.read(body);
        most = Math.max(most, service.cpuMs() - before);
        await Promise.all([reader.read(body), reader.read(body)]);
      }
    })(),
  );
  const sorted = delays.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] as number;
  const isMissed = at(1 - SLOWER) > MAX_DELAY_MS;
  if (isMissed) process.exitCode = 1;
  const figures = [at(0.5), at(1 - SLOWER), most].map((ms) => ms.toFixed(1).padStart(8)).join(' ');
  const count = String(sorted.length).padStart(6);
  console.log(`${reader.name.padEnd(32)} ${count} ${figures}${isMissed ? '  MISSED' : ''}`);
}
