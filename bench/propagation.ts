/**
 * `npm run bench:propagation`: how soon 50 connected data planes enforce an administrator's change,
 * how soon a thousand simulated ones have received it, and what that costs one control plane.
 * Everything runs the production build, over HTTP, on this machine.
 *
 * BENCH_PARTS (planes,readers), BENCH_TRIALS (100), BENCH_PLANES (50), BENCH_PROCESSES (5),
 * BENCH_READERS (1000), BENCH_READER_TRIALS (30), BENCH_READER_PROCESSES (3),
 * BENCH_IDLE_SECONDS (60)
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fdatasyncP50 } from './fdatasync.ts';
import { startControlPlane } from './propagation/control-plane.ts';
import { measureEnforced } from './propagation/enforced.ts';
import { tenth } from './propagation/figures.ts';
import { measureReceived } from './propagation/received.ts';
import { enforcedTable, receivedTables } from './propagation/tables.ts';

const root = join(import.meta.dirname, '..');
const build = join(root, '.tmp', 'bench-propagation');
const number = (name: string, standard: number) => Number(process.env[name] ?? standard);
const parts = (process.env.BENCH_PARTS ?? 'planes,readers').split(',');

// @ts-expect-error: the build script is plain JavaScript
const { buildService } = await import('../scripts/build.mjs');
await buildService({
  outdir: build,
  extraEntryPoints: ['bench/propagation/planes.ts', 'bench/propagation/readers.ts'],
});
const setting = {
  node: process.version,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  kernel: release(),
  fdatasync_p50_ms: tenth(fdatasyncP50()),
};
console.log(
  `${setting.cpu}, ${setting.cores} cores, Node ${setting.node}, fdatasync p50 ${setting.fdatasync_p50_ms} ms`,
);
const results: Record<string, unknown> = { setting };
if (parts.includes('planes')) results.enforced = await enforced();
if (parts.includes('readers')) results.received = await received();
mkdirSync(join(root, 'bench/results'), { recursive: true });
writeFileSync(
  join(root, 'bench/results/propagation.json'),
  `${JSON.stringify(results, null, 2)}\n`,
);
console.log('\nwritten to bench/results/propagation.json');

/** Each part has its own control plane, so that neither affects the other's figures. */
async function enforced() {
  const options = {
    build,
    folder: mkdtempSync(join(tmpdir(), 'governance-planes-')),
    planes: number('BENCH_PLANES', 50),
    processes: number('BENCH_PROCESSES', 5),
    trials: number('BENCH_TRIALS', 100),
  };
  const load = loadavg()[0] as number;
  const plane = await startControlPlane(build);
  try {
    const { rows, confirmed } = await measureEnforced(plane, options);
    const loads = { load_average: [tenth(load), tenth(loadavg()[0] as number)] };
    const { planes, trials, processes } = options;
    const measured = { planes, trials, processes, confirmed, ...loads, rows };
    console.log(`\n${enforcedTable(measured)}`);
    return measured;
  } finally {
    await plane.stop();
    rmSync(options.folder, { recursive: true, force: true });
  }
}

async function received() {
  const options = {
    build,
    readers: number('BENCH_READERS', 1_000),
    processes: number('BENCH_READER_PROCESSES', 3),
    trials: number('BENCH_READER_TRIALS', 30),
    idleSeconds: number('BENCH_IDLE_SECONDS', 60),
  };
  const load = loadavg()[0] as number;
  const plane = await startControlPlane(build);
  try {
    const { rows, idle } = await measureReceived(plane, options);
    const loads = { load_average: [tenth(load), tenth(loadavg()[0] as number)] };
    const { readers, trials, processes } = options;
    const measured = { readers, trials, processes, ...loads, rows, idle };
    console.log(`\n${receivedTables(measured)}`);
    return measured;
  } finally {
    await plane.stop();
  }
}
