/**
 * Results and calls that wait for a person, with a control plane and a data plane as processes of
 * their own and real MCP clients of both eras: released in each way, blocked, out of time, and over a
 * restart of the data plane.
 */
import { REAL_CLIENTS, type RealClient } from '@governance/data-plane/testing/test-client';
import { INJECTION } from '@governance/data-plane/testing/test-holds';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
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

vi.setConfig({ testTimeout: 90_000 });

interface Hold {
  id: string;
  status: string;
  tool_name: string;
  findings: { class: string; place: string; score: number }[];
}

const database = await testDatabase();
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let plane: ServiceProcess;
let dataPlaneEnv: Record<string, string>;
let admin: AdminApi;
let basic: string;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'read_page',
        annotations: { readOnlyHint: true },
        handle: ({ result }) =>
          result({ content: [{ type: 'text', text: `The weather is fine. ${INJECTION}` }] }),
      },
      { name: 'delete_thing' },
    ],
  });
  controlPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      ...tokenKeyPems(),
    },
  });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  await registerServer(admin, upstream.url);
  await admin.patch('/api/v1/admin/settings', {
    inbound: { actions: { high: 'hold', critical: 'hold' } },
  });
  await admin.post('/api/v1/policies', {
    name: 'careful',
    description: '',
    status: 'active',
    rego_content:
      'package careful\n\nescalate contains "a person decides" if input.request.action == "delete"\n',
  });
  const roleId = await registerRole(admin, 'everything', 'up:*');
  basic = basicOf(await registerAgent(admin, 'reader', roleId));
  dataPlaneEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
  };
  plane = await startService({ env: dataPlaneEnv });
}, 120_000);

afterAll(async () => {
  await plane?.dispose();
  await controlPlane?.dispose();
  await upstream?.stop();
});

const HOLDS = '/api/v1/inbound/holds';
const pending = async (): Promise<Hold> => {
  const list = () => admin.get<{ holds: Hold[] }>(`${HOLDS}?status=pending`);
  await vi.waitFor(async () => expect((await list()).holds).toHaveLength(1), 20_000);
  return (await list()).holds[0] as Hold;
};
const resolve = ({ id }: Hold, resolution: string) =>
  admin.post<Hold>(`${HOLDS}/${id}/resolve`, { resolution, notes: 'seen' });
const sent = () => upstream.messages('tools/call').length;
const connect = (name: keyof typeof REAL_CLIENTS): Promise<RealClient> =>
  REAL_CLIENTS[name](`${plane.url}/mcp/v1/up`, basic);
const textOf = (answer: unknown) =>
  (answer as { content: { text: string }[] }).content[0]?.text ?? '';

/** Puts a hold's end into the past: nobody waits for its minutes here. */
async function letTimePass(): Promise<void> {
  await database.superuser.query(
    `UPDATE escalations SET opened_at = opened_at - interval '1 day',
       timeout_at = now() - interval '1 second' WHERE status = 'pending'`,
  );
}

describe.each(['SDK v1', 'SDK v2, modern'] as const)('%s', (name) => {
  it('gets a result as it was released, once, and the server is called once', async () => {
    const client = await connect(name);
    const before = sent();
    const original = client.callTool('read_page', { page: 1, by: name });
    const hold = await pending();
    expect(hold).toMatchObject({ tool_name: 'read_page', status: 'pending' });
    expect(hold.findings[0]).toMatchObject({ place: '/content/0/text' });
    expect(JSON.stringify(hold)).not.toContain('collect.example');
    expect(await resolve(hold, 'allow_original')).toMatchObject({ status: 'allowed_original' });
    expect(textOf(await original)).toContain(INJECTION);

    const sanitized = client.callTool('read_page', { page: 2, by: name });
    await resolve(await pending(), 'allow_sanitized');
    const text = textOf(await sanitized);
    expect(text).toContain('The weather is fine.');
    expect(text).not.toContain('password');

    const blocked = client
      .callTool('read_page', { page: 3, by: name })
      .catch((error: unknown) => error);
    await resolve(await pending(), 'block');
    expect(await blocked).toMatchObject({ code: -32004, data: { resolution: 'blocked' } });
    expect(sent()).toBe(before + 3);
    await client.close();
  });

  it('learns when nobody decides about a result, or about a call, in time', async () => {
    const client = await connect(name);
    const before = sent();
    const result = client
      .callTool('read_page', { page: 4, by: name })
      .catch((error: unknown) => error);
    await pending();
    await letTimePass();
    expect(await result).toMatchObject({ code: -32004, data: { resolution: 'timed_out' } });
    expect(sent()).toBe(before + 1);

    const call = client.callTool('delete_thing', { by: name }).catch((error: unknown) => error);
    await vi.waitFor(async () => {
      const { total } = await admin.get<{ total: number }>('/api/v1/escalations?status=pending');
      expect(total).toBe(1);
    }, 20_000);
    await letTimePass();
    expect(await call).toMatchObject({ code: -32004, data: { resolution: 'timed_out' } });
    expect(sent()).toBe(before + 1);
    await client.close();
  });
});

it('keeps a result over a restart of its data plane, for the client that comes back', async () => {
  const before = sent();
  const client = await connect('SDK v2');
  const lost = client.callTool('read_page', { over: 'a restart' }).catch(() => 'lost');
  const hold = await pending();
  const { dataDir } = plane;
  const port = Number(new URL(plane.url).port);
  await plane.stop();
  await lost;
  await client.close();
  await resolve(hold, 'allow_original');
  plane = await startService({ env: dataPlaneEnv, dataDir, port });
  const again = await connect('SDK v2');
  expect(textOf(await again.callTool('read_page', { over: 'a restart' }))).toContain(INJECTION);
  expect(sent()).toBe(before + 1);
  await again.close();
});
