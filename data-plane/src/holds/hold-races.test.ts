/**
 * Races over held calls and held results with the product's own ledger, replica and files: approve,
 * deny, time-out, cancel, retry and restart of the data plane, in any order. One end wins, and at most
 * one request goes for it: a call is sent once, a result is handed over once and its server called
 * once.
 */
import type { EscalationFact } from '@governance/shared/channel/facts';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { decideHold, HOLD_INJECTIONS, INJECTED_PAGE } from '../testing/test-holds.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

const RUNS = 12;

let upstream: TestUpstream;
let plane: TestPlane;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'delete_thing' }, INJECTED_PAGE],
  });
  await start();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

/** Restarts with the same files, address and facts. */
async function start(place?: TestPlane['place']): Promise<void> {
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] }, place);
  plane.setSettings({ inbound: { actions: HOLD_INJECTIONS, rules: [] } });
}

async function restart(): Promise<void> {
  await plane.leave();
  await start(plane.place);
}

type Step = 'approve' | 'deny' | 'time out' | 'retry' | 'cancel' | 'leave' | 'restart';
const STEPS: Step[] = [
  'approve',
  'deny',
  'time out',
  'retry',
  'retry',
  'cancel',
  'leave',
  'restart',
];
const RESOLUTIONS = { approve: 'approved', deny: 'denied', 'time out': 'timed_out' } as const;

type Opened = Extract<LedgerRecord, { type: 'hold_opened' | 'result_held' }>;
const isOpened = (one: LedgerRecord): one is Opened =>
  one.type === 'hold_opened' || one.type === 'result_held';

async function race(tool: 'delete_thing' | 'read_page', steps: readonly Step[]) {
  const agent = plane.addAgent(['*:*'], { risk_tier: 'high' });
  upstream.seen.length = 0;
  const records: LedgerRecord[] = [];
  const read = async () => {
    records.push(...(await plane.records()));
    return records;
  };
  await read();
  records.length = 0;
  const answers: Promise<Record<string, unknown> | 'gone'>[] = [];
  const leaving: AbortController[] = [];
  const request = () => {
    const abort = new AbortController();
    leaving.push(abort);
    const params = { name: tool, arguments: {} };
    const answer = fetch(`${plane.url}/mcp/v1/up`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: agent.basic,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: abort.signal,
    });
    answers.push(
      answer
        .then((got) => got.json() as Promise<Record<string, unknown>>)
        .catch(() => 'gone' as const),
    );
  };
  request();
  await vi.waitFor(async () => expect((await read()).some(isOpened)).toBe(true));
  const [hold] = records.filter(isOpened);
  const { escalation_id } = hold as Opened;

  /** The row at the control plane is resolved once: the first resolution wins. */
  let won: EscalationFact['resolution'] | null = null;
  const resolve = (resolution: EscalationFact['resolution']) => {
    if (won !== null) return;
    won = resolution;
    const release = tool === 'read_page' && resolution === 'approved' ? 'original' : undefined;
    decideHold(plane, { escalation_id }, resolution, { release });
  };

  for (const step of steps) {
    if (step === 'retry') request();
    else if (step === 'cancel') leaving.at(-1)?.abort();
    else if (step === 'leave') plane.held.endWaits();
    else if (step === 'restart') await restart();
    else resolve(RESOLUTIONS[step]);
    await new Promise((done) => setImmediate(done));
  }
  resolve('denied');
  // Waiting requests learn of it; a new hold of a repeated call remains.
  let isSettled = false;
  const settled = Promise.all(answers).then(() => {
    isSettled = true;
  });
  await vi.waitFor(() => {
    plane.held.endWaits();
    expect(isSettled).toBe(true);
  });
  await settled;
  const sent = upstream.messages('tools/call').length;
  // Everything sent so far has its decision on disk.
  await read();
  const opened = records.filter(isOpened);
  const used = records.filter(
    (one) => one.type === 'decision' && one.v === 2 && one.grant_id !== null,
  );
  return {
    won: won as EscalationFact['resolution'] | null,
    ofFirst: opened.filter((one) => one.escalation_id === escalation_id).length,
    used: used.length,
    sent,
    handedOver: (await Promise.all(answers)).filter((one) => one !== 'gone' && 'result' in one)
      .length,
  };
}

const steps = fc.array(fc.constantFrom(...STEPS), { minLength: 1, maxLength: 8 });

it('a held call is sent at most once, and only where an approval won', async () => {
  const property = fc.asyncProperty(steps, async (order) => {
    const end = await race('delete_thing', order);
    expect(end.ofFirst).toBe(1);
    expect(end.used).toBeLessThanOrEqual(1);
    expect(end.sent).toBeLessThanOrEqual(end.used);
    if (end.won !== 'approved') expect(end.used).toBe(0);
    expect(end.handedOver).toBeLessThanOrEqual(end.sent);
  });
  await fc.assert(property, { numRuns: RUNS });
}, 120_000);

it('a held result is handed over at most once, and only where a release won', async () => {
  const property = fc.asyncProperty(steps, async (order) => {
    const end = await race('read_page', order);
    expect(end.ofFirst).toBe(1);
    // After a time-out, or once it was handed over, the same call counts as a new one.
    if (end.won === 'denied') expect(end.sent).toBe(1);
    expect(end.used).toBeLessThanOrEqual(1);
    if (end.won !== 'approved') expect(end.used).toBe(0);
    expect(end.handedOver).toBeLessThanOrEqual(end.used);
  });
  await fc.assert(property, { numRuns: RUNS });
}, 120_000);
