/**
 * A held call: judged and recorded, held, and judged again with what a person has said. The plane is
 * the product's; the control plane is the facts that it would send.
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createHeldCalls } from '../../holds/held-calls.ts';
import { MAX_HELD } from '../../holds/hold-table.ts';
import { REAL_CLIENTS } from '../../testing/test-client.ts';
import { type Asked, createHoldDriver } from '../../testing/test-holds.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
const driver = createHoldDriver('hold_opened', 'delete_thing', () => ({ plane, upstream, agent }));
const { call, readRecords, opened, held, decide, leftHeld, sent } = driver;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await driver.begin();
  agent = newAgent();
});

/** The baseline pack escalates what an agent of high risk destroys. */
const newAgent = () => plane.addAgent(['*:*'], { risk_tier: 'high' });

const decisions = async () =>
  (await readRecords()).flatMap((one) =>
    one.type === 'decision' && one.v === 2
      ? [[one.policy_result, one.escalation_id, one.grant_id] as const]
      : [],
  );

describe('a call that waits', () => {
  it('is sent once when it was approved, with a decision for each judgement', async () => {
    const waiting = call({ args: { id: 7 } });
    const hold = await held();
    expect(sent()).toBe(0);
    expect(plane.held.countPending(plane.tenantId)).toBe(1);
    const grant = decide(hold, 'approved');
    expect((await waiting).result).toBeDefined();
    expect(sent()).toBe(1);
    const { escalation_id } = hold;
    expect(await decisions()).toEqual([
      ['escalate', escalation_id, null],
      ['allow', null, grant],
    ]);
    const [decision] = driver.records.filter((one) => one.type === 'decision');
    expect(hold).toMatchObject({
      event_id: decision?.id,
      instruction_hash: decision?.instruction_hash,
      agent_id: agent.id,
      mcp_server: 'up',
      method: 'tools/call',
      tool_name: 'delete_thing',
      risk_tier: 'high',
      held: 'call',
    });
    // An agent of high risk: 15 minutes.
    const minutes = (Date.parse(hold.timeout_at) - Date.parse(hold.timestamp)) / 60_000;
    expect(minutes).toBeCloseTo(15, 1);
    expect(plane.held.countPending(plane.tenantId)).toBe(0);
    expect(plane.ledger.readHolds(plane.tenantId)).toEqual([]);
    // The approval was for that one call: the next one asks again.
    await leftHeld({ args: { id: 7 } });
    expect(sent()).toBe(1);
  });

  it('has the finding in its pieces at each judgement', async () => {
    for (const [index, note] of ['ghp_aB3dE5fG7h', 'J9kL1mN2pQ4rS6tU8vW0xYz1Ab'].entries()) {
      const waiting = call({ args: { note } });
      decide(await held(index + 1), 'approved');
      expect((await waiting).result).toBeDefined();
    }
    const found = (await readRecords()).flatMap((one) =>
      one.type === 'decision' && one.v === 2 ? [[one.policy_result, one.dlp_findings_count]] : [],
    );
    expect(found).toEqual([
      ['escalate', 0],
      ['allow', 0],
      ['escalate', 1],
      ['allow', 1],
    ]);
  });

  it('is refused when it was denied, also when the client asks again', async () => {
    const waiting = call();
    const hold = await held();
    decide(hold, 'denied');
    const data = { resolution: 'denied', escalation_id: hold.escalation_id };
    expect((await waiting).error).toMatchObject({ code: -32004, data });
    expect((await call()).error).toMatchObject({ code: -32004, data });
    expect(await opened()).toHaveLength(1);
    expect(sent()).toBe(0);
  });

  it('is refused when nobody decided, and then asks a person again', async () => {
    const waiting = call();
    const hold = await held();
    decide(hold, 'timed_out');
    const data = { resolution: 'timed_out', escalation_id: hold.escalation_id };
    expect((await waiting).error).toMatchObject({ code: -32004, data });
    expect((await leftHeld()).escalation_id).not.toBe(hold.escalation_id);
    expect(sent()).toBe(0);
  });

  it('is refused when it was approved and its agent may not act any more', async () => {
    const waiting = call();
    const hold = await held();
    plane.engageKillSwitch(true);
    decide(hold, 'approved');
    const { error } = await waiting;
    plane.engageKillSwitch(false);
    expect(error.code).toBe(-32000);
    expect(sent()).toBe(0);
    // The approval was not used: who asks in time has it.
    expect((await call()).result).toBeDefined();
    expect(sent()).toBe(1);
  });

  it('is denied by a policy that came in the meantime', async () => {
    const waiting = call();
    const hold = await held();
    const baseline = plane.policies();
    await plane.setPolicies([...baseline, policy('deny contains "not today" if true')]);
    decide(hold, 'approved');
    expect((await waiting).error).toMatchObject({ code: -32003 });
    await plane.setPolicies(baseline);
    expect(sent()).toBe(0);
  });

  it('asks again for a reason that the person did not see', async () => {
    const waiting = call();
    const first = await held();
    const baseline = plane.policies();
    await plane.setPolicies([...baseline, policy('escalate contains "look here" if true')]);
    decide(first, 'approved');
    const second = await held(2);
    expect(second.reason).toContain('look here');
    expect(sent()).toBe(0);
    decide(second, 'approved');
    expect((await waiting).result).toBeDefined();
    await plane.setPolicies(baseline);
    expect(sent()).toBe(1);
  });

  it('asks again when the server is registered at another address', async () => {
    const waiting = call();
    const first = await held();
    plane.setServers([HTTP_SERVER('up', `${upstream.url}?moved`)]);
    decide(first, 'approved');
    await held(2);
    plane.held.endWaits();
    expect((await waiting).error.data.resolution).toBe('pending');
    plane.setServers([HTTP_SERVER('up', upstream.url)]);
    expect(sent()).toBe(0);
  });

  it('goes for one of the requests that wait for it', async () => {
    const first = call();
    const hold = await held();
    const second = call();
    await vi.waitFor(async () => expect(await decisions()).toHaveLength(2));
    decide(hold, 'approved');
    const answers = await Promise.all([first, second]);
    expect(answers.filter(({ result }) => result)).toHaveLength(1);
    const refused = answers.find(({ error }) => error);
    expect(refused?.error).toMatchObject({ code: -32004, data: { resolution: 'approved' } });
    expect(await opened()).toHaveLength(1);
    expect(sent()).toBe(1);
  });
});

