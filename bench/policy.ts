/**
 * `npm run bench:policy`: what one policy decision costs, and how fast a hostile policy is stopped.
 * Every round measures three variants in turn, and medians over the rounds are reported: the npm
 * package as published, the package with our metering, and our engine (with the verdict checked).
 *
 * BENCH_ROUNDS (9), BENCH_BUSY (0): the number of busy loops beside the hostile policies
 */
import { type ChildProcess, spawn } from 'node:child_process';
import * as opaWasm from '@open-policy-agent/opa-wasm';
import { baselinePack } from '../policies/src/baseline-pack.ts';
import { createRegoCompiler } from '../policies/src/compiler/rego-compiler.ts';
import type { PolicyInput, PolicySource } from '../policies/src/contract.ts';
import { FUEL_EXPORT, meterWasm } from '../policies/src/evaluator/meter-wasm.ts';
import { loadPolicyEngine } from '../policies/src/evaluator/policy-engine.ts';
import { threadCpuMs } from '../tests/support/process-cpu.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const BUSY = Number(process.env.BENCH_BUSY ?? 0);
const DECISIONS = 2_000;
const PLENTY = 2_000_000_000;

interface PackagePolicy {
  wasmInstance: { exports: Record<string, { value: number }> };
  evaluate(input: ArrayBuffer): unknown;
}
// The package's types omit what its module exports below `default`.
const { loadPolicySync } = (
  opaWasm as unknown as {
    default: { loadPolicySync(wasm: Uint8Array, memory: object): PackagePolicy };
  }
).default;

const compiler = createRegoCompiler();
try {
  await decisions();
  const loops = Array.from({ length: BUSY }, startBusyLoop);
  try {
    await hostile();
  } finally {
    for (const loop of loops) loop.kill();
  }
} finally {
  await compiler.close();
}

async function decisions(): Promise<void> {
  console.log('policies             input   package  metered   engine   (µs, median)');
  for (const [name, policies] of policySets()) {
    const compiled = await compiler.compile(policies);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const engine = await loadPolicyEngine(compiled.wasm, { settings: {} });
    const plain = loadPolicySync(compiled.wasm, { initial: 5, maximum: 256 });
    const metered = loadPolicySync(meterWasm(compiled.wasm).bytes, { initial: 5, maximum: 256 });
    for (const input of [anInput(0), anInput(10), anInput(100)]) {
      const bytes = Buffer.byteLength(JSON.stringify(input));
      const ways = [
        () => plain.evaluate(toBytes(input)),
        () => {
          (metered.wasmInstance.exports[FUEL_EXPORT] as { value: number }).value = PLENTY;
          metered.evaluate(toBytes(input));
        },
        () => {
          const outcome = engine.evaluate(input);
          if (!outcome.ok) throw new Error(outcome.message);
        },
      ];
      const cells = takeTurns(ways).map((micros) => micros.toFixed(1).padStart(8));
      console.log(`${name.padEnd(20)} ${String(bytes).padStart(5)} ${cells.join(' ')}`);
    }
  }
}

