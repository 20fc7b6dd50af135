/**
 * `npm run bench`: what the governed path costs, as ratios within one run. Each target runs in a
 * separate process on core 1; the load and the MCP server behind it share core 0. Every round
 * measures the targets in turn, and medians over the rounds are reported.
 *
 * Then it shows where the time of one governed call goes (breakdown.ts).
 *
 * BENCH_ROUNDS (5), BENCH_SECONDS (3), BENCH_CONNECTIONS (1,16,256), BENCH_TARGETS (all),
 * BENCH_BREAKDOWN (1,16; empty: none), BENCH_CALLS (a number of calls instead of a time),
 * BENCH_WARM_CALLS (8000, before a target is measured), BENCH_MCP_PROXY (a peer's binary)
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { join } from 'node:path';
import { type BreakdownPass, breakDown, breakdownTables } from './breakdown.ts';
import { fdatasyncP50 } from './fdatasync.ts';
import type { Measurement, TargetName } from './measurement.ts';
import {
  BENCH_ENTRY_POINTS,
  hasTaskset,
  measure as measureFor,
  startBackend,
  startTarget,
  stopTarget,
  type Target,
  warmUp,
} from './processes.ts';
import { median, report } from './report.ts';
import { startRustPeer } from './rust-peer.ts';
import { startShippingPlane } from './shipping-plane.ts';
import type { ProbeAnswer, ProbeRequest } from './targets/probe.ts';

const root = join(import.meta.dirname, '..');
const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const seconds = Number(process.env.BENCH_SECONDS ?? 3);
const connections = (process.env.BENCH_CONNECTIONS ?? '1,16,256').split(',').map(Number);
const broken = (process.env.BENCH_BREAKDOWN ?? '1,16').split(',').filter(Boolean).map(Number);
const only = process.env.BENCH_TARGETS?.split(',').map((name) => name.trim());
const peer = process.env.BENCH_MCP_PROXY;

const build = { root, outdir: join(root, '.tmp', 'bench') };
const measure = (target: Target, count: number, round: number) =>
  measureFor(build, target, count, round, seconds);

async function measureParts(
  governed: Target,
  direct: Target,
  count: number,
): Promise<BreakdownPass> {
  const { mean_ms: directMs } = await measure(direct, count, 0);
  await warmUp(build, governed);
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
  const direct = await startTarget(build, 'direct', backend);
  const governed = await startTarget(build, 'governed', backend, true);
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

/** @returns null if the peer is not installed */
async function start(name: TargetName, backend: string): Promise<Target | null> {
  switch (name) {
    case 'data plane that ships':
      return startShippingPlane(build, backend);
    case 'mcp-proxy (Rust)':
      if (peer && existsSync(peer)) return startRustPeer(peer, backend);
      console.error('BENCH_MCP_PROXY names no binary: the peer is left out');
      return null;
    default:
      return startTarget(build, name, backend);
  }
}

async function main(): Promise<void> {
  // @ts-expect-error: the build script is plain JavaScript
  const { buildService } = await import('../scripts/build.mjs');
  await buildService({
    outdir: build.outdir,
    extraEntryPoints: BENCH_ENTRY_POINTS,
  });
  const { origin: backend, stop: stopBackend } = await startBackend(build);
  const names: TargetName[] = [
    'direct',
    'raw undici',
    '@fastify/http-proxy',
    'gateway without enforcement',
    'governed',
    'data plane that ships',
    'mcp-proxy (Rust)',
  ];
  const targets: Target[] = [];
  try {
    for (const name of names.filter((each) => !only || only.includes(each))) {
      const target = await start(name, backend);
      if (target) targets.push(target);
    }
    const fdatasync = [fdatasyncP50()];
    const measurements: Measurement[] = [];
    for (const target of targets) await warmUp(build, target);
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
      calls: process.env.BENCH_CALLS ? Number(process.env.BENCH_CALLS) : null,
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
    for (const target of targets) await stopTarget(target);
    stopBackend();
  }
}

await main();
