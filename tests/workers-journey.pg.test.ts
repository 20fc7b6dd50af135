/**
 * A data plane of two worker processes on one port, with a control plane and real MCP clients: a
 * session is good on every connection, one worker is killed under load and one hangs, the local kill
 * switch stops both, and what a worker left that is no longer wanted is shipped all the same.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Ollama } from 'ollama';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  startTestModelRuntime,
  type TestModelRuntime,
} from '../data-plane/src/testing/test-model-runtime.ts';
import { checkControlPlane } from '../scripts/durability/kill-rounds.ts';
import { startMarkedBackend } from '../scripts/durability/marked-backend.ts';
import { connectTo, makeMarkedCall, setUpMarkedCalls } from '../scripts/durability/marked-calls.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import { issueDataPlaneToken } from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import { builtService, type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

vi.setConfig({ testTimeout: 60_000 });

const database = await testDatabase();
const controlPlaneEnv = {
  SERVICE_DEPLOYMENT_MODE: 'control-plane',
  DATABASE_URL: database.url,
  ...tokenKeyPems(),
};
let backend: Awaited<ReturnType<typeof startMarkedBackend>>;
let models: TestModelRuntime;
let controlPlane: ServiceProcess;
let plane: ServiceProcess;
let planeEnv: Record<string, string>;
let admin: AdminApi;
let authorization: string;
/** Calls that were answered with their result, by their marks. */
const acknowledged = new Set<number>();
let nextMark = 0;

beforeAll(async () => {
  backend = await startMarkedBackend();
  models = await startTestModelRuntime();
  controlPlane = await startService({ env: controlPlaneEnv });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  authorization = await setUpMarkedCalls(admin, backend.port);
  planeEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin, 'here'),
    SERVICE_WORKERS: '2',
    SERVICE_LOCALMODEL_URL: models.url,
  };
  plane = await startService({ env: planeEnv });
  await bothAreUp();
}, 90_000);

afterAll(async () => {
  await plane?.dispose();
  await controlPlane?.dispose();
  await backend?.close();
  await models?.stop();
});

type Headers = Record<string, string>;