describe('a client that comes back', () => {
  it('joins the hold while it is pending, and has the approval then', async () => {
    const hold = await leftHeld();
    const waiting = call();
    await vi.waitFor(async () => expect(await decisions()).toHaveLength(2));
    plane.held.endWaits();
    expect((await waiting).error.data).toMatchObject({
      resolution: 'pending',
      escalation_id: hold.escalation_id,
    });
    decide(hold, 'approved');
    expect(sent()).toBe(0);
    expect((await call()).result).toBeDefined();
    expect(sent()).toBe(1);
    expect(await opened()).toHaveLength(1);
  });

  it('had gone away: no call runs without a client', async () => {
    const leaving = new AbortController();
    const params = { name: 'delete_thing', arguments: {} };
    const gone = fetch(`${plane.url}/mcp/v1/up`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: agent.basic,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
      signal: leaving.signal,
    }).catch(() => 'gone');
    const hold = await held();
    leaving.abort();
    expect(await gone).toBe('gone');
    await vi.waitFor(() => expect(plane.held.countWaiting(plane.tenantId)).toBe(0));
    expect(plane.held.countPending(plane.tenantId)).toBeGreaterThan(0);
    decide(hold, 'approved');
    expect(sent()).toBe(0);
    expect((await call()).result).toBeDefined();
    expect(sent()).toBe(1);
  });

  it('had cancelled: that only leaves the hold', async () => {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${plane.url}/mcp/v1/up`), {
      requestInit: { headers: { authorization: agent.basic } },
    });
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    const leaving = new AbortController();
    const tool = { name: 'delete_thing', arguments: {} };
    const cancelled = client
      .callTool(tool, undefined, { signal: leaving.signal })
      .catch(() => 'cancelled');
    const hold = await held();
    leaving.abort();
    expect(await cancelled).toBe('cancelled');
    await vi.waitFor(() => expect(plane.held.countWaiting(plane.tenantId)).toBe(0));
    decide(hold, 'approved');
    expect(sent()).toBe(0);
    expect(await client.callTool(tool)).toHaveProperty('content');
    expect(sent()).toBe(1);
    await client.close();
  });

  it('comes too late for an approval, and asks a person again', async () => {
    const hold = await leftHeld();
    decide(hold, 'approved', { lastsMs: -1 });
    const other = await leftHeld();
    expect(other.escalation_id).not.toBe(hold.escalation_id);
    expect(sent()).toBe(0);
  });

  it.each<[string, () => Asked]>([
    ['other arguments', () => ({ args: { id: 8 } })],
    ['another agent', () => ({ args: { id: 7 }, by: newAgent() })],
    ['another requester', () => ({ args: { id: 7 }, headers: { 'x-requester-id': 'eve' } })],
  ])('has no approval for %s', async (_what, asked) => {
    const hold = await leftHeld({ args: { id: 7 } });
    decide(hold, 'approved');
    await leftHeld(asked());
    expect(sent()).toBe(0);
  });

  it('finds its approval after a restart of the data plane', async () => {
    const hold = await leftHeld({ args: { id: 9 } });
    // What a start does: it reads what is on disk.
    const { ledger, tenantId, replica } = plane;
    const before = ledger.readHolds(tenantId);
    expect(before.some((text) => text.includes(hold.escalation_id))).toBe(true);
    const restarted = createHeldCalls({ ledger, replica, now: Date.now });
    restarted.load(tenantId);
    expect(restarted.countPending(tenantId)).toBe(plane.held.countPending(tenantId));
    decide(hold, 'approved');
    expect(restarted.countPending(tenantId)).toBe(plane.held.countPending(tenantId));
    restarted.stop();
  });
});

it('refuses calls beyond what an agent may have waiting', async () => {
  const calls = Array.from({ length: MAX_HELD.ofAgent }, (_, n) => call({ args: { n } }));
  await held(MAX_HELD.ofAgent);
  const { error } = await call({ args: { n: -1 } });
  expect(error).toMatchObject({
    code: -32004,
    data: { resolution: 'denied', reason: 'too_many_held' },
  });
  expect(await opened()).toHaveLength(MAX_HELD.ofAgent);
  plane.held.endWaits();
  await Promise.all(calls);
});

it.each(Object.entries(REAL_CLIENTS))('%s learns of it while it waits', async (_name, connect) => {
  const client = await connect(`${plane.url}/mcp/v1/up`, agent.basic);
  const told: number[] = [];
  const calling = client.callTool('delete_thing', {}, ({ progress }) => told.push(progress));
  const hold = await held();
  await vi.waitFor(() => expect(told.length).toBeGreaterThan(0));
  decide(hold, 'approved');
  expect(await calling).toHaveProperty('content');
  await client.close();
  expect(sent()).toBe(1);
});

function policy(rule: string) {
  const id = '0190aaaa-0000-7000-8000-0000000000ff';
  return { id, name: 'meanwhile', rego: `package meanwhile\n\n${rule}\n` };
}
