/** How long a change takes until every connected data plane enforces it. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'undici';
import { openSessionSoon } from '../../scripts/durability/kill-rounds.ts';
import { type MarkedBackend, startMarkedBackend } from '../../scripts/durability/marked-backend.ts';
import {
  connectTo,
  makeMarkedCall,
  setUpMarkedCalls,
} from '../../scripts/durability/marked-calls.ts';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import { cpuSeconds } from '../../tests/support/process-cpu.ts';
import { type Child, startChild } from './child.ts';
import type { BenchControlPlane } from './control-plane.ts';
import { clockMs, type Spread, spread, tenth } from './figures.ts';
import type { Expected, PlanesOptions } from './planes.ts';

export interface EnforcedOptions {
  /** Folder of the bundles. */
  build: string;
  /** For the planes' data folders. */
  folder: string;
  planes: number;
  processes: number;
  trials: number;
}

export interface EnforcedRow {
  change: string;
  /**
   * From the administrator's request until a plane decides differently, over all planes and trials.
   */
  plane: Spread;
  /** The same until the last plane of a trial does. */
  last: Spread;
  /** How long the administrator's request took. */
  request: Spread;
  /**
   * CPU milliseconds from a change until the last plane enforced it: of one plane, and of the
   * control plane.
   */
  planeCpuMs: number;
  controlPlaneCpuMs: number;
}

/** Every so many trials each plane's decision is also checked by a real call. */
const CONFIRM_EVERY = 10;
const SERVER = 'marked';

type Decision = 'refused' | 'first backend' | 'second backend';

interface Change {
  name: string;
  make(): Promise<unknown>;
  expected: Expected;
  /** The result that a call at the gateway then has. */
  decision: Decision;
}

export async function measureEnforced(
  { service, admin }: BenchControlPlane,
  options: EnforcedOptions,
): Promise<{ rows: EnforcedRow[]; confirmed: number }> {
  const backends: [MarkedBackend, MarkedBackend] = [
    await startMarkedBackend(),
    await startMarkedBackend(),
  ];
  const children: Child[] = [];
  const clients: Client[] = [];
  try {
    const basic = await setUpMarkedCalls(admin, backends[0].port);
    await setUpFindings(admin);
    const { agents } = await admin.get<{ agents: { id: string }[] }>('/api/v1/agents');
    const agentId = agents[0]?.id as string;
    const root = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
      label: 'bench',
    });
    const urls: string[] = [];
    const perProcess = Math.ceil(options.planes / options.processes);
    for (let first = 0; first < options.planes; first += perProcess) {
      const count = Math.min(perProcess, options.planes - first);
      const dataDirs = Array.from({ length: count }, (_, i) => {
        const dataDir = join(options.folder, `plane-${first + i}`);
        mkdirSync(dataDir);
        return dataDir;
      });
      const child = startChild(join(options.build, 'planes.js'));
      children.push(child);
      const start: PlanesOptions = { cpUrl: service.url, token: root.token, dataDirs };
      urls.push(...(await child.ask<string[]>('start', start)));
      process.stderr.write(`${urls.length} data planes are up\n`);
    }
    const changes = changesOf(admin, agentId, backends);
    for (const { expected } of changes.filter((_, i) => i % 2 === 1)) {
      await Promise.all(children.map((child) => child.ask('settle', expected)));
    }
    const sessions = await Promise.all(urls.map((url) => openSessionSoon(url, basic)));
    clients.push(...urls.map(connectTo));

    const times = changes.map(() => ({
      plane: [] as number[],
      last: [] as number[],
      request: [] as number[],
      planesCpu: 0,
      controlPlaneCpu: 0,
    }));
    const controlPlanePid = service.child.pid as number;
    const planesCpu = () => children.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
    let confirmed = 0;
    let call = 0;
    const confirm = async ({ name, decision }: Change) => {
      const answers = await Promise.all(
        clients.map((client, i) =>
          makeMarkedCall(client, sessions[i] as Record<string, string>, call++),
        ),
      );
      const [first, second] = backends.map((backend) => backend.take().length);
      const allowed = answers.filter(Boolean).length;
      const wanted = {
        refused: [0, 0, 0],
        'first backend': [urls.length, urls.length, 0],
        'second backend': [urls.length, 0, urls.length],
      }[decision];
      const got = [allowed, first, second];
      if (String(got) !== String(wanted)) {
        throw new Error(`${name}: calls came to ${got} (allowed, by backend), not ${wanted}`);
      }
      confirmed += answers.length;
    };

    for (let trial = -1; trial < options.trials; trial++) {
      for (const [i, change] of changes.entries()) {
        const cpu = [planesCpu(), cpuSeconds(controlPlanePid)] as const;
        const { request, reached } = await makeChange(change, children);
        const used = [planesCpu() - cpu[0], cpuSeconds(controlPlanePid) - cpu[1]] as const;
        if (trial % CONFIRM_EVERY === 0) await confirm(change);
        // Varies the moment after the last change, when polls are started again.
        await sleep(20 + Math.random() * 230);
        if (trial < 0) continue; // the first one warms
        const of = times[i] as (typeof times)[number];
        of.plane.push(...reached);
        of.last.push(Math.max(...reached));
        of.request.push(request);
        of.planesCpu += used[0];
        of.controlPlaneCpu += used[1];
      }
      if (trial % 10 === 9) process.stderr.write(`trial ${trial + 1} of ${options.trials}\n`);
    }
    const rows = changes.map(({ name }, i) => ({
      change: name,
      plane: spread(times[i]?.plane ?? []),
      last: spread(times[i]?.last ?? []),
      request: spread(times[i]?.request ?? []),
      planeCpuMs: tenth(((times[i]?.planesCpu ?? 0) * 1_000) / options.trials / urls.length),
      controlPlaneCpuMs: tenth(((times[i]?.controlPlaneCpu ?? 0) * 1_000) / options.trials),
    }));
    return { rows, confirmed };
  } finally {
    await Promise.all(clients.map((client) => client.destroy()));
    await Promise.all(children.map((child) => child.end()));
    await Promise.all(backends.map((backend) => backend.close()));
  }
}

