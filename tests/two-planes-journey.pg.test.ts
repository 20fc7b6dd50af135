/**
 * One control plane and two data planes as processes of their own, with a real MCP client: what an
 * agent can do while the control plane is there, is gone, and comes back.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  issueDataPlaneToken,
  type RegisteredAgent,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import {
  builtService,
  freePort,
  type ServiceProcess,
  startService,
} from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

vi.setConfig({ testTimeout: 60_000 });

const database = await testDatabase();
const controlPlaneEnv = {
  SERVICE_DEPLOYMENT_MODE: 'control-plane',
  DATABASE_URL: database.url,
  ...tokenKeyPems(),
};
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let planes: ServiceProcess[] = [];
let dataPlaneEnv: Record<string, string>;
let admin: AdminApi;
let agent: RegisteredAgent;
let roleId: string;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }, { name: 'delete_thing' }],
  });
  controlPlane = await startService({ env: controlPlaneEnv });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  dataPlaneEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin, 'eu-test'),
  };
  await registerServer(admin, upstream.url);
  await registerServer(admin, `http://127.0.0.1:${await freePort()}/mcp`, 'away');
  roleId = await registerRole(admin, 'reader', 'up:read', 'away:read');
  agent = await registerAgent(admin, 'traveller', roleId);
  planes = await Promise.all([0, 1].map(() => startService({ env: dataPlaneEnv })));
}, 90_000);

afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.dispose()));
  await controlPlane?.dispose();
  await upstream?.stop();
});

/** Another agent that may do what the first one may. */
const anAgent = (name: string) => registerAgent(admin, name, roleId);

