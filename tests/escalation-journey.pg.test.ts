/**
 * A call that waits for a person, with a control plane and a data plane as processes of their own
 * and real MCP clients of both eras: approved, denied, approved while the data plane restarts, and
 * asked for at another data plane.
 */
import { REAL_CLIENTS, type RealClient } from '@governance/data-plane/testing/test-client';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { connectTo } from '../scripts/durability/marked-calls.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  basicOf,
  issueDataPlaneToken,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Escalation {
  id: string;
  status: string;
  tool_name: string;
  reason: string;
  grant: { id: string } | null;
}

const database = await testDatabase();
const controlPlaneEnv = {
  SERVICE_DEPLOYMENT_MODE: 'control-plane',
  DATABASE_URL: database.url,
  ...tokenKeyPems(),
};
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let plane: ServiceProcess;
let dataPlaneEnv: Record<string, string>;
let admin: AdminApi;
let basic: string;
let roleId: string;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  controlPlane = await startService({ env: controlPlaneEnv });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  await registerServer(admin, upstream.url);
  await admin.post('/api/v1/policies', {
    name: 'careful',
    description: '',
    status: 'active',
    rego_content:
      'package careful\n\nescalate contains "a person decides" if input.request.action == "delete"\n',
  });
  roleId = await registerRole(admin, 'deleter', 'up:*');
  basic = basicOf(await registerAgent(admin, 'deleter', roleId));
  dataPlaneEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
    // A call is held by one of them, whichever its clients reach.
    SERVICE_WORKERS: '2',
  };
  plane = await startService({ env: dataPlaneEnv });
  await bothAreUp();
}, 90_000);

afterAll(async () => {
  await plane?.dispose();
  await controlPlane?.dispose();
  await upstream?.stop();
});

/** A worker that is away is waited for by the other one, and not for ever. */
async function bothAreUp(): Promise<void> {
  await vi.waitFor(async () => {
    const metrics = await (await fetch(`${plane.url}/metrics`)).text();
    expect(metrics).toContain('governance_workers{state="up"} 2');
  }, 60_000);
}

const waiting = async (): Promise<Escalation[]> => {
  const path = '/api/v1/escalations?status=pending';
  return (await admin.get<{ escalations: Escalation[] }>(path)).escalations;
};
const pending = async (): Promise<Escalation> => {
  await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), 20_000);
  return (await waiting())[0] as Escalation;
};
const decide = ({ id }: Escalation, what: 'approve' | 'deny') =>
  admin.post<Escalation>(`/api/v1/escalations/${id}/${what}`, { notes: 'seen' });
const sent = () => upstream.messages('tools/call').length;

async function connect(name: keyof typeof REAL_CLIENTS): Promise<RealClient> {
  const client = REAL_CLIENTS[name];
  return client(`${plane.url}/mcp/v1/up`, basic);
}

it.each(['SDK v1', 'SDK v2, modern'] as const)('%s waits for a person', async (name) => {
  const client = await connect(name);
  const before = sent();
  const args = { by: name };
  const approved = client.callTool('delete_thing', args);
  const first = await pending();
  expect(first).toMatchObject({ tool_name: 'delete_thing', status: 'pending', grant: null });
  expect(first.reason).toContain('a person decides');
  expect(sent()).toBe(before);
  await decide(first, 'approve');
  expect(await approved).toHaveProperty('content');
  expect(sent()).toBe(before + 1);
  // The event that used the approval names it.
  const { grant } = await admin.get<Escalation>(`/api/v1/escalations/${first.id}`);
  await vi.waitFor(async () => {
    const { events } = await admin.get<{ events: { grant_id: string | null }[] }>(
      '/api/v1/audit/events?policy_result=allow',
    );
    expect(events.map(({ grant_id }) => grant_id)).toContain(grant?.id);
  }, 20_000);

  const denied = client.callTool('delete_thing', args).catch((error: unknown) => error);
  await decide(await pending(), 'deny');
  expect(await denied).toMatchObject({ code: -32004, data: { resolution: 'denied' } });
  expect(sent()).toBe(before + 1);
  await client.close();
});

interface Sender {
  by?: string;
  session?: string;
  signal?: AbortSignal;
}