/** Every marked call holds a finding of low severity, which is logged. */
async function setUpFindings(admin: AdminApi): Promise<void> {
  const pattern = { name: 'mark', regex: '/calls/[0-9]{7}', severity: 'low' };
  await admin.post('/api/v1/dlp/patterns', pattern);
  // Nothing is compared across the bench's sessions.
  await admin.patch('/api/v1/dlp/settings', { cross_session: false, fragments: false });
}

/** In pairs: every second change reverts the one before it. */
function changesOf(
  admin: AdminApi,
  agentId: string,
  backends: [MarkedBackend, MarkedBackend],
): Change[] {
  const agent = (name: string, isIneligible: boolean, make: () => Promise<unknown>): Change => ({
    name,
    make,
    expected: { kind: 'agent', agentId, isIneligible },
    decision: isIneligible ? 'refused' : 'first backend',
  });
  const status = (to: string) => () => admin.patch(`/api/v1/agents/${agentId}`, { status: to });
  const killSwitch = (lift: boolean) => () =>
    admin.post('/api/v1/admin/killswitch', { lift, reason: 'bench' });
  const server = (name: string, index: 0 | 1): Change => {
    const url = `http://127.0.0.1:${backends[index].port}/mcp`;
    return {
      name,
      make: () => admin.patch(`/api/v1/mcp-servers/${SERVER}`, { url }),
      expected: { kind: 'server', serverId: SERVER, url },
      decision: index === 0 ? 'first backend' : 'second backend',
    };
  };
  const dlp = (name: string, low: 'block' | 'log'): Change => ({
    name,
    make: () => admin.patch('/api/v1/dlp/settings', { outbound: { low } }),
    expected: { kind: 'dlp', low },
    decision: low === 'block' ? 'refused' : 'first backend',
  });
  const blastRadius = (name: string, isDenied: boolean): Change => ({
    name,
    make: () =>
      admin.patch('/api/v1/admin/blast-radius', {
        protected_file_patterns: isDenied ? ['/calls/**'] : [],
      }),
    expected: { kind: 'blast-radius', isDenied },
    decision: isDenied ? 'refused' : 'first backend',
  });
  return [
    agent('agent suspended', true, status('suspended')),
    agent('agent active again', false, status('active')),
    agent('kill switch engaged', true, killSwitch(false)),
    agent('kill switch lifted', false, killSwitch(true)),
    server('MCP server: url changed', 1),
    server('MCP server: url changed back', 0),
    dlp('DLP settings: low findings blocked', 'block'),
    dlp('DLP settings: low findings logged again', 'log'),
    blastRadius('blast radius: a file protected', true),
    blastRadius('blast radius: not protected any more', false),
  ];
}

/** @returns milliseconds from the moment at which the request is sent */
async function makeChange(
  { name, make, expected }: Change,
  children: Child[],
): Promise<{ request: number; reached: number[] }> {
  const already = await Promise.all(children.map((child) => child.ask<number>('arm', expected)));
  if (already.some((count) => count > 0)) throw new Error(`${name}: some planes decide so already`);
  const sent = clockMs();
  await make();
  const request = clockMs() - sent;
  const times = await Promise.all(children.map((child) => child.ask<(number | null)[]>('reached')));
  const reached = times.flat().map((at) => {
    if (at === null) throw new Error(`${name}: it did not reach every plane`);
    return at - sent;
  });
  return { request, reached };
}
