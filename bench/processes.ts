/** The processes of a bench: targets on core 1, the load and the MCP server behind them on core 0. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds, residentMiB } from '../tests/support/process-cpu.ts';
import { freePort } from '../tests/support/service-process.ts';
import type { Measurement, TargetName } from './measurement.ts';

/** A build: the service and the bench's entry points. */
export interface Build {
  root: string;
  outdir: string;
}

export interface Target {
  name: TargetName;
  origin: string;
  path: string;
  headers: Record<string, string>;
  child: ChildProcess | null;
  /** The tool's name, if the target renames it. */
  tool?: string;
  /** Resident memory before the first load. */
  idleMib: number | null;
  /** Renews the headers; called before each measurement. */
  renew?(): Promise<void>;
  /** Resolves when the work that a load left behind is done. */
  settle?(): Promise<void>;
  /** Ends what was started with the child. */
  stop?(): Promise<void>;
}

export interface Backend {
  origin: string;
  stop(): void;
}

export const BENCH_ENTRY_POINTS = [
  'bench/targets/backend.ts',
  'bench/targets/raw-undici.ts',
  'bench/targets/fastify-proxy.ts',
  'bench/targets/gateway.ts',
  'bench/load.ts',
];

export const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};
const callOf = (name: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name, arguments: { query: 'customer 4711', fields: ['name', 'city'] } },
  });

const WARM_CALLS = 8_000;
const WARM_CONNECTIONS = 16;

/** Between two samples of a target's memory under load. */
const MEMORY_EVERY_MS = 200;
/** The time a target gets after its start before its idle memory is read. */
const IDLE_AFTER_MS = 1_000;

export const hasTaskset = (() => {
  try {
    execFileSync('taskset', ['-c', '0', 'true']);
    return cpus().length > 1;
  } catch {
    return false;
  }
})();

function pinned(
  build: Build,
  core: number,
  entry: string,
  env: Record<string, string>,
  withChannel = false,
): ChildProcess {
  const node = [process.execPath, join(build.outdir, `${entry}.js`)];
  const command = [...onCore(core), ...node];
  return spawn(command[0] as string, command.slice(1), {
    cwd: build.root,
    env: { ...process.env, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'inherit', ...(withChannel ? (['ipc'] as const) : [])],
  });
}

/** The prefix of a command that is to run on one core. */
export function onCore(core: number): string[] {
  return hasTaskset ? ['taskset', '-c', String(core)] : [];
}

/** Resident memory of a process that has just started and is idle. */
export async function idleMemory({ pid }: ChildProcess): Promise<number | null> {
  await sleep(IDLE_AFTER_MS);
  return pid ? residentMiB(pid) : null;
}

/** Ends a target and what was started for it. */
export async function stopTarget({ child, stop }: Target): Promise<void> {
  if (child) await endChild(child);
  await stop?.();
}

export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

export async function startBackend(build: Build): Promise<Backend> {
  const port = await freePort();
  const child = pinned(build, 0, 'backend', { PORT: String(port) });
  const origin = `http://127.0.0.1:${port}`;
  await untilUp(origin);
  return { origin, stop: () => void child.kill() };
}

export async function startTarget(
  build: Build,
  name: TargetName,
  backend: string,
  withChannel = false,
): Promise<Target> {
  if (name === 'direct')
    return { name, origin: backend, path: '/mcp', headers: HEADERS, child: null, idleMib: null };
  const port = await freePort();
  const gateway = name === 'gateway without enforcement' || name === 'governed';
  const entry = { 'raw undici': 'raw-undici', '@fastify/http-proxy': 'fastify-proxy' }[
    name as string
  ];
  const env = {
    PORT: String(port),
    BACKEND: backend,
    ENFORCEMENT: name === 'governed' ? 'on' : 'off',
  };
  const child = pinned(build, 1, entry ?? 'gateway', env, withChannel);
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
    idleMib: await idleMemory(child),
  };
}

/**
 * Makes the calls that a target needs before it is measured. V8 compiles what runs often only
 * after thousands of calls: the first calls of a process cost three times those after 5,000. It also
 * takes that many until the ledger's log has its size and is written over in place.
 */
export async function warmUp(build: Build, target: Target): Promise<void> {
  const calls = process.env.BENCH_WARM_CALLS ?? WARM_CALLS;
  await measure(build, target, WARM_CONNECTIONS, 0, 0, String(calls));
}

/**
 * @param build whose load generator is used, whatever build the target is of
 * @param calls how many; without it, those that are made in `seconds`
 */
export async function measure(
  build: Build,
  target: Target,
  count: number,
  round: number,
  seconds: number,
  calls = process.env.BENCH_CALLS ?? '',
): Promise<Measurement> {
  await target.renew?.();
  const pid = target.child?.pid;
  const before = pid ? cpuSeconds(pid) : 0;
  const memory = pid ? watchMemory(pid) : null;
  const load = pinned(build, 0, 'load', {
    ORIGIN: target.origin,
    PATH_: target.path,
    CONNECTIONS: String(count),
    SECONDS: String(seconds),
    CALLS: calls,
    HEADERS: JSON.stringify(target.headers),
    BODY: callOf(target.tool ?? 'lookup'),
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
  const rss = memory?.end() ?? null;
  await target.settle?.();
  return {
    target: target.name,
    connections: count,
    round,
    requests_per_second: result.requests / result.seconds,
    mean_ms: result.mean_ms,
    p50_ms: result.p50_ms,
    p99_ms: result.p99_ms,
    cpu_us_per_call: pid ? ((cpuSeconds(pid) - before) * 1e6) / result.requests : null,
    rss_mib: rss,
    rss_above_idle_mib: rss !== null && target.idleMib !== null ? rss - target.idleMib : null,
  };
}

/** Peak resident memory of a process from now until `end`. */
function watchMemory(pid: number): { end(): number } {
  let most = 0;
  const look = () => {
    most = Math.max(most, residentMiB(pid));
  };
  const timer = setInterval(look, MEMORY_EVERY_MS);
  return {
    end() {
      clearInterval(timer);
      look();
      return most;
    },
  };
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

export async function untilUp(origin: string): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const up = await fetch(origin).then(
      () => true,
      () => false,
    );
    if (up) return;
    await sleep(50);
  }
  throw new Error(`nothing answers at ${origin}`);
}