async function getToken(
  url: string,
  { client_id, client_secret }: Omit<typeof agent, 'id'> = agent,
): Promise<{ status: number; token: string }> {
  const answer = await fetch(`${url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  const body = (await answer.json()) as { access_token: string };
  return { status: answer.status, token: body.access_token };
}

const connect = (plane: ServiceProcess, token: string, server = 'up') =>
  connectSdk(`${plane.url}/mcp/v1/${server}`, {
    ...{ authorization: `Bearer ${token}`, 'x-requester-id': 'user-7' },
  });

/** How a call ended: `ok`, or the code of its error. */
async function call(client: Client, name = 'read_thing'): Promise<unknown> {
  try {
    await client.callTool({ name, arguments: {} });
    return 'ok';
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
}

const plane = (index: number) => planes[index] as ServiceProcess;
const health = async (of: ServiceProcess) =>
  (await (await fetch(`${of.url}/health`)).json()) as {
    tenants: {
      deployment_id: string;
      control_plane: { state: string };
      denied: string | null;
    }[];
  };
const decisions = async () =>
  (await admin.get<{ total: number }>(`/api/v1/audit/events?agent_id=${agent.id}&limit=1`)).total;

it('enforces at both data planes with a token of the control plane', async () => {
  const { token } = await getToken(controlPlane.url);
  for (const index of [0, 1]) {
    const client = await connect(plane(index), token);
    expect(await call(client)).toBe('ok');
    expect(await call(client, 'delete_thing')).toBe(-32003);
    await client.close();
  }
  await vi.waitFor(async () => expect(await decisions()).toBe(4), 10_000);
});

it('hashes identifiers alike at both data planes', async () => {
  const { token } = await getToken(controlPlane.url);
  const clients = await Promise.all([0, 1].map((index) => connect(plane(index), token)));
  await admin.patch('/api/v1/admin/data-protection', { hash_identifiers: true });
  await vi.waitFor(
    async () => {
      const before = await decisions();
      for (const client of clients) expect(await call(client)).toBe('ok');
      await vi.waitFor(async () => expect(await decisions()).toBe(before + 2), {
        timeout: 20_000,
      });
      const path = `/api/v1/audit/events?agent_id=${agent.id}&limit=2`;
      const { events } = await admin.get<{ events: { requester_id: string }[] }>(path);
      const [first, second] = events;
      expect(first?.requester_id).toMatch(/^hid1:[\w-]{6}:[\w-]{22}$/);
      expect(second?.requester_id).toBe(first?.requester_id);
    },
    { timeout: 40_000, interval: 200 },
  );
  await admin.patch('/api/v1/admin/data-protection', { hash_identifiers: false });
  await Promise.all(clients.map((client) => client.close()));
});

it('shows which data planes find an MCP server silent', async () => {
  const { token } = await getToken(controlPlane.url);
  for (let i = 0; i < 5; i++) {
    const client = await connect(plane(0), token, 'away').catch(() => undefined);
    await client?.listTools().catch(() => undefined);
    await client?.close();
  }
  const ids = (await Promise.all(planes.map(health))).map(({ tenants }) => tenants[0]);
  const [first, second] = ids.map((tenant) => ({ deployment_id: tenant?.deployment_id }));
  // Told by itself within seconds, not with the heartbeat of the next minute.
  await vi.waitFor(
    async () => {
      const { mcp_servers: servers } = await admin.get<{ mcp_servers: unknown[] }>(
        '/api/v1/mcp-servers',
      );
      expect(servers).toMatchObject([
        {
          server_id: 'away',
          health: 'resting',
          health_by: { total: 1, data_planes: [{ ...first, health: 'resting' }] },
        },
        {
          server_id: 'up',
          health: 'ok',
          health_by: {
            total: 2,
            data_planes: expect.arrayContaining(
              [first, second].map((id) => expect.objectContaining({ ...id, health: 'ok' })),
            ),
          },
        },
      ]);
    },
    { timeout: 15_000, interval: 100 },
  );
});

it('traces a chain of three agents over both data planes, and ends it where it is revoked', async () => {
  const names = ['planner', 'reader', 'helper'] as const;
  const made = await Promise.all(names.map((name) => anAgent(name)));
  const [planner, reader, helper] = made.map(({ id }) => id);
  const participants = [{ agent_id: reader, role: 'reader', allowed_actions: ['read'] }];
  const workflow = await admin.post<{ id: string }>('/api/v1/workflows', {
    ...{ name: 'journey', owner_agent_id: planner, max_depth: 2, participants },
  });
  const sessions = `/api/v1/workflows/${workflow.id}/sessions`;
  const session = await admin.post<{ id: string; wf_token: string }>(sessions);
  const delegate = (from: string | undefined, to: string | undefined) =>
    admin.post<{ id: string; d_token: string; delegation_depth: number }>('/api/v1/delegations', {
      workflow_session_id: session.id,
      delegator_agent_id: from,
      delegatee_agent_id: to,
      scope: { tools: ['up/read_thing'] },
      reason: 'journey',
    });
  const first = await delegate(planner, reader);
  const second = await delegate(reader, helper);
  expect(second).toMatchObject({ delegation_depth: 2, parent_delegation_id: first.id });

  let caused = '';
  /** A real client whose requests have these headers, and below the event of the one before. */
  const act = async (
    index: number,
    who: number,
    headers: Record<string, string>,
    isModern = false,
  ) => {
    const { client_id, client_secret } = made[who] as (typeof made)[0];
    const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    const parent = caused;
    const fetchWithHeaders = async (url: string | URL, init?: RequestInit) => {
      const given = new Headers(init?.headers);
      given.set('authorization', basic);
      for (const [name, value] of Object.entries(headers)) given.set(name, value);
      if (parent !== '') given.set('x-parent-event-id', parent);
      const answer = await fetch(url, { ...init, headers: given });
      caused = answer.headers.get('x-event-id') ?? caused;
      return answer;
    };
    const url = new URL(`${plane(index).url}/mcp/v1/up`);
    const client = isModern
      ? new ModernClient({ name: 'j', version: '1' }, { versionNegotiation: { mode: 'auto' } })
      : new Client({ name: 'j', version: '1' });
    const transport = isModern
      ? new ModernTransport(url, { fetch: fetchWithHeaders })
      : new StreamableHTTPClientTransport(url, { fetch: fetchWithHeaders });
    await client.connect(transport as never);
    const ended = await call(client as Client);
    const event = caused;
    const denied = await call(client as Client, 'delete_thing');
    caused = event;
    await client.close();
    return [ended, denied];
  };
  const inSession = { 'x-workflow-session': session.wf_token };
  const byFirst = { 'x-delegation-token': first.d_token };
  const bySecond = { ...inSession, 'x-delegation-token': second.d_token };
  expect(await act(0, 0, inSession)).toEqual(['ok', -32003]);
  expect(await act(1, 1, byFirst)).toEqual(['ok', -32003]);
  expect(await act(0, 2, bySecond, true)).toEqual(['ok', -32003]);

  await admin.post(`/api/v1/delegations/${first.id}/revoke`);
  await vi.waitFor(async () => {
    expect((await act(1, 1, byFirst))[0]).not.toBe('ok');
    expect((await act(0, 2, bySecond, true))[0]).not.toBe('ok');
  }, 10_000);
  expect(await act(0, 0, inSession)).toEqual(['ok', -32003]);

  interface Node {
    agent_id: string;
    policy_result: string;
    parent_ignored: boolean;
    children: Node[];
  }
  // Those who acted until the revocation had come are below the helper.
  const shape = ({ agent_id, children }: Node, levels = 2): unknown[] => [
    made.findIndex(({ id }) => id === agent_id),
    ...children
      .filter((one) => one.policy_result === 'allow' && levels > 0)
      .map((one) => shape(one, levels - 1)),
  ];
  await vi.waitFor(async () => {
    const trace = await admin.get<{ nodes: Node[]; agent_summaries: Record<string, unknown> }>(
      `${sessions}/${session.id}/trace`,
    );
    expect(Object.keys(trace.agent_summaries).sort()).toEqual([planner, reader, helper].sort());
    expect(trace.nodes.map((node) => shape(node))).toContainEqual([0, [1, [2]]]);
  }, 20_000);
});

it('ends the credential of a lost client at both data planes, and no other', async () => {
  const path = `/api/v1/agents/${agent.id}/credentials`;
  const give = (client: string) => admin.post<typeof agent>(path, { label: 'journey', client });
  const [lost, kept] = [await give('cursor'), await give('vscode')];
  /** A token of the control plane at one data plane, and one of its own at the other. */
  const tokensOf = async (credential: typeof agent) =>
    [
      (await getToken(controlPlane.url, credential)).token,
      (await getToken(plane(1).url, credential)).token,
    ] as const;
  const basicOf = ({ client_id, client_secret }: typeof agent) =>
    `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  /** 200, or the status of a refusal. */
  const ask = async (index: number, authorization: string) => {
    const init = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'j', version: '1' },
    };
    const answer = await fetch(`${plane(index).url}/mcp/v1/up`, {
      method: 'POST',
      headers: {
        ...{ authorization, accept: 'application/json, text/event-stream' },
        'content-type': 'application/json',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: init }),
    });
    await answer.text();
    return answer.status;
  };
  await vi.waitFor(async () => {
    for (const one of [lost, kept]) expect((await getToken(plane(1).url, one)).status).toBe(200);
  }, 10_000);
  const [lostTokens, keptTokens] = [await tokensOf(lost), await tokensOf(kept)];
  const statuses = async (of: typeof agent, tokens: readonly [string, string]) => [
    ...[await ask(0, basicOf(of)), await ask(1, basicOf(of))],
    ...[await ask(0, `Bearer ${tokens[0]}`), await ask(1, `Bearer ${tokens[1]}`)],
  ];
  const client = await connect(plane(0), lostTokens[0]);
  await vi.waitFor(async () => {
    expect(await statuses(lost, lostTokens)).toEqual([200, 200, 200, 200]);
  }, 10_000);

  await admin.delete(`${path}/${lost.id}`);
  await vi.waitFor(async () => {
    expect(await statuses(lost, lostTokens)).toEqual([401, 401, 401, 401]);
    expect((await getToken(plane(1).url, lost)).status).toBe(401);
  }, 10_000);
  // The session that it had opened lets it do nothing either.
  expect(await call(client)).not.toBe('ok');
  await client.close();
  expect(await statuses(kept, keptTokens)).toEqual([200, 200, 200, 200]);
  expect(await statuses(agent, await tokensOf(agent))).toEqual([200, 200, 200, 200]);
});

