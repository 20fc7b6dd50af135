/**
 * Agent sessions, and what is unusual about requesters and about what agents send, over two data
 * planes that are processes of their own, with real MCP clients of both eras.
 */
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
  basicOf,
  issueDataPlaneToken,
  type RegisteredAgent,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

vi.setConfig({ testTimeout: 90_000 });

const database = await testDatabase();
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let planes: ServiceProcess[] = [];
let admin: AdminApi;
let roleId: string;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      { name: 'read_thing', annotations: { readOnlyHint: true } },
      { name: 'write_thing', annotations: { readOnlyHint: false } },
    ],
  });
  controlPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      ...tokenKeyPems(),
      SERVICE_DISPOSITION_FLUSH_SECONDS: '1',
    },
  });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  await registerServer(admin, upstream.url);
  roleId = await registerRole(admin, 'reader', 'up:read');
  const env = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
  };
  planes = await Promise.all([0, 1].map(() => startService({ env })));
}, 120_000);

afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.dispose()));
  await controlPlane?.dispose();
  await upstream?.stop();
});

const anAgent = (name: string) => registerAgent(admin, name, roleId);

type Era = 'legacy' | 'modern';

/** A client of one of the data planes; who uses it closes it. */
async function connect(which: 0 | 1, agent: RegisteredAgent, era: Era): Promise<Client> {
  const headers = { authorization: basicOf(agent), 'x-requester-id': `user-of-${agent.id}` };
  const url = new URL(`${planes[which]?.url}/mcp/v1`);
  const isModern = era === 'modern';
  const client = isModern
    ? new ModernClient({ name: 'j', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    : new Client({ name: 'j', version: '1' });
  const requestInit = { headers };
  const transport = isModern
    ? new ModernTransport(url, { requestInit })
    : new StreamableHTTPClientTransport(url, { requestInit });
  await client.connect(transport as never);
  return client as Client;
}

/** One client's work: it connects, calls the tools, and goes. @returns how each call ended */
async function work(which: 0 | 1, agent: RegisteredAgent, era: Era, tools: string[], args = {}) {
  const client = await connect(which, agent, era);
  const ended: unknown[] = [];
  for (const name of tools) {
    const call = client.callTool({ name: `up__${name}`, arguments: args });
    ended.push(
      await call.then(
        () => 'ok',
        (error: { code?: unknown }) => error.code,
      ),
    );
  }
  await client.close();
  return ended;
}

/** Until the data plane knows the agent, and then its role: they may come one after the other. */
const untilKnown = (which: 0 | 1, agent: RegisteredAgent) =>
  vi.waitFor(
    async () => {
      const client = await connect(which, agent, 'modern');
      const { tools } = await client.listTools();
      await client.close();
      expect(tools.map(({ name }) => name)).toEqual(['up__read_thing']);
    },
    { timeout: 20_000, interval: 200 },
  );

interface Session {
  id: string;
  agent_name: string;
  requester_id: string;
  status: string;
  tool_call_count: number;
}

const sessionsOf = ({ id }: RegisteredAgent) =>
  admin.get<{ sessions: Session[]; total: number }>(`/api/v1/sessions?agent_id=${id}`);

const alertsOf = async ({ id }: RegisteredAgent, type: string) => {
  const path = `/api/v1/monitor/alerts?agent_id=${id}`;
  const { alerts } = await admin.get<{ alerts: { alert_type: string; details: object }[] }>(path);
  return alerts.filter((alert) => alert.alert_type === type);
};

it('is one session over both data planes for a client that sends no session id', async () => {
  const agent = await anAgent('modern worker');
  for (const which of [0, 1] as const) await untilKnown(which, agent);
  expect(await work(0, agent, 'modern', ['read_thing', 'write_thing'])).toEqual(['ok', -32003]);
  expect(await work(1, agent, 'modern', ['read_thing'])).toEqual(['ok']);
  await vi.waitFor(
    async () =>
      expect((await sessionsOf(agent)).sessions).toMatchObject([
        {
          agent_name: 'modern worker',
          requester_id: `user-of-${agent.id}`,
          status: 'active',
          tool_call_count: 3,
        },
      ]),
    { timeout: 20_000 },
  );
  const [session] = (await sessionsOf(agent)).sessions;
  const { events } = await admin.get<{ events: { tool_name: string; policy_result: string }[] }>(
    `/api/v1/sessions/${session?.id}/events`,
  );
  const calls = events.filter(({ tool_name }) => tool_name.endsWith('_thing'));
  expect(calls).toMatchObject([
    { tool_name: 'read_thing', policy_result: 'allow' },
    { tool_name: 'write_thing', policy_result: 'deny' },
    { tool_name: 'read_thing', policy_result: 'allow' },
  ]);
});

it('reports reversed behaviour in a new session at another data plane, and many sessions', async () => {
  const agent = await anAgent('legacy worker');
  await untilKnown(0, agent);
  expect(await work(0, agent, 'legacy', ['write_thing'])).toEqual([-32003]);
  const writer = await registerRole(admin, 'writer', 'up:write');
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: writer });
  await vi.waitFor(
    async () => expect(await work(1, agent, 'legacy', ['write_thing'])).toEqual(['ok']),
    { timeout: 20_000, interval: 200 },
  );
  await vi.waitFor(
    async () =>
      expect(await alertsOf(agent, 'BEHAVIOR_REVERSAL')).toMatchObject([
        { details: { disposition: 'allowed', tool_name: 'write_thing' } },
      ]),
    { timeout: 30_000, interval: 200 },
  );
  for (const which of [0, 1, 0] as const) await work(which, agent, 'legacy', ['read_thing']);
  await vi.waitFor(
    async () =>
      expect(await alertsOf(agent, 'REQUESTER_SESSION_CYCLING')).toMatchObject([
        { details: { requester_id: `user-of-${agent.id}` } },
      ]),
    { timeout: 30_000, interval: 200 },
  );
  expect((await sessionsOf(agent)).total).toBeGreaterThanOrEqual(5);
});

it('reports one pattern in three sessions at two data planes, once', async () => {
  const agent = await anAgent('leaking worker');
  for (const which of [0, 1] as const) await untilKnown(which, agent);
  const secret = { text: 'the key is AKIAQ3EGKH7W2MJX5PLN' };
  for (const which of [0, 1, 0] as const) {
    expect(await work(which, agent, 'legacy', ['read_thing'], secret)).toEqual([-32003]);
  }
  await vi.waitFor(
    async () =>
      expect(await alertsOf(agent, 'DLP_CROSS_SESSION')).toMatchObject([
        { details: { pattern: 'aws_access_key_id', sessions: 3, tool_name: 'read_thing' } },
      ]),
    { timeout: 30_000, interval: 200 },
  );
});