async function hostile(): Promise<void> {
  console.log(
    `\nhostile policy       input     cold  its CPU    again  longest  its CPU   (ms until it is stopped, ${BUSY} busy loops)`,
  );
  const twice = 'some a in numbers.range(1, 3000); some b in numbers.range(1, 3000)';
  const bodies = {
    'nested loops': `count([1 | ${twice}]) > 0`,
    'large sets': `count({[a, b] | ${twice}}) > 0`,
    'regular expressions': `count([1 | ${twice}; regex.match("(x+x+)+y", input.agent.owner)]) > 0`,
    sprintf: `count([1 | ${twice}; sprintf("%d", [a]) != ""]) > 0`,
    'regex.replace': `count([1 | ${twice}; regex.replace(input.agent.owner, "(x?){30}x{30}", "y") != ""]) > 0`,
  };
  for (const [name, body] of Object.entries(bodies)) {
    const rego = `package hostile\ndeny contains "x" if { input.agent.owner != "warm-up"; ${body} }`;
    const compiled = await compiler.compile([{ id: 'hostile', name: 'Hostile', rego }]);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    for (const input of [anInput(0), anInput(1_000)]) {
      const engine = await loadPolicyEngine(compiled.wasm, {});
      const times = Array.from({ length: 20 }, () => {
        const cpu = threadCpuMs();
        const started = performance.now();
        const outcome = engine.evaluate(input);
        if (outcome.ok) throw new Error('it was not stopped');
        return { wall: performance.now() - started, cpu: threadCpuMs() - cpu };
      });
      const bytes = Buffer.byteLength(JSON.stringify(input));
      const [cold, ...again] = times as [Stopped, ...Stopped[]];
      const walls = again.map(({ wall }) => wall);
      const cells = [
        cold.wall,
        cold.cpu,
        median(walls),
        Math.max(...walls),
        median(again.map(({ cpu }) => cpu)),
      ].map((ms) => ms.toFixed(1).padStart(8));
      console.log(`${name.padEnd(20)} ${String(bytes).padStart(5)} ${cells.join(' ')}`);
    }
  }
}

interface Stopped {
  wall: number;
  cpu: number;
}

function startBusyLoop(): ChildProcess {
  return spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
}

function takeTurns(ways: (() => unknown)[]): number[] {
  const rounds = ways.map((): number[] => []);
  for (let round = -1; round < ROUNDS; round++) {
    ways.forEach((way, i) => {
      const started = process.hrtime.bigint();
      for (let n = 0; n < DECISIONS; n++) way();
      const micros = Number(process.hrtime.bigint() - started) / 1_000 / DECISIONS;
      if (round >= 0) rounds[i]?.push(micros); // the first round warms
    });
  }
  return rounds.map(median);
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function toBytes(input: unknown): ArrayBuffer {
  return new TextEncoder().encode(JSON.stringify(input)).buffer;
}

function policySets(): [string, PolicySource[]][] {
  const baseline = baselinePack().map(
    ({ name, rego_content: rego }, i): PolicySource => ({ id: `baseline-${i}`, name, rego }),
  );
  const rule = (i: number): PolicySource => ({
    id: `policy-${i}`,
    name: `Rule ${i}`,
    rego: `package rule${i}

deny contains "tool ${i} is closed" if {
	input.request.tool_name == "tool-${i}"
	input.agent.risk_score > 50
}

escalate contains "a person decides" if {
	input.request.action == "delete"
	startswith(input.request.resource, "/srv/${i}/")
}
`,
  });
  const rules = Array.from({ length: 100 }, (_, i) => rule(i));
  return [
    ['one rule', [rule(0)]],
    ['baseline pack', baseline],
    ['baseline + 100', [...baseline, ...rules]],
  ];
}

/** A call whose parameters have this many entries. */
function anInput(entries: number): PolicyInput {
  return {
    agent: {
      id: '0197a3c0-0000-7000-8000-000000000001',
      name: 'build-agent',
      agent_type: 'assistant',
      owner: 'x'.repeat(40),
      roles: ['reader', 'writer'],
      permissions: ['files:read', 'files/*:write', '*:read'],
      risk_tier: 'low',
      risk_score: 12.5,
    },
    request: {
      tool_name: 'read_file',
      action: 'read',
      resource: '/srv/data/report.txt',
      parameters: {
        path: '/srv/data/report.txt',
        entries: Array.from({ length: entries }, (_, i) => ({
          name: `entry ${i}`,
          value: `text ${i} of the entry`,
          at: i,
        })),
      },
      mcp_server: 'files',
      method: 'tools/call',
    },
    requester: { id: null, verified: false },
    workflow: null,
    delegation: null,
    dlp: { findings_count: 0, max_severity: null, patterns: [] },
    context: {
      time: '2026-03-04T05:06:07.089Z',
      data_plane: 'plane-1',
      region: 'eu',
      model: null,
      agent_role: null,
    },
  };
}
