/**
 * `npm run bench`: what the governed path costs, as ratios within one run. Every target runs in a
 * process of its own on core 1; the load and the MCP server behind it share core 0; the targets
 * take turns in every round, and medians over the rounds are reported.
 *
 * Then it says where the time of one governed call goes (breakdown.ts).
 *
 *   BENCH_ROUNDS (5), BENCH_SECONDS (3), BENCH_CONNECTIONS (1,16,256), BENCH_TARGETS (all),
 *   BENCH_BREAKDOWN (1,16; empty: none)
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../tests/support/service-process.ts';
import { type BreakdownPass, breakDown, breakdownTables } from './breakdown.ts';
import { fdatasyncP50 } from './fdatasync.ts';
import { cpuSeconds, residentMiB } from './process-cpu.ts';
import { type Measurement, median, report, type TargetName } from './report.ts';
import type { ProbeAnswer, ProbeRequest } from './targets/probe.ts';

const root = join(import.meta.dirname, '..');
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const connections = (process.env.BENCH_CONNECTIONS ?? '1,16,256').split(',').map(Number);
const broken = (process.env.BENCH_BREAKDOWN ?? '1,16').split(',').filter(Boolean).map(Number);
const only = process.env.BENCH_TARGETS?.split(',');

interface Target {
  name: TargetName;
  origin: string;
  path: string;
  headers: Record<string, string>;
  child: ChildProcess | null;
}

const build = join(root, '.tmp', 'bench');
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};
const BODY = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'lookup', arguments: { query: 'customer 4711', fields: ['name', 'city'] } },
});

function pinned(
  core: number,
  entry: string,
  env: Record<string, string>,
  withChannel = false,
): ChildProcess {
  const node = [process.execPath, join(build, `${entry}.js`)];
  const command = hasTaskset ? ['taskset', '-c', String(core), ...node] : node;
  return spawn(command[0] as string, command.slice(1), {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', ...(withChannel ? (['ipc'] as const) : [])],
  });
}

const hasTaskset = (() => {
  try {
    execFileSync('taskset', ['-c', '0', 'true']);
    return cpus().length > 1;
  } catch {
    return false;
  }
})();

async function startTarget(
  name: TargetName,
  backend: string,
  withChannel = false,
): Promise<Target> {
  if (name === 'direct')
    return { name, origin: backend, path: '/mcp', headers: HEADERS, child: null };
  const port = await freePort();
  const gateway = name === 'gateway, enforcement off' || name === 'governed';
  const entry = { 'raw undici': 'raw-undici', '@fastify/http-proxy': 'fastify-proxy' }[
    name as string
  ];
  const env = {
    PORT: String(port),
    BACKEND: backend,
    ENFORCEMENT: name === 'governed' ? 'on' : 'off',
  };
  const child = pinned(1, entry ?? 'gateway', env, withChannel);
  const origin = `http://127.0.0.1:${port}`;
  // The gateway prints the headers of an opened session once it is ready.
  const headers = gateway ? await firstLine(child) : '{}';
  await untilUp(origin);
  return {
    name,
    origin,
    path: '/mcp/v1/bench',
    headers: { ...HEADERS, ...(JSON.parse(headers) as Record<string, string>) },
    child,
  };
}

async function measure(target: Target, count: number, round: number): Promise<Measurement> {
  const pid = target.child?.pid;
  const before = pid ? cpuSeconds(pid) : 0;
  const load = pinned(0, 'load', {
    ORIGIN: target.origin,
    PATH_: target.path,
    CONNECTIONS: String(count),
    SECONDS: String(seconds),
    HEADERS: JSON.stringify(target.headers),
    BODY,
  });
  const result = JSON.parse(await firstLine(load)) as {
    requests: number;
    seconds: number;
    mean_ms: number;
    p50_ms: number;
    p99_ms: number;
    failed: number;
    first_failure?: string;
  };
  if (result.failed > 0)
    throw new Error(`${target.name}: ${result.failed} calls failed: ${result.first_failure}`);
  return {
    target: target.name,
    connections: count,
    round,
    requests_per_second: result.requests / result.seconds,
    mean_ms: result.mean_ms,
    p50_ms: result.p50_ms,
    p99_ms: result.p99_ms,
    cpu_us_per_call: pid ? ((cpuSeconds(pid) - before) * 1e6) / result.requests : null,
    rss_mib: pid ? residentMiB(pid) : null,
  };
}

async function measureParts(
  governed: Target,
  direct: Target,
  count: number,
): Promise<BreakdownPass> {
  const { mean_ms: directMs } = await measure(direct, count, 0);
  // The compilers of V8 settle.
  await measure(governed, 16, 0);
  await measure(governed, count, 0);
  const pass = async (profile: boolean) => {
    await ask(governed, { op: 'begin', profile });
    const { mean_ms } = await measure(governed, count, 0);
    return { mean_ms, answer: (await ask(governed, { op: 'end' })) as ProbeAnswer };
  };
  const timed = await pass(false);
  const profiled = await pass(true);
  return {
    connections: count,
    mean_us: timed.mean_ms * 1000,
    direct_mean_us: directMs * 1000,
    timed: timed.answer,
    profiled: profiled.answer,
  };
}

function ask({ child }: Target, request: ProbeRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child?.once('message', resolve);
    child?.once('exit', () => reject(new Error('the gateway ended')));
    child?.send(request);
  });
}

async function breakdowns(backend: string, measurements: readonly Measurement[]) {
  const direct = await startTarget('direct', backend);
  const governed = await startTarget('governed', backend, true);
  try {
    const passes = [];
    for (const count of broken) {
      const pass = await measureParts(governed, direct, count);
      const cpu = measurements
        .filter((each) => each.target === 'governed' && each.connections === count)
        .map((each) => each.cpu_us_per_call ?? 0);
      const plain_cpu_us = cpu.length === 0 ? null : median(cpu);
      passes.push({ pass, plain_cpu_us, breakdown: breakDown(pass) });
    }
    return passes;
  } finally {
    governed.child?.kill();
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout as NodeJS.ReadableStream) {
    text += chunk.toString();
    const end = text.indexOf('\n');
    if (end >= 0) {
      child.stdout?.resume();
      return text.slice(0, end);
    }
  }
  throw new Error(`a process of the bench ended without a line: ${text}`);
}

async function untilUp(origin: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const up = await fetch(origin).then(
      () => true,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nothing answers at ${origin}`);
}

async function main(): Promise<void> {
  // @ts-expect-error: the build script is plain JavaScript
  const { buildService } = await import('../scripts/build.mjs');
  await buildService({
    outdir: build,
    extraEntryPoints: [
      'bench/targets/backend.ts',
      'bench/targets/raw-undici.ts',
      'bench/targets/fastify-proxy.ts',
      'bench/targets/gateway.ts',
      'bench/load.ts',
    ],
  });
  const port = await freePort();
  const backendProcess = pinned(0, 'backend', { PORT: String(port) });
  const backend = `http://127.0.0.1:${port}`;
  await untilUp(backend);
  const names: TargetName[] = [
    'direct',
    'raw undici',
    '@fastify/http-proxy',
    'gateway, enforcement off',
    'governed',
  ];
  const targets: Target[] = [];
  try {
    for (const name of names.filter((each) => !only || only.includes(each))) {
      targets.push(await startTarget(name, backend));
    }
    const fdatasync = [fdatasyncP50()];
    const measurements: Measurement[] = [];
    // One round nobody counts: the compilers of V8 settle.
    for (const target of targets) await measure(target, 16, 0);
    for (let round = 1; round <= rounds; round++) {
      for (const count of connections) {
        for (const target of targets) measurements.push(await measure(target, count, round));
      }
      fdatasync.push(fdatasyncP50());
      console.error(`round ${round} of ${rounds} done`);
    }
    const passes = broken.length === 0 ? [] : await breakdowns(backend, measurements);
    const { markdown, json } = report(measurements, {
      fdatasync_p50_ms: fdatasync.sort((a, b) => a - b)[fdatasync.length >> 1] ?? 0,
      rounds,
      seconds,
      node: process.version,
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      kernel: release(),
      pinned: hasTaskset,
    });
    const breakdown = passes.map((each) => ({
      ...each.breakdown,
      plain_cpu_us: each.plain_cpu_us,
    }));
    console.log(markdown);
    if (passes.length > 0) console.log(`\n${breakdownTables(passes)}`);
    mkdirSync(join(root, 'bench/results'), { recursive: true });
    writeFileSync(
      join(root, 'bench/results/latest.json'),
      `${JSON.stringify({ ...json, breakdown }, null, 2)}\n`,
    );
    console.log('\nwritten to bench/results/latest.json');
  } finally {
    for (const target of targets) target.child?.kill();
    backendProcess.kill();
  }
}

await main();
