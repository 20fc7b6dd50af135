/**
 * `npm run bench:compare -- <git ref>`: compares the cost of a governed call with that at another
 * commit. Both gateways run at the same time and are measured alternately, each in a new process
 * per round; both get the load and the MCP server of this build. Exits with 1 if a median falls by
 * more than 5 % beyond the spread (compare/figures.ts).
 *
 * BENCH_ROUNDS (5), BENCH_SECONDS (3), BENCH_CONNECTIONS (1,16,256), BENCH_CALLS (a number of calls
 * instead of a time), BENCH_WARM_CALLS (8000, before the first measurement of a process),
 * BENCH_TARGET (governed; `shipping`: each with a control plane of the same build)
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { checkOut } from './compare/checkout.ts';
import { type BuildName, compareBuilds, comparisonTable } from './compare/figures.ts';
import { fdatasyncP50 } from './fdatasync.ts';
import type { Measurement } from './measurement.ts';
import {
  BENCH_ENTRY_POINTS,
  type Build,
  hasTaskset,
  measure,
  startBackend,
  startTarget,
  stopTarget,
  type Target,
  warmUp,
} from './processes.ts';
import { median } from './report.ts';
import { startShippingPlane } from './shipping-plane.ts';

const ORDER: readonly BuildName[] = ['before', 'now'];

const root = join(import.meta.dirname, '..');
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const connections = (process.env.BENCH_CONNECTIONS ?? '1,16,256').split(',').map(Number);
const calls = process.env.BENCH_CALLS;
const ships = process.env.BENCH_TARGET === 'shipping';
const start = (build: Build, backend: string) =>
  ships ? startShippingPlane(build, backend) : startTarget(build, 'governed', backend);

/** One round: both builds at each number of connections, alternating which starts and goes first. */
async function runRound(
  builds: Record<BuildName, Build>,
  backend: string,
  round: number,
  measured: Record<BuildName, Measurement[]>,
): Promise<void> {
  const targets: Partial<Record<BuildName, Target>> = {};
  try {
    // The one that starts first is the older process in every measurement of its round.
    for (const name of round % 2 === 0 ? ORDER : ORDER.toReversed()) {
      const target = await start(builds[name], backend);
      targets[name] = target;
      await warmUp(builds.now, target);
    }
    for (const [index, count] of connections.entries()) {
      const order = (round + index) % 2 === 0 ? ORDER : ORDER.toReversed();
      for (const name of order) {
        const one = await measure(builds.now, targets[name] as Target, count, round, seconds);
        measured[name].push(one);
      }
    }
  } finally {
    for (const target of Object.values(targets)) await stopTarget(target);
  }
}

async function main(ref: string): Promise<number> {
  const now = { root, outdir: join(root, '.tmp', 'bench-compare') };
  const other = checkOut(root, ref);
  const stopped = () => {
    other.remove();
    process.exit(130);
  };
  process.once('SIGINT', stopped).once('SIGTERM', stopped);
  try {
    // @ts-expect-error: the build script is plain JavaScript
    const { buildService } = await import('../scripts/build.mjs');
    await buildService({ outdir: now.outdir, extraEntryPoints: BENCH_ENTRY_POINTS });
    const backend = await startBackend(now);
    const measured: Record<BuildName, Measurement[]> = { before: [], now: [] };
    const fdatasync = [fdatasyncP50()];
    try {
      for (let round = 1; round <= rounds; round++) {
        await runRound({ before: other.build, now }, backend.origin, round, measured);
        fdatasync.push(fdatasyncP50());
        console.error(`round ${round} of ${rounds} done`);
      }
    } finally {
      backend.stop();
    }
    const comparisons = compareBuilds(measured);
    const where = hasTaskset ? ' (load and server on one, gateways on the other)' : '';
    console.log(
      `before: ${ref} (${other.commit.slice(0, 8)}), now: this checkout; ${rounds} rounds of ${calls ? `${calls} calls` : `${seconds} s`}, ${cpus().length} cores${where}, fdatasync p50 ${median(fdatasync).toFixed(2)} ms\n`,
    );
    if (other.hasOtherPackages) {
      console.log('They name other packages: both ran with those that are installed here.\n');
    }
    if (rounds < 5) console.log('Fewer than 5 rounds prove nothing.\n');
    console.log(comparisonTable(comparisons));
    mkdirSync(join(root, 'bench/results'), { recursive: true });
    const results = { ref, commit: other.commit, rounds, seconds, comparisons, measured };
    writeFileSync(
      join(root, 'bench/results/compare.json'),
      `${JSON.stringify(results, null, 2)}\n`,
    );
    const falling = comparisons.filter(({ verdict }) => verdict === 'falls');
    for (const { connections: count, metric, ratio } of falling) {
      console.log(`\n${metric} with ${count} connections: ${((ratio - 1) * 100).toFixed(1)} %`);
    }
    console.log(
      falling.length === 0
        ? '\nNo median falls by more than 5 % beyond the spread.'
        : `\n${falling.length} median(s) fall by more than 5 % beyond the spread.`,
    );
    return falling.length === 0 ? 0 : 1;
  } finally {
    other.remove();
  }
}

const [ref] = process.argv.slice(2);
if (ref === undefined) {
  console.error('usage: npm run bench:compare -- <git ref>');
  process.exitCode = 2;
} else {
  process.exitCode = await main(ref);
}
