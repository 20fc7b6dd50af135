/**
 * `npm run test:outage`: the control plane is stopped under load for the given time, and restarted.
 * Agents get their tokens from the data plane and keep calling; no call may fail because of the
 * outage, and everything recorded meanwhile must reach the control plane exactly once.
 *
 * OUTAGE_SECONDS (120), OUTAGE_RATE (100 calls a second), OUTAGE_TOKEN_SECONDS (20: how long an
 * agent keeps a token)
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { checkControlPlane, openSessionSoon } from './kill-rounds.ts';
import { type TwoPlanesSubject, twoPlanesSubject } from './kill-subject.ts';
import { startMarkedBackend } from './marked-backend.ts';
import { connectTo, makeMarkedCall, setUpMarkedCalls } from './marked-calls.ts';

const seconds = Number(process.env.OUTAGE_SECONDS ?? 120);
const rate = Number(process.env.OUTAGE_RATE ?? 100);
const tokenSeconds = Number(process.env.OUTAGE_TOKEN_SECONDS ?? 20);
const CALLERS = 8;
/** Time under load before the outage and after it. */
const AROUND_SECONDS = 15;
/** A backlog that has not shrunk for this long is stuck. */
const STANDSTILL_MS = 60_000;

type Phase = 'before' | 'during' | 'after';

const backend = await startMarkedBackend();
const subject = await twoPlanesSubject();
const acknowledged = new Set<number>();
const times: Record<Phase, number[]> = { before: [], during: [], after: [] };
const problems: string[] = [];
let tokens = 0;
let phase: Phase = 'before';
let done = false;
let next = 0;

try {
  const basic = await setUpMarkedCalls(await subject.admin(), backend.port);
  await openSessionSoon(subject.gatewayUrl(), basic);
  const callers = Array.from({ length: CALLERS }, (_, index) =>
    // One caller keeps using Basic, which needs no token.
    call(index === 0 ? null : basic, basic),
  );
  await sleep(AROUND_SECONDS * 1_000);
  phase = 'during';
  await subject.stopControlPlane();
  console.log(`control plane stopped for ${seconds} s, ${rate} calls a second`);
  for (let passed = 0; passed < seconds; passed += 10) {
    await sleep(Math.min(10, seconds - passed) * 1_000);
    if (passed % 60 === 50) {
      console.log(`  ${passed + 10} s: ${acknowledged.size} calls, ${problems.length} problems`);
    }
  }
  await subject.startControlPlane();
  const back = Date.now();
  const most = await backlogOf(subject);
  phase = 'after';
  const drained = await drain(subject, back);
  await sleep(AROUND_SECONDS * 1_000);
  done = true;
  await Promise.all(callers);
  problems.push(...(await checkControlPlane(await subject.admin(), acknowledged)));
  report(most, drained);
} finally {
  await subject.dispose();
  await backend.close();
}
process.exit(problems.length === 0 ? 0 : 1);

/** Calls until told to stop; with client credentials, it gets a new token at intervals. */
async function call(credentials: string | null, basic: string): Promise<void> {
  const client = connectTo(subject.gatewayUrl());
  const headers = await openSessionSoon(subject.gatewayUrl(), basic);
  let renewAt = 0;
  while (!done) {
    const n = next++;
    const began = performance.now();
    try {
      if (credentials && Date.now() >= renewAt) {
        headers.authorization = `Bearer ${await takeToken(credentials)}`;
        renewAt = Date.now() + tokenSeconds * 1_000;
      }
      if (await makeMarkedCall(client, headers, n)) acknowledged.add(n);
      else problems.push(`call ${n} (${phase}) was refused`);
    } catch (error) {
      problems.push(`call ${n} (${phase}): ${String(error)}`);
    }
    const took = performance.now() - began;
    times[phase].push(took);
    await sleep(Math.max(0, (CALLERS * 1_000) / rate - took));
  }
  await client.close();
}

/** Issued by the data plane itself. */
async function takeToken(credentials: string): Promise<string> {
  const response = await fetch(`${subject.gatewayUrl()}/api/v1/auth/token`, {
    method: 'POST',
    headers: {
      authorization: credentials,
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`no token: ${response.status} ${text}`);
  tokens++;
  return (JSON.parse(text) as { access_token: string }).access_token;
}

async function backlogOf({ gatewayUrl }: TwoPlanesSubject): Promise<number> {
  const response = await fetch(`${gatewayUrl()}/health`);
  const { tenants } = (await response.json()) as { tenants: { shipper: { backlog: number } }[] };
  return tenants.reduce((sum, { shipper }) => sum + shipper.backlog, 0);
}

/**
 * Waits until the backlog is no more than about a second of this load makes. Returns how long it
 * took, in ms.
 */
async function drain(plane: TwoPlanesSubject, since: number): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  let shrankAt = Date.now();
  for (;;) {
    const backlog = await backlogOf(plane);
    if (backlog <= rate * 3) break;
    if (backlog < fewest) {
      fewest = backlog;
      shrankAt = Date.now();
    }
    if (Date.now() - shrankAt > STANDSTILL_MS) {
      problems.push(`the backlog has not shrunk below ${fewest} for ${STANDSTILL_MS} ms`);
      break;
    }
    await sleep(100);
  }
  return Date.now() - since;
}

function report(most: number, drainedMs: number): void {
  console.log(`calls acknowledged   ${acknowledged.size}, failed or lost ${problems.length}`);
  console.log(`tokens               ${tokens} from the data plane`);
  console.log(`backlog              ${most} records, drained ${drainedMs} ms after /ready`);
  for (const [name, all] of Object.entries(times)) {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number) =>
      (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1);
    console.log(`${name.padEnd(20)} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  }
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
}
