/**
 * Somebody owns the database and holds no key. He writes an approval and a policy into it, with a
 * control plane and a data plane as processes of their own: no call is let through by either, and
 * what people decide afterwards is enforced.
 */
import { randomUUID } from 'node:crypto';
import { REAL_CLIENTS } from '@governance/data-plane/testing/test-client';
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
import { writeFactByHand } from './support/fact-by-hand.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';
import { tokenKeyPems } from './support/token-key-pems.ts';

vi.setConfig({ testTimeout: 60_000 });

const CAREFUL =
  'package careful\n\nescalate contains "a person decides" if input.request.action == "delete"\n';

const database = await testDatabase();
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let plane: ServiceProcess;
let admin: AdminApi;
let basic: string;
let careful: string;
let tenantId: string;

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
  const policy = { name: 'careful', description: '', status: 'active', rego_content: CAREFUL };
  careful = (await admin.post<{ id: string }>('/api/v1/policies', policy)).id;
  const roleId = await registerRole(admin, 'deleter', 'up:*');
  basic = basicOf(await registerAgent(admin, 'deleter', roleId));
  plane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: controlPlane.url,
      SERVICE_CP_TOKEN: await issueDataPlaneToken(admin),
      SERVICE_HOLD_WAIT_SECONDS: '5',
    },
  });
  const { rows } = await database.superuser.query('SELECT id FROM tenants');
  tenantId = rows[0].id;
}, 90_000);

afterAll(async () => {
  await plane?.dispose();
  await controlPlane?.dispose();
  await upstream?.stop();
});

interface Escalation {
  id: string;
  deployment_id: string;
}

const sent = () => upstream.messages('tools/call').length;

async function pending(): Promise<Escalation> {
  const list = async () => {
    const path = '/api/v1/escalations?status=pending';
    return (await admin.get<{ escalations: Escalation[] }>(path)).escalations;
  };
  await vi.waitFor(async () => expect(await list()).toHaveLength(1), 20_000);
  return (await list())[0] as Escalation;
}

async function callTool(args: Record<string, unknown>): Promise<unknown> {
  const client = await REAL_CLIENTS['SDK v2'](`${plane.url}/mcp/v1/up`, basic);
  const answer = await client.callTool('delete_thing', args).catch((error: unknown) => error);
  await client.close();
  return answer;
}

const untilAlerted = (type: string) =>
  vi.waitFor(async () => {
    const { alerts } = await admin.get<{ alerts: { alert_type: string; status: string }[] }>(
      '/api/v1/monitor/alerts',
    );
    const told = alerts.find(({ alert_type }) => alert_type === type);
    expect(told).toMatchObject({ status: 'open', severity: 'critical' });
  }, 20_000);

it('an approval in the database alone lets no call through, and a person’s next one does', async () => {
  const before = sent();
  const calling = callTool({ by: 'hand' });
  const hold = await pending();
  const at = new Date();
  const grant = { id: randomUUID(), expires_at: new Date(at.getTime() + 600_000).toISOString() };
  await database.superuser.query(
    `UPDATE escalations SET status = 'approved', resolved_at = $2, resolved_by = 'admin',
       grant_id = $3, grant_expires_at = $4, is_in_feed = true WHERE id = $1`,
    [hold.id, at, grant.id, grant.expires_at],
  );
  await writeFactByHand(database.superuser, tenantId, {
    kind: 'optional.escalation',
    key: `${hold.deployment_id}/${hold.id}`,
    value: {
      ...{ escalation_id: hold.id, deployment_id: hold.deployment_id, resolution: 'approved' },
      ...{ resolved_at: at.toISOString(), grant },
    },
  });
  // Something else changes, which the data plane hears of at once.
  await registerRole(admin, 'another', 'up:*');
  await untilAlerted('APPROVAL_NOT_RECORDED');
  expect(await calling).toMatchObject({ code: -32004, data: { resolution: 'pending' } });
  expect(sent()).toBe(before);

  const next = callTool({ by: 'a person' });
  const other = await pending();
  await admin.post(`/api/v1/escalations/${other.id}/approve`, { notes: 'seen' });
  expect(await next).toHaveProperty('content');
  expect(sent()).toBe(before + 1);
});

it('a policy in the database alone decides nothing, and what administrators save does', async () => {
  const before = sent();
  await database.superuser.query(
    `INSERT INTO policies (tenant_id, id, name, rego_content, status, updated_at)
     VALUES ($1, $2, 'open door', E'package open\\n\\nallow if true\\n', 'active', now())`,
    [tenantId, randomUUID()],
  );
  await database.superuser.query(`UPDATE policies SET status = 'archived' WHERE id = $1`, [
    careful,
  ]);
  const change = {
    name: 'reads',
    description: '',
    status: 'active',
    rego_content: 'package reads\n\nallow if input.request.action == "read"\n',
  };
  await expect(admin.post('/api/v1/policies', change)).rejects.toThrow('not in force');
  await untilAlerted('POLICY_NOT_RECORDED');
  const calling = callTool({ at: 'the open door' });
  const hold = await pending();
  await admin.post(`/api/v1/escalations/${hold.id}/deny`, { notes: 'seen' });
  expect(await calling).toMatchObject({ code: -32004, data: { resolution: 'denied' } });
  expect(sent()).toBe(before);

  // Both are saved as people mean them.
  const { policies } = await admin.get<{ policies: { id: string; name: string }[] }>(
    '/api/v1/policies',
  );
  const door = policies.find(({ name }) => name === 'open door');
  await expect(
    admin.patch(`/api/v1/policies/${door?.id}`, { status: 'archived' }),
  ).rejects.toThrow();
  await admin.patch(`/api/v1/policies/${careful}`, {
    rego_content: CAREFUL.replace('delete', 'execute'),
    status: 'active',
  });
  await vi.waitFor(async () => {
    expect(await callTool({ at: 'the end' })).toHaveProperty('content');
  }, 20_000);
  expect(sent()).toBe(before + 1);
});
