/**
 * `npm run test:soak`: both planes under load for minutes, with their memory recorded. Sessions
 * come and go, agents and a server change, so that a leak per session or change would show.
 *
 * SOAK_SECONDS (600), SOAK_CALLERS (8)
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import { residentMiB } from '../../tests/support/process-cpu.ts';
import { openSessionSoon } from './kill-rounds.ts';
import { twoPlanesSubject } from './kill-subject.ts';
import { startMarkedBackend } from './marked-backend.ts';
import { connectTo, makeMarkedCall, setUpMarkedCalls } from './marked-calls.ts';

const seconds = Number(process.env.SOAK_SECONDS ?? 600);
const callers = Number(process.env.SOAK_CALLERS ?? 8);
/** Calls in a session before its client opens another. */
const CALLS_A_SESSION = 500;
const SAMPLES = 20;
/**
 * Growth from the middle third to the last that is not yet a leak, allowing for what a collection
 * leaves.
 */
const ALLOWED = { share: 0.1, mib: 30 };

const backend = await startMarkedBackend();
const subject = await twoPlanesSubject();
let acknowledged = 0;
const samples: Record<'controlPlane' | 'dataPlane', number>[] = [];
let problems: string[] = [];
let failures = 0;
let done = false;
let next = 0;

try {
  const admin = await subject.admin();
  const authorization = await setUpMarkedCalls(admin, backend.port);
  const load = [...Array.from({ length: callers }, () => call(authorization)), change(admin)];
  for (let i = 1; i <= SAMPLES; i++) {
    await sleep((seconds * 1_000) / SAMPLES);
    backend.take();
    const { controlPlane, dataPlane } = subject.pids();
    const sample = { controlPlane: residentMiB(controlPlane), dataPlane: residentMiB(dataPlane) };
    samples.push(sample);
    const shown = `control plane ${sample.controlPlane.toFixed(0)} MiB, data plane ${sample.dataPlane.toFixed(0)} MiB`;
    console.log(
      `  ${Math.round((i * seconds) / SAMPLES)} s: ${acknowledged} calls, ${failures} failed, ${shown}`,
    );
  }
  done = true;
  await Promise.all(load);
  problems = [
    ...(failures > 0 ? [`${failures} calls failed`] : []),
    ...findGrowth('controlPlane'),
    ...findGrowth('dataPlane'),
    ...(await findLost(admin)),
  ];
} finally {
  await subject.dispose();
  await backend.close();
}
console.log(`${acknowledged} calls in ${seconds} s, ${problems.length} problems`);
for (const problem of problems) console.log(`  ${problem}`);
process.exit(problems.length === 0 ? 0 : 1);

async function call(authorization: string): Promise<void> {
  while (!done) {
    const client = connectTo(subject.gatewayUrl());
    const headers = await openSessionSoon(subject.gatewayUrl(), authorization);
    for (let i = 0; i < CALLS_A_SESSION && !done; i++) {
      const n = next++;
      if (await makeMarkedCall(client, headers, n)) acknowledged++;
      else failures++;
    }
    await client.close();
  }
}

/** Facts that change all the time. */
async function change(admin: AdminApi): Promise<void> {
  for (let i = 0; !done; i++) {
    const { id } = await admin.post<{ id: string }>('/api/v1/agents', {
      ...{ name: `soak-${i}`, agent_type: 'test', owner: 'soak', description: 'Comes and goes' },
    });
    await admin.patch(`/api/v1/agents/${id}`, { status: 'suspended' });
    await admin.patch('/api/v1/mcp-servers/marked', {
      url: `http://127.0.0.1:${backend.port}/mcp?v=${i % 2}`,
    });
    await sleep(2_000);
  }
}

/**
 * Waits until everything has been shipped; then each call has a decision and an outcome in the
 * chain.
 */
async function findLost(admin: AdminApi): Promise<string[]> {
  const health = async () => {
    const response = await fetch(`${subject.gatewayUrl()}/health`);
    const { tenants } = (await response.json()) as { tenants: { shipper: { backlog: number } }[] };
    return tenants.reduce((sum, { shipper }) => sum + shipper.backlog, 0);
  };
  for (let i = 0; i < 240 && (await health()) > 0; i++) await sleep(500);
  const { valid, streams } = await admin.get<{
    valid: boolean;
    streams: { kind: string; records: number }[];
  }>('/api/v1/audit/verify?fresh=true');
  const records = streams.find(({ kind }) => kind === 'data_plane')?.records ?? 0;
  return [
    ...(records < 2 * acknowledged ? [`${records} records of ${acknowledged} calls`] : []),
    ...(valid ? [] : ["the control plane's chain is broken"]),
  ];
}

function findGrowth(plane: 'controlPlane' | 'dataPlane'): string[] {
  const of = (from: number, to: number) => {
    const part = samples.slice(from, to).map((sample) => sample[plane]);
    return part.toSorted((a, b) => a - b)[Math.floor(part.length / 2)] ?? 0;
  };
  const third = Math.floor(SAMPLES / 3);
  const middle = of(third, 2 * third);
  const last = of(SAMPLES - third, SAMPLES);
  console.log(
    `${plane}: median ${middle.toFixed(0)} MiB in the middle, ${last.toFixed(0)} MiB last`,
  );
  const isGrown = last > middle * (1 + ALLOWED.share) + ALLOWED.mib;
  return isGrown ? [`${plane} grew from ${middle.toFixed(0)} to ${last.toFixed(0)} MiB`] : [];
}