/** A request on a connection of its own, since connections go round. */
async function send(options: {
  method?: 'GET' | 'POST';
  path: string;
  headers?: Headers;
  body?: unknown;
}): Promise<{ session: string | undefined; body: unknown }> {
  const { method = 'GET', path, headers = {}, body } = options;
  const client = connectTo(plane.url);
  try {
    const answer = await client.request({
      method,
      path,
      headers: { 'content-type': 'application/json', ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const session = answer.headers['mcp-session-id'] as string | undefined;
    return { session, body: await answer.body.json() };
  } finally {
    await client.destroy();
  }
}

const get = async <T>(path: string) => (await send({ path })).body as T;

async function openSession(): Promise<Headers> {
  const headers = {
    authorization,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'journey', version: '1' },
  };
  const { session, body } = await send({
    method: 'POST',
    path: '/mcp/v1/marked',
    headers,
    body: { jsonrpc: '2.0', id: 0, method: 'initialize', params },
  });
  if (session === undefined) throw new Error(`initialize: ${JSON.stringify(body)}`);
  return { ...headers, 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session };
}

interface Health {
  status: string;
  workers: { worker: number; state: string; tenants?: { deployment_id: string }[] }[];
}

async function bothAreUp(): Promise<Health> {
  return vi.waitFor(
    async () => {
      const health = await get<Health>('/health');
      expect(health.workers.map(({ state }) => state)).toEqual(['up', 'up']);
      const [one, two] = health.workers.map(({ tenants }) => tenants?.length);
      expect([one, two]).toEqual([1, 1]);
      return health;
    },
    { timeout: 20_000, interval: 100 },
  );
}

/** A call on a connection of its own. */
async function call(headers: Headers): Promise<boolean> {
  const client = connectTo(plane.url);
  try {
    const mark = nextMark++;
    const isAnswered = await makeMarkedCall(client, headers, mark);
    if (isAnswered) acknowledged.add(mark);
    return isAnswered;
  } finally {
    await client.destroy();
  }
}

/** Sessions of both workers, one each. */
async function sessionOfEach(): Promise<Headers[]> {
  const found = new Map<string, Headers>();
  await vi.waitFor(async () => {
    const headers = await openSession();
    found.set(ownerOf(headers), headers);
    expect(found.size).toBe(2);
  }, 10_000);
  return ['w1', 'w2'].map((owner) => found.get(owner) as Headers);
}

const ownerOf = (headers: Headers) => headers['mcp-session-id']?.split('.')[0] ?? '';

function pidOf(worker: number): number {
  const started = [...plane.output().matchAll(/"worker":(\d+),"task":"serve","pid":(\d+)/g)];
  return Number(started.findLast(([, number]) => Number(number) === worker)?.[2]);
}

const isAlive = (pid: number) => existsSync(`/proc/${pid}`);

async function getToken(): Promise<string> {
  const { body } = await send({
    method: 'POST',
    path: '/api/v1/auth/token',
    headers: { authorization },
    body: { grant_type: 'client_credentials' },
  });
  return (body as { access_token: string }).access_token;
}

const mcpClient = (token: string) =>
  connectSdk(`${plane.url}/mcp/v1/marked`, { authorization: `Bearer ${token}` });

it('is one service: sessions, tokens and metrics work on every connection', async () => {
  const sessions = await sessionOfEach();
  for (const session of sessions) {
    const calls = await Promise.all(Array.from({ length: 6 }, () => call(session)));
    expect(calls).not.toContain(false);
  }

  const keys = await Promise.all(
    Array.from({ length: 4 }, () => get<unknown>('/.well-known/jwks.json')),
  );
  for (const key of keys) expect(key).toEqual(keys[0]);
  const tokens = await Promise.all([getToken(), getToken()]);
  for (const token of tokens) {
    const calls = Array.from({ length: 4 }, () =>
      call({ ...sessions[0], authorization: `Bearer ${token}` }),
    );
    expect(await Promise.all(calls)).not.toContain(false);
    // Many at once, so that the client opens several connections.
    const client = await mcpClient(token);
    const results = await Promise.all(Array.from({ length: 6 }, () => client.listTools()));
    expect(results.every(({ tools }) => tools.some(({ name }) => name === 'mark'))).toBe(true);
    await client.close();
  }

  const health = await bothAreUp();
  const deployments = health.workers.map(({ tenants }) => tenants?.[0]?.deployment_id);
  expect(new Set(deployments).size).toBe(2);
  const metrics = await (await fetch(`${plane.url}/metrics`)).text();
  expect(metrics).toMatch(/governance_tool_calls_total\{worker="1",verdict="allow"\} [1-9]/);
  expect(metrics).toMatch(/governance_tool_calls_total\{worker="2",verdict="allow"\} [1-9]/);
  expect(metrics).toContain('governance_workers{state="up"} 2');

  const { data_planes: listed } = await admin.get<{
    data_planes: { deployment_id: string; label: string }[];
  }>('/api/v1/data-planes');
  expect(listed.map(({ deployment_id: id }) => id).sort()).toEqual([...deployments].sort());
  expect(listed.map(({ label }) => label.replace(/^.* worker /, '')).sort()).toEqual(['1', '2']);
  await vi.waitFor(
    async () =>
      expect(await admin.get('/api/v1/mcp-servers/marked')).toMatchObject({
        health: 'ok',
        health_by: { total: 2 },
      }),
    { timeout: 10_000, interval: 100 },
  );
});

it('leads to the local models through each worker, and the control plane shows what was recorded', async () => {
  const role = await admin.post<{ id: string; warnings: string[] }>('/api/v1/roles', {
    name: 'models',
    permissions: ['web:read', 'web:write'],
  });
  expect(role.warnings).toEqual([]);
  const { agents } = await admin.get<{ agents: { id: string }[] }>('/api/v1/agents');
  await admin.post(`/api/v1/agents/${agents[0]?.id}/roles`, { role_id: role.id });
  const token = await getToken();
  const chat = async () => {
    const headers = { authorization: `Bearer ${token}`, connection: 'close' };
    const client = new Ollama({ host: `${plane.url}/api/v1/localmodel`, headers });
    const messages = [{ role: 'user', content: 'hello' }];
    let said = '';
    for await (const part of await client.chat({ model: 'small', messages, stream: true })) {
      said += part.message.content;
    }
    return said;
  };
  await vi.waitFor(async () => expect(await chat()).toBe(models.words.join('')));
  for (let n = 0; n < 4; n++) expect(await chat()).toBe(models.words.join(''));
  await vi.waitFor(async () => {
    const { events } = await admin.get<{ events: { stream: string; mcp_server: string }[] }>(
      '/api/v1/audit/events?policy_result=allow&tool_name=localmodel-api',
    );
    const ofModels = events.filter(({ mcp_server }) => mcp_server === 'localmodel-proxy');
    expect(new Set(ofModels.map(({ stream }) => stream)).size).toBe(2);
    expect(ofModels[0]).toMatchObject({
      action: 'POST',
      tool_name: 'localmodel-api',
      target: 'small',
      model: { name: 'small', has_system_prompt: false, has_tools: false, message_count: 1 },
      model_usage: { status: 200, input_tokens: 11, output_tokens: 5, finish_reason: 'stop' },
    });
  });
});

it('loses a worker under load: the other continues, and the dead one’s successor continues its chain', async () => {
  const [survivor] = await sessionOfEach();
  let isDone = false;
  const load = Array.from({ length: 4 }, async () => {
    let headers: Headers | undefined;
    while (!isDone) {
      try {
        headers ??= await openSession();
        // As clients do: a session that is gone is opened anew.
        if (!(await call(headers))) headers = undefined;
      } catch {
        // The connection was the dead worker's.
      }
      await sleep(5);
    }
  });
  try {
    await sleep(700);
    const dead = pidOf(2);
    process.kill(dead, 'SIGKILL');
    // A connection that was on its way to it may break; the session is where it was.
    const inTheGap = await vi.waitFor(() => call(survivor as Headers), 20_000);
    expect(inTheGap).toBe(true);
    await vi.waitFor(() => expect(pidOf(2)).not.toBe(dead), 20_000);
    await bothAreUp();
  } finally {
    isDone = true;
    await Promise.all(load);
  }
  expect(await call(survivor as Headers)).toBe(true);
  for (const session of await sessionOfEach()) expect(await call(session)).toBe(true);

  expect(acknowledged.size).toBeGreaterThan(100);
  expect(await checkControlPlane(admin, acknowledged)).toEqual([]);
  const { streams } = await admin.get<{
    streams: { stream: string; kind: string; epoch: number; valid: boolean }[];
  }>('/api/v1/audit/verify?fresh=true');
  const epochs = (await bothAreUp()).workers.map(({ tenants }) =>
    streams.find(({ stream }) => stream === tenants?.[0]?.deployment_id),
  );
  expect(epochs).toMatchObject([
    { kind: 'data_plane', epoch: 1, valid: true },
    { kind: 'data_plane', epoch: 2, valid: true },
  ]);
});

it('replaces a worker that hangs; nobody waits for it without an end', async () => {
  const [, session] = await sessionOfEach();
  const hung = pidOf(2);
  process.kill(hung, 'SIGSTOP');
  // Each on a connection of its own: some are handed to the worker, others passed on to it.
  const calls = Array.from({ length: 4 }, () => call(session as Headers));
  const opened = Array.from({ length: 4 }, () => openSession());
  expect(await Promise.all(calls)).toEqual([false, false, false, false]);
  expect((await Promise.all(opened)).map(ownerOf)).toEqual(['w1', 'w1', 'w1', 'w1']);
  expect(plane.output()).toMatch(new RegExp(`"pid":${hung},"reason":"it hangs"`));
  await vi.waitFor(() => expect(pidOf(2)).not.toBe(hung), 20_000);
  expect(isAlive(hung)).toBe(false);
  await bothAreUp();
  for (const each of await sessionOfEach()) expect(await call(each)).toBe(true);
});

it('stops both by the local kill switch', async () => {
  const sessions = await sessionOfEach();
  const command = [join(await builtService(), 'service.js')];
  const env = {
    PATH: process.env.PATH,
    SERVICE_DATA_DIR: plane.dataDir,
    SERVICE_PORT: new URL(plane.url).port,
  };
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [...command, ...args], { env });
  await run('kill-switch', 'engage', '--reason', 'journey');
  const answers = () => Promise.all(sessions.map((session) => call(session)));
  await vi.waitFor(async () => expect(await answers()).toEqual([false, false]), 20_000);
  expect(JSON.parse((await run('status')).stdout)).toMatchObject({
    status: 'degraded',
    workers: [
      { worker: 1, status: 'degraded', local_kill_switch: { engaged: true } },
      { worker: 2, status: 'degraded', local_kill_switch: { engaged: true } },
    ],
  });
  await run('kill-switch', 'lift');
  await vi.waitFor(async () => expect(await answers()).toEqual([true, true]), 20_000);
});

it('ships what a worker left that is no longer wanted', async () => {
  await controlPlane.stop();
  for (const session of await sessionOfEach()) expect(await call(session)).toBe(true);
  const workers = [pidOf(1), pidOf(2)];
  // The supervisor's end is its workers' end: nobody writes to the folders after it.
  await plane.kill();
  await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), 20_000);

  const { dataDir: folder, adminPassword } = controlPlane;
  const port = Number(new URL(controlPlane.url).port);
  controlPlane = await startService({
    env: controlPlaneEnv,
    dataDir: folder,
    adminPassword,
    port,
  });
  admin = await adminApi(controlPlane.url, 'admin', adminPassword);
  plane = await startService({
    env: { ...planeEnv, SERVICE_WORKERS: '1' },
    dataDir: plane.dataDir,
    port: Number(new URL(plane.url).port),
  });
  const drained = join(plane.dataDir, 'worker-2', 'drained.json');
  await vi.waitFor(() => expect(existsSync(drained), plane.output()).toBe(true), 10_000);
  const session = await openSession();
  expect(session['mcp-session-id']).not.toContain('.');
  expect(await call(session)).toBe(true);
  expect(await checkControlPlane(admin, acknowledged)).toEqual([]);
});
