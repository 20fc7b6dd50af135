/**
 * Exports what a control plane recorded through the public API: an evidence package with all its
 * volumes, and the audit trail as a SIEM reads it. The control plane and its PostgreSQL run in
 * separate processes, whose CPU time and memory are measured separately.
 */
import { createHash } from 'node:crypto';
import { createWriteStream, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import { cpuSeconds } from '../../tests/support/process-cpu.ts';
import type { ServiceProcess } from '../../tests/support/service-process.ts';
import { familyOf, type Used, watch } from './watched-processes.ts';

export interface Step {
  events: number;
  seconds: number;
  control_plane: Used;
  postgres: Used;
}

export interface Exported {
  made: Step & { volumes: number; bytes: number };
  downloaded: Step;
  /** The volumes, in order. */
  paths: string[];
}

interface PackageView {
  id: string;
  status: 'queued' | 'running' | 'ready' | 'failed';
  failure: string | null;
  volumes: { events: number; size: number; sha256: string; download: string }[];
}

const PACKAGES = '/api/v1/evidence/packages';
const LOOK_MS = 200;
const SPAN_MS = 30 * 86_400_000;
const QUIET_EVERY_MS = 2_000;
/** Of a core. */
const QUIET_SHARE = 0.1;

/** @param folder for the volumes */
export async function exportEvidence(
  service: ServiceProcess,
  admin: AdminApi,
  folder: string,
): Promise<Exported> {
  const from = new Date(Date.now() - SPAN_MS).toISOString();
  const to = new Date(Date.now() + 60_000).toISOString();
  let view: PackageView | undefined;
  const make = await step(service, async () => {
    view = await admin.post<PackageView>(PACKAGES, { from, to });
    while (view.status === 'queued' || view.status === 'running') {
      await sleep(LOOK_MS);
      view = await admin.get<PackageView>(`${PACKAGES}/${view.id}`);
    }
    if (view.status === 'failed') throw new Error(`the export failed: ${view.failure}`);
    return view.volumes.reduce((sum, { events }) => sum + events, 0);
  });
  const volumes = view?.volumes ?? [];
  const paths = volumes.map((_, i) => join(folder, `evidence-${i + 1}.tar.gz`));
  const downloaded = await step(service, async () => {
    for (const [i, { download, sha256 }] of volumes.entries()) {
      const { body } = await get(service.url + download, admin);
      const digest = createHash('sha256');
      body.on('data', (piece: Buffer) => digest.update(piece));
      await pipeline(body, createWriteStream(paths[i] as string));
      if (digest.digest('hex') !== sha256) throw new Error(`volume ${i + 1} is another one`);
    }
    return make.events;
  });
  const bytes = volumes.reduce((sum, { size }) => sum + size, 0);
  return { made: { ...make, volumes: volumes.length, bytes }, downloaded, paths };
}

/** Waits until the control plane's background verification has covered new and restored records. */
export async function untilQuiet({ child }: ServiceProcess): Promise<void> {
  const { pid } = child as { pid: number };
  for (let quiet = 0; quiet < 3; ) {
    const before = cpuSeconds(pid);
    await sleep(QUIET_EVERY_MS);
    const share = ((cpuSeconds(pid) - before) * 1_000) / QUIET_EVERY_MS;
    quiet = share < QUIET_SHARE ? quiet + 1 : 0;
  }
}

/** Every page of `GET /api/v1/audit/export`. */
export function exportTrail(
  service: ServiceProcess,
  admin: AdminApi,
  format: 'json' | 'cef',
): Promise<Step> {
  return step(service, async () => {
    let cursor: string | undefined;
    let events = 0;
    do {
      const query = { format, limit: '10000', ...(cursor === undefined ? {} : { cursor }) };
      const path = `/api/v1/audit/export?${new URLSearchParams(query)}`;
      const { headers, body } = await get(service.url + path, admin);
      await pipeline(body, new Writable({ write: (_chunk, _encoding, done) => done() }));
      events = Number(headers['x-total-events']);
      cursor = headers['x-next-cursor'] as string | undefined;
    } while (cursor !== undefined);
    return events;
  });
}

/** Runs one part of the bench. */
async function step(service: ServiceProcess, run: () => Promise<number>): Promise<Step> {
  const { pid } = service.child as { pid: number };
  const server = postmasterOf(service.dataDir);
  const used = { own: watch(() => [pid]), postgres: watch(() => familyOf(server)) };
  const started = performance.now();
  const events = await run();
  const seconds = (performance.now() - started) / 1_000;
  return { events, seconds, control_plane: used.own(), postgres: used.postgres() };
}

/** PostgreSQL writes its process id on the first line. */
function postmasterOf(dataDir: string): number {
  const files = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  const file = files.find((name) => name.endsWith('postmaster.pid'));
  if (file === undefined) throw new Error('there is no PostgreSQL');
  return Number.parseInt(readFileSync(join(dataDir, file), 'utf8'), 10);
}

async function get(url: string, { token }: AdminApi) {
  const answer = await request(url, { headers: { authorization: `Bearer ${token}` } });
  if (answer.statusCode === 200) return answer;
  throw new Error(`${url}: ${answer.statusCode} ${await answer.body.text()}`);
}