/** On a connection of its own: connections go round among the workers. */
async function post(method: string, params: object, { by = basic, session, signal }: Sender = {}) {
  const connection = connectTo(plane.url);
  const headers = {
    authorization: by,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const path = '/mcp/v1/up';
  const answer = await connection.request({ method: 'POST', path, headers, body, signal });
  const json = (await answer.body.json()) as Record<string, unknown>;
  await connection.close();
  return { json, session: String(answer.headers['mcp-session-id']) };
}

const callOnce = async (args: object, sender?: Sender) =>
  (await post('tools/call', { name: 'delete_thing', arguments: args }, sender)).json;

it('is one escalation at all workers of a data plane, used once', async () => {
  const before = sent();
  const call = () => callOnce({ at: 'any worker' });
  const first = call();
  const hold = await pending();
  const others = [call(), call(), call()];
  // Each joins with a decision of its own.
  await vi.waitFor(async () => {
    const { events } = await admin.get<{ events: { escalation_id: string | null }[] }>(
      '/api/v1/audit/events?policy_result=escalate',
    );
    const joined = events.filter(({ escalation_id }) => escalation_id === hold.id);
    expect(joined).toHaveLength(4);
  }, 20_000);
  await pending();
  await decide(hold, 'approve');
  const answers = await Promise.all([first, ...others]);
  expect(answers.filter((answer) => 'result' in answer)).toHaveLength(1);
  expect(sent()).toBe(before + 1);
});

it('can use approvals at two workers, whatever waits at the other one', async () => {
  // Nothing is held of this agent yet, so its sessions are wherever its connections arrive.
  const by = basicOf(await registerAgent(admin, 'at two workers', roleId));
  const sessions = await sessionsAtBoth(by);
  // A call within a session is held by the worker of the session.
  const holdAt = async (session: string, args: object) => {
    const known = new Set((await waiting()).map(({ id }) => id));
    const isNew = ({ id }: Escalation) => !known.has(id);
    const client = new AbortController();
    const left = callOnce(args, { by, session, signal: client.signal }).catch(() => 'left');
    await vi.waitFor(async () => expect((await waiting()).some(isNew)).toBe(true), 20_000);
    // No request waits for the approval.
    client.abort();
    expect(await left).toBe('left');
    const hold = (await waiting()).find(isNew) as Escalation;
    await hasHeardOf(plane, hold);
    return hold;
  };
  const before = sent();
  const [a, b, c] = [{ call: 'a' }, { call: 'b' }, { call: 'c' }];
  const ofA = await holdAt(sessions.w1, a);
  await decide(await holdAt(sessions.w2, b), 'approve');
  await untilMade(by, b);
  expect(sent()).toBe(before + 1);
  await decide(await holdAt(sessions.w2, c), 'approve');
  await decide(ofA, 'approve');
  await untilMade(by, c);
  await untilMade(by, a);
  expect(sent()).toBe(before + 3);
});

/** A session of the agent at each worker. */
async function sessionsAtBoth(by: string): Promise<Record<'w1' | 'w2', string>> {
  const clientInfo = { name: 'test', version: '1' };
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const found: Record<string, string> = {};
  await vi.waitFor(async () => {
    const { session } = await post('initialize', initialize, { by });
    found[session.slice(0, 2)] = session;
    expect(Object.keys(found)).toEqual(expect.arrayContaining(['w1', 'w2']));
  }, 20_000);
  return found as Record<'w1' | 'w2', string>;
}

/** Repeats a call until it was made, a few times at most. */
async function untilMade(by: string, args: object): Promise<void> {
  const answers = [];
  while (answers.length < 3 && !('result' in (answers.at(-1) ?? {}))) {
    answers.push(await callOnce(args, { by }));
  }
  expect(answers.at(-1)).toHaveProperty('result');
}

it('holds a call over a restart of its data plane, and lets the client that comes back have it', async () => {
  const before = sent();
  const args = { over: 'a restart' };
  const client = await connect('SDK v2');
  const lost = client.callTool('delete_thing', args).catch(() => 'lost');
  const hold = await pending();
  const { dataDir } = plane;
  const port = Number(new URL(plane.url).port);
  await plane.stop();
  await lost;
  await client.close();
  await decide(hold, 'approve');
  plane = await startService({ env: dataPlaneEnv, dataDir, port });
  await bothAreUp();
  expect(sent()).toBe(before);
  const again = await connect('SDK v2');
  // It may come before the data plane has heard of the approval; then it waits for that.
  expect(await again.callTool('delete_thing', args)).toHaveProperty('content');
  expect(sent()).toBe(before + 1);
  await again.close();
  const { total } = await admin.get<{ total: number }>('/api/v1/escalations?status=pending');
  expect(total).toBe(0);
});

it('waits while its control plane restarts', async () => {
  const before = sent();
  const args = { while: 'nobody is there' };
  const client = await connect('SDK v2, modern');
  // As a client does: it asks again as long as it is told that the call is pending.
  const untilDecided = async (): Promise<unknown> => {
    try {
      return await client.callTool('delete_thing', args);
    } catch (error) {
      const { data } = error as { data?: { resolution?: string } };
      if (data?.resolution !== 'pending') throw error;
      return untilDecided();
    }
  };
  const calling = untilDecided();
  const hold = await pending();
  const { dataDir, adminPassword, url } = controlPlane;
  await controlPlane.stop();
  const port = Number(new URL(url).port);
  controlPlane = await startService({ env: controlPlaneEnv, dataDir, adminPassword, port });
  admin = await adminApi(controlPlane.url, 'admin', adminPassword);
  expect(await pending()).toEqual(hold);
  await decide(hold, 'approve');
  expect(await calling).toHaveProperty('content');
  expect(sent()).toBe(before + 1);
  await client.close();
});

it('shows its state at another data plane, which asks nobody, and is used where it is held', async () => {
  const other = await startService({
    env: { ...dataPlaneEnv, SERVICE_WORKERS: '1', SERVICE_HOLD_WAIT_SECONDS: '1' },
  });
  try {
    const before = sent();
    const total = async () => (await admin.get<{ total: number }>('/api/v1/escalations')).total;
    const known = await total();
    const here = await connect('SDK v2');
    const there = await REAL_CLIENTS['SDK v2'](`${other.url}/mcp/v1/up`, basic);
    const refusedThere = (args: object) =>
      there.callTool('delete_thing', args as Record<string, unknown>).then(
        () => expect.unreachable('nothing is approved there'),
        (error: unknown) => error,
      );
    for (const [what, resolution] of [
      ['approve', 'approved'],
      ['deny', 'denied'],
    ] as const) {
      const args = { at: 'two data planes', what };
      const calling = here.callTool('delete_thing', args).catch((error: unknown) => error);
      const hold = await pending();
      await hasHeardOf(other, hold);
      const data = { escalation_id: hold.id };
      expect(await refusedThere(args)).toMatchObject({
        ...{ code: -32004, data: { ...data, resolution: 'pending' } },
      });
      await decide(hold, what);
      const end = await calling;
      if (what === 'approve') expect(end).toHaveProperty('content');
      else expect(end).toMatchObject({ code: -32004, data: { ...data, resolution } });
      // It may not have heard of the end yet: then the call is pending there.
      await vi.waitFor(async () => {
        expect(await refusedThere(args)).toMatchObject({ data: { ...data, resolution } });
      }, 20_000);
    }
    expect(await total()).toBe(known + 2);
    expect(sent()).toBe(before + 1);
    await Promise.all([here.close(), there.close()]);
  } finally {
    await other.dispose();
  }
});

interface Fed {
  tenants: { feed: { cursor: number } }[];
}

/** Until the other data planes are told of a hold, one of them has the facts that tell of it. */
async function hasHeardOf(plane: ServiceProcess, { id }: Escalation): Promise<void> {
  await vi.waitFor(async () => {
    const { rows } = await database.superuser.query<{ is_announced: boolean }>(
      'SELECT is_announced FROM escalations WHERE id = $1',
      [id],
    );
    expect(rows).toEqual([{ is_announced: true }]);
  }, 20_000);
  const { rows } = await database.superuser.query<{ head: string }>(
    `SELECT max(seq)::text AS head FROM feed_entries WHERE kind = 'optional.held_call'`,
  );
  await vi.waitFor(async () => {
    const health = (await (await fetch(`${plane.url}/health`)).json()) as Fed & { workers?: Fed[] };
    for (const { tenants } of health.workers ?? [health]) {
      expect(tenants[0]?.feed.cursor).toBeGreaterThanOrEqual(Number(rows[0]?.head));
    }
  }, 20_000);
}
