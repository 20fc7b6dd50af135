/**
 * Where the time of one governed call goes: two passes over an instrumented gateway (the same build
 * and the same path as production's) at each number of connections. The first cuts each call's time
 * into its parts and counts the CPU of each thread; the second samples what the CPU is spent on. How
 * to read it: bench/README.md.
 */
import type { ProbeAnswer } from './targets/probe.ts';

export interface BreakdownPass {
  connections: number;
  /** What the load generator measured, in microseconds. */
  mean_us: number;
  direct_mean_us: number | null;
  timed: ProbeAnswer;
  profiled: ProbeAnswer;
}

/** Display names of parts; unlisted steps keep their own name. */
const PARTS: Record<string, string> = {
  routed: 'HTTP routing',
  entered: 'authenticate, before the body is read',
  'body-read': 'read the body',
  received: 'parse JSON-RPC, find session and server',
  authenticate: 'authenticate, for the call itself',
  'kill-switch': 'kill switch',
  classify: 'classify (action and target)',
  policy: 'policy',
  'record-handed-over': 'decision record: build, salt, hash, hand over',
  'record-durable': 'wait until the record is on disk',
  'sent-upstream': 'forward: write to the MCP server',
  'upstream-answered': 'wait for the MCP server, read its answer',
  'outcome-handed-over': 'outcome record: build, hash, hand over',
  answered: 'answer: build it, write it to the client',
};
const ORDER = Object.keys(PARTS);

/** Parts during which other calls run: their time is not this call's CPU time. */
const WAITS = new Set(['body-read', 'record-durable', 'upstream-answered', 'answered']);

const THREADS = {
  main: 'main thread',
  ledger: "ledger's threads",
  v8: "V8's own threads (garbage collection, compiler)",
  pool: "libuv's pool",
} as const;

export interface Breakdown {
  connections: number;
  latency: { part: string; us: number; of: 'work' | 'waiting' | 'outside' }[];
  latency_sum_us: number;
  measured_us: number;
  durability: { commit_us: number; disk_us: number; records_a_commit: number };
  cpu: { thread: string; part: string; us: number }[];
  cpu_sum_us: number;
}

/** Turns passes into rows. */
export function breakDown(pass: BreakdownPass): Breakdown {
  const { timed, profiled, mean_us } = pass;
  const { calls, parts } = timed.times;
  const place = ({ name }: { name: string }) => {
    const at = ORDER.indexOf(name);
    // A step that ORDER does not list sorts just before the policy, among the steps.
    return at < 0 ? ORDER.indexOf('policy') - 0.5 : at;
  };
  const latency: Breakdown['latency'] = [...parts]
    .sort((a, b) => place(a) - place(b))
    .map(({ name, us }) => ({
      part: PARTS[name] ?? name,
      us,
      of: WAITS.has(name) ? 'waiting' : 'work',
    }));
  const inside = latency.reduce((sum, { us }) => sum + us, 0);
  latency.push({
    part: 'outside: sockets, kernel, the load generator',
    us: mean_us - inside,
    of: 'outside',
  });
  const { commits } = timed;
  const cpu = (['main', 'ledger', 'v8', 'pool'] as const).flatMap((group) => {
    const us = timed.cpu_us[group] / calls;
    const shares = group === 'main' || group === 'ledger' ? profiled.shares?.[group] : undefined;
    const named = Object.entries(shares ?? { '': 1 });
    return named
      .map(([part, share]) => ({ thread: THREADS[group], part, us: us * share }))
      .sort((a, b) => b.us - a.us);
  });
  return {
    connections: pass.connections,
    latency,
    latency_sum_us: inside,
    measured_us: mean_us,
    durability: {
      commit_us: commits.us / Math.max(1, commits.groups),
      disk_us: commits.disk_us / Math.max(1, commits.groups),
      records_a_commit: commits.records / Math.max(1, commits.groups),
    },
    cpu,
    cpu_sum_us: cpu.reduce((sum, { us }) => sum + us, 0),
  };
}

/**
 * The rows as tables; `plain_cpu_us` is the CPU time of a call through the same gateway,
 * uninstrumented.
 */
export function breakdownTables(
  passes: readonly { breakdown: Breakdown; pass: BreakdownPass; plain_cpu_us: number | null }[],
): string {
  return passes
    .map(({ breakdown, pass, plain_cpu_us }) => {
      const { durability: disk, connections } = breakdown;
      const direct =
        pass.direct_mean_us === null ? '' : ` (asked directly: ${us(pass.direct_mean_us)} µs)`;
      return [
        `**Where the time of one governed call goes, ${connections} connection${connections === 1 ? '' : 's'}** (mean µs)`,
        '',
        '| part, in order | µs | % of the call | |',
        '|---|---:|---:|---|',
        ...breakdown.latency.map(
          ({ part, us: took, of }) =>
            `| ${part} | ${us(took)} | ${percent(took / breakdown.measured_us)} | ${of}${note(part, direct)} |`,
        ),
        `| **inside the gateway** | **${us(breakdown.latency_sum_us)}** | ${percent(breakdown.latency_sum_us / breakdown.measured_us)} | |`,
        `| **measured by the client** | **${us(breakdown.measured_us)}** | 100.0 | |`,
        '',
        `The ledger: ${disk.records_a_commit.toFixed(1)} records a commit; a group takes ${us(disk.commit_us)} µs, of which ${us(disk.disk_us)} µs are the disk's.`,
        '',
        '| thread | CPU spent on | CPU µs a call |',
        '|---|---|---:|',
        ...breakdown.cpu
          .filter(({ us: spent }) => spent >= 0.05)
          .map(({ thread, part, us: spent }) => `| ${thread} | ${part} | ${us(spent)} |`),
        `| **all threads** | | **${us(breakdown.cpu_sum_us)}** |`,
        ...(plain_cpu_us === null
          ? []
          : [`| the same gateway without instruments | | ${us(plain_cpu_us)} |`]),
      ].join('\n');
    })
    .join('\n\n');
}

function note(part: string, direct: string): string {
  return part === PARTS['upstream-answered'] ? direct : '';
}

function us(value: number): string {
  return value.toFixed(1);
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}
