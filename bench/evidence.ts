/**
 * `npm run bench:evidence -- [events]`: events are recorded in real batches and exported through
 * the public API of a control plane started as in production, and the volumes are verified
 * together.
 *
 * BENCH_KEEP=<folder>: keeps the volumes and the anchor there
 * BENCH_DATA=<folder>: keeps the control plane's data there; a later run exports it again
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { adminApi } from '../tests/support/admin-api.ts';
import { startService } from '../tests/support/service-process.ts';
import { exportEvidence, exportTrail, type Step, untilQuiet } from './evidence/export-events.ts';
import { recordEvents } from './evidence/record-events.ts';
import { type Verified, verifyByCommand, verifyByLibrary } from './evidence/verify-volumes.ts';
import type { Used } from './evidence/watched-processes.ts';
import { fdatasyncP50 } from './fdatasync.ts';

const root = join(import.meta.dirname, '..');
const wanted = Number(process.argv[2] ?? 1_000_000);
const folder = process.env.BENCH_KEEP ?? mkdtempSync(join(tmpdir(), 'governance-evidence-'));
mkdirSync(folder, { recursive: true });
const data = process.env.BENCH_DATA;
const isRecorded = data !== undefined && existsSync(data);
if (data !== undefined) mkdirSync(data, { recursive: true, mode: 0o711 });
const service = await startService({
  env: { SERVICE_DEPLOYMENT_MODE: 'control-plane' },
  ...(data === undefined ? {} : { dataDir: data, adminPassword: 'bench-password-1' }),
});
process.once('exit', () => service.child.kill());
try {
  await run();
} finally {
  await (data === undefined ? service.dispose() : service.stop());
  if (process.env.BENCH_KEEP === undefined) rmSync(folder, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const admin = await adminApi(service.url, 'admin', service.adminPassword);
  if (!isRecorded) {
    const started = performance.now();
    const recorded = await recordEvents(service.url, admin, wanted);
    const seconds = round((performance.now() - started) / 1_000);
    console.log(`${recorded} events recorded in ${seconds} s, by real batches`);
  }
  await untilQuiet(service);
  // An auditor gets the anchor before the export.
  const anchor = join(folder, 'anchor.json');
  const given = await admin.get('/api/v1/evidence/trust-anchor');
  writeFileSync(anchor, JSON.stringify(given));
  const { made, downloaded, paths } = await exportEvidence(service, admin, folder);
  console.log(
    '| step | events/s | seconds | CPU µs an event: control plane | PostgreSQL | peak MiB |',
  );
  console.log('|---|---:|---:|---:|---:|---|');
  row('export', made);
  row('download', downloaded);
  const trail = {
    json: await exportTrail(service, admin, 'json'),
    cef: await exportTrail(service, admin, 'cef'),
  };
  row('audit/export, json', trail.json);
  row('audit/export, cef', trail.cef);
  console.log(`\n${made.volumes} volumes, ${round(made.bytes / 2 ** 20)} MiB\n`);
  const command = await verifyByCommand(paths, anchor, folder);
  verified('command', command, made.events);
  const library = await verifyByLibrary(paths, anchor);
  verified('library', library, made.events);
  const setting = {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    kernel: release(),
    load_average_at_end: loadavg().map(round),
    fdatasync_p50_ms: round(fdatasyncP50()),
  };
  const results = { setting, made, downloaded, trail, verified: { command, library } };
  mkdirSync(join(root, 'bench/results'), { recursive: true });
  const file = join(root, 'bench/results/evidence.json');
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
  for (const { verdict } of [command, library]) {
    if (verdict !== 'VERIFIED') throw new Error(`the set is ${verdict}`);
  }
}

function row(name: string, { events, seconds, control_plane, postgres }: Step): void {
  const micros = ({ cpu_seconds }: Used) => round((cpu_seconds / events) * 1e6);
  const peaks = `${Math.round(control_plane.peak_mib)} / ${Math.round(postgres.peak_mib)}`;
  const cells = [
    name,
    Math.round(events / seconds),
    round(seconds),
    micros(control_plane),
    micros(postgres),
    peaks,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

function verified(
  name: string,
  { verdict, seconds, cpu_seconds, peak_mib }: Verified,
  events: number,
): void {
  console.log(
    `${name}: ${verdict}, ${round(seconds)} s, ${round(cpu_seconds)} s of CPU, ${Math.round(events / cpu_seconds)} events/s a core, ${Math.round(peak_mib)} MiB at most`,
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
