/**
 * The same call at two data planes of a tenant: one holds it, the other answers with its state
 * there. The test carries the control plane's facts from the first to the second.
 */
import { hash } from 'node:crypto';
import type { HeldCallFact } from '@governance/shared/channel/facts';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { HOLD_INJECTIONS, INJECTED_PAGE } from '../testing/test-holds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

type Opened = Extract<LedgerRecord, { type: 'hold_opened' | 'result_held' }>;

let upstream: TestUpstream;
let holder: TestPlane;
let other: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'delete_thing' }, INJECTED_PAGE],
  });
  const servers = [HTTP_SERVER('up', upstream.url)];
  holder = await startTestPlane({ servers });
  other = await startTestPlane({ servers, config: { holdWaitMs: 300 } });
  for (const plane of [holder, other]) {
    plane.setSettings({ inbound: { actions: HOLD_INJECTIONS, rules: [] } });
  }
});

afterAll(async () => {
  await holder?.stop();
  await other?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await holder.records();
  upstream.seen.length = 0;
  agent = holder.addAgent(['*:*'], { risk_tier: 'high' });
  const { id, clientId: client_id, secret } = agent;
  const secret_hash = hash('sha256', secret, 'hex');
  other.addAgent(['*:*'], { risk_tier: 'high', id, client_id, secret_hash });
});

type Tool = 'delete_thing' | 'read_page';

async function call(plane: TestPlane, name: Tool, args: object = {}) {
  const params = { name, arguments: args };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return (await plane.post('/mcp/v1/up', message, { authorization: agent.basic })).json;
}

/** Has the first data plane hold a call, or its result. */
async function heldAt(name: Tool): Promise<Opened & { binding: string }> {
  const waiting = call(holder, name);
  const records: LedgerRecord[] = [];
  const isOpened = (one: LedgerRecord): one is Opened =>
    one.type === 'hold_opened' || one.type === 'result_held';
  await vi.waitFor(async () => {
    records.push(...(await holder.records()));
    expect(records.some(isOpened)).toBe(true);
  });
  holder.held.endWaits();
  expect((await waiting).error.data.resolution).toBe('pending');
  const opened = records.find(isOpened);
  expect(opened?.binding).toMatch(/^[0-9a-f]{64}$/);
  return opened as Opened & { binding: string };
}

function tell(hold: Opened & { binding: string }, over: Partial<HeldCallFact> = {}): void {
  const fact: HeldCallFact = {
    escalation_id: hold.escalation_id,
    deployment_id: holder.deploymentId,
    agent_id: hold.agent_id,
    held: hold.type === 'result_held' ? 'result' : 'call',
    status: 'pending',
    timeout_at: hold.timeout_at,
    told_until: over.status ? new Date(Date.now() + 600_000).toISOString() : null,
    ...over,
  };
  other.apply('optional.held_call', hold.binding, fact);
}

const sent = () => upstream.messages('tools/call').length;
const openedAtOther = async () =>
  (await other.records()).filter(({ type }) => type === 'hold_opened' || type === 'result_held');

it.each([
  ['denied', 'denied', 'A person denied the call.'],
  // Whether it was used is known where it is held.
  ['approved', 'approved', 'The approval can be used once, at the worker or data plane that holds'],
] as const)('a call that is pending elsewhere, then %s', async (status, resolution, text) => {
  const hold = await heldAt('delete_thing');
  tell(hold);
  const named = { escalation_id: hold.escalation_id };
  expect((await call(other, 'delete_thing')).error).toMatchObject({
    code: -32004,
    data: { resolution: 'pending', ...named, timeout_at: hold.timeout_at },
  });
  tell(hold, { status });
  const data = { resolution, ...named };
  const { error } = await call(other, 'delete_thing');
  expect(error).toMatchObject({ code: -32004, data });
  expect(error.message).toContain(text);
  expect(await openedAtOther()).toEqual([]);
  expect(sent()).toBe(0);
});

it('is answered when it ends while a request waits', async () => {
  const hold = await heldAt('delete_thing');
  tell(hold);
  const waiting = call(other, 'delete_thing');
  tell(hold, { status: 'denied' });
  expect((await waiting).error.data).toMatchObject({ resolution: 'denied' });
});

it('a call that timed out elsewhere learns it once, and then asks again', async () => {
  const hold = await heldAt('delete_thing');
  tell(hold, { status: 'timed_out' });
  expect((await call(other, 'delete_thing')).error.data).toMatchObject({
    resolution: 'timed_out',
    escalation_id: hold.escalation_id,
  });
  const { error } = await call(other, 'delete_thing');
  expect(error.data.resolution).toBe('pending');
  expect(error.data.escalation_id).not.toBe(hold.escalation_id);
  expect(await openedAtOther()).toHaveLength(1);
});

it.each([
  ['pending', 'pending'],
  ['approved', 'released'],
  ['denied', 'blocked'],
] as const)('a result that is %s elsewhere is not asked for again', async (status, resolution) => {
  const hold = await heldAt('read_page');
  expect(sent()).toBe(1);
  tell(hold, status === 'pending' ? {} : { status });
  expect((await call(other, 'read_page')).error).toMatchObject({
    code: -32004,
    data: { resolution, held: 'result', escalation_id: hold.escalation_id },
  });
  expect(sent()).toBe(1);
  // Another call is unaffected.
  const { error } = await call(other, 'read_page', { page: 2 });
  expect(error.data.escalation_id).not.toBe(hold.escalation_id);
  expect(sent()).toBe(2);
});

it('is another call for another agent', async () => {
  const hold = await heldAt('delete_thing');
  tell(hold, { status: 'denied' });
  agent = other.addAgent(['*:*'], { risk_tier: 'high' });
  expect((await call(other, 'delete_thing')).error.data.resolution).toBe('pending');
});
