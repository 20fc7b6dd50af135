/**
 * A standing exception, with a control plane and a data plane as processes of their own and real MCP
 * clients: made with an approval, used, revoked; and one that goes on and ends without a control plane.
 */
import { REAL_CLIENTS, type RealClient } from '@governance/data-plane/testing/test-client';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
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
  shape: { policy_ids: string[]; resource: string } | null;
  exception_id: string | null;
}
interface Event {
  policy_result: string;
  policy_reason: string | null;
  exception_id: string | null;
  escalation_id: string | null;
}

const database = await testDatabase();
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let plane: ServiceProcess;
let planeEnv: Record<string, string>;
let admin: AdminApi;
let basic: string;
let policyId: string;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  controlPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      ...tokenKeyPems(),
    },
  });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  await registerServer(admin, upstream.url);
  const rego =
    'package careful\n\nescalate contains "a person decides" if input.request.action == "delete"\n';
  const body = { name: 'careful', status: 'active', rego_content: rego };
  policyId = (await admin.post<{ id: string }>('/api/v1/policies', body)).id;
  const roleId = await registerRole(admin, 'deleter', 'up:*');
  basic = basicOf(await registerAgent(admin, 'deleter', roleId));
  planeEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
    // Who is held is told so soon, and asks again.
    SERVICE_HOLD_WAIT_SECONDS: '1',
  };
  plane = await startService({ env: planeEnv });
}, 90_000);

afterAll(async () => {
  // An orderly stop would wait for the control plane, which is gone.
  await plane?.kill();
  await plane?.dispose();
  await controlPlane?.dispose();
  await upstream?.stop();
});

const sent = () => upstream.messages('tools/call').length;
// What is still held is told after one round, and not after ten.
const connect = (name: keyof typeof REAL_CLIENTS): Promise<RealClient> =>
  REAL_CLIENTS[name](`${plane.url}/mcp/v1/up`, basic, 1);

/** What became of a call: that it went, or how it waits. */
async function outcomeOf(client: RealClient, args: Record<string, unknown>): Promise<string> {
  try {
    await client.callTool('delete_thing', args);
    return 'went';
  } catch (error) {
    // A modern client asks again by itself.
    if (String(error).includes('still required input')) return 'pending';
    return (error as { data?: { resolution?: string } }).data?.resolution ?? String(error);
  }
}

async function pending(): Promise<Escalation> {
  const list = () => admin.get<{ escalations: Escalation[] }>('/api/v1/escalations?status=pending');
  await vi.waitFor(async () => expect((await list()).escalations).toHaveLength(1), 20_000);
  return (await list()).escalations[0] as Escalation;
}

const newest = async (): Promise<Event | undefined> =>
  (await admin.get<{ events: Event[] }>('/api/v1/audit/events?limit=10')).events.find(
    ({ policy_result }) => policy_result !== null,
  );

it.each([
  'SDK v1',
  'SDK v2, modern',
] as const)('%s: approved with an exception, gone without a hold, revoked, held again', async (name) => {
  const client = await connect(name);
  const path = `/srv/${name.replaceAll(/\W/g, '')}`;
  expect(await outcomeOf(client, { path })).toBe('pending');
  const escalation = await pending();
  expect(escalation.shape).toEqual({ policy_ids: [policyId], resource: path });
  const approved = await admin.post<Escalation>(`/api/v1/escalations/${escalation.id}/approve`, {
    notes: 'the clean-up is meant to',
    create_exception: true,
  });
  const id = approved.exception_id;
  expect(await admin.get(`/api/v1/exceptions/${id}`)).toMatchObject({
    ...{ status: 'active', resource: path, policy_id: policyId, escalation_id: escalation.id },
  });
  const before = sent();
  // The held call itself goes, by its grant or by the exception; then others of its shape do.
  await vi.waitFor(async () => expect(await outcomeOf(client, { path })).toBe('went'), 20_000);
  expect(await outcomeOf(client, { path, note: 'another call' })).toBe('went');
  expect(sent()).toBe(before + 2);
  await vi.waitFor(async () => {
    const event = await newest();
    expect(event).toMatchObject({ policy_result: 'allow', exception_id: id, escalation_id: null });
    expect(event?.policy_reason).toContain(`allowed under exception ${id}`);
  }, 20_000);
  // Another target is another shape.
  expect(await outcomeOf(client, { path: `${path}/other` })).toBe('pending');
  await admin.post(`/api/v1/escalations/${(await pending()).id}/deny`);

  await admin.delete(`/api/v1/exceptions/${id}`);
  const again = () => outcomeOf(client, { path, note: `${sent()}` });
  await vi.waitFor(async () => expect(await again()).toBe('pending'), 20_000);
  await admin.post(`/api/v1/escalations/${(await pending()).id}/deny`);
  const { actions } = await actionsOf();
  expect(actions.filter((action) => action.startsWith('exception_')).slice(0, 2)).toEqual([
    'exception_revoked',
    'exception_created',
  ]);
  await client.close();
});

/** The newest first. */
async function actionsOf() {
  const { events } = await admin.get<{ events: { action: string | null }[] }>(
    '/api/v1/audit/events?limit=100',
  );
  return { actions: events.flatMap(({ action }) => action ?? []) };
}

it('continues at a data plane without its control plane, also after a restart', async () => {
  const client = await connect('SDK v2');
  const args = { path: '/srv/offline' };
  expect(await outcomeOf(client, args)).toBe('pending');
  await admin.post(`/api/v1/escalations/${(await pending()).id}/deny`);
  await admin.post('/api/v1/exceptions', {
    justification: 'the night without a control plane',
    expires_in_hours: 1,
    mcp_server: 'up',
    tool_name: 'delete_thing',
    resource: '/srv/offline/**',
  });
  const first = { path: '/srv/offline/a' };
  await vi.waitFor(async () => expect(await outcomeOf(client, first)).toBe('went'), 20_000);
  await controlPlane.stop();
  expect(await outcomeOf(client, { path: '/srv/offline/b' })).toBe('went');
  await client.close();
  const { dataDir } = plane;
  const port = Number(new URL(plane.url).port);
  await plane.stop();
  plane = await startService({ env: planeEnv, dataDir, port });
  const again = await connect('SDK v2');
  expect(await outcomeOf(again, { path: '/srv/offline/c' })).toBe('went');
  expect(await outcomeOf(again, { path: '/srv/elsewhere' })).toBe('pending');
  await again.close();
});