it('continues without the control plane, over a restart, and ships its records when it is back', async () => {
  await controlPlane.stop();
  const issued = await getToken(plane(0).url);
  expect(issued.status).toBe(200);
  const client = await connect(plane(0), issued.token);
  expect(await call(client)).toBe('ok');
  expect(await call(client, 'delete_thing')).toBe(-32003);
  await client.close();
  await vi.waitFor(async () => {
    const [tenant] = (await health(plane(0))).tenants;
    expect(tenant).toMatchObject({ control_plane: { state: 'unreachable' }, denied: null });
  }, 10_000);

  const { dataDir } = plane(0);
  const port = Number(new URL(plane(0).url).port);
  await plane(0).stop();
  planes[0] = await startService({ env: dataPlaneEnv, dataDir, port });
  // Its key is the same: the token from before the restart is still good.
  const again = await connect(plane(0), issued.token);
  expect(await call(again)).toBe('ok');

  const command = [join(await builtService(), 'service.js'), 'kill-switch'];
  const env = { PATH: process.env.PATH, SERVICE_DATA_DIR: dataDir };
  const run = promisify(execFile);
  await run(process.execPath, [...command, 'engage', '--reason', 'journey'], { env });
  await vi.waitFor(async () => expect((await getToken(plane(0).url)).status).toBe(403), 20_000);
  expect(await call(again)).not.toBe('ok');
  await run(process.execPath, [...command, 'lift'], { env });
  await vi.waitFor(async () => expect(await call(again)).toBe('ok'), 20_000);
  await again.close();

  const { dataDir: folder, adminPassword } = controlPlane;
  controlPlane = await startService({
    env: controlPlaneEnv,
    dataDir: folder,
    adminPassword,
    port: Number(new URL(controlPlane.url).port),
  });
  admin = await adminApi(controlPlane.url, 'admin', adminPassword);
  // 4 from before; 2, 1, and under the switch at least one denied and one allowed.
  await vi.waitFor(async () => expect(await decisions()).toBeGreaterThanOrEqual(9), 20_000);
});

it('stops a suspended agent at both', async () => {
  // The second is that of a data plane that is connected: after an outage it may first be waiting
  // for its next attempt, 2 s at most.
  await vi.waitFor(
    async () => {
      for (const { tenants } of await Promise.all(planes.map(health))) {
        expect(tenants).toMatchObject([
          { control_plane: { state: 'connected' }, feed: { failure: null } },
        ]);
      }
    },
    { timeout: 20_000, interval: 100 },
  );
  const { token } = await getToken(controlPlane.url);
  const clients = await Promise.all([connect(plane(0), token), connect(plane(1), token)]);
  expect(await Promise.all(clients.map((client) => call(client)))).toEqual(['ok', 'ok']);
  await admin.patch(`/api/v1/agents/${agent.id}`, { status: 'suspended' });
  await vi.waitFor(
    async () => {
      const ended = await Promise.all(clients.map((client) => call(client)));
      expect(ended).not.toContain('ok');
    },
    { timeout: 20_000, interval: 50 },
  );
  await Promise.all(clients.map((client) => client.close()));
});
