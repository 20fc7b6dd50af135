/** A standalone service whose SERVICE_OPA_URL is one address, and a second tenant. */
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { createPatientServer } from '@governance/shared/testing/test-http';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type RunningService, startStandalone } from '../service.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import { freePort } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';

const PASSWORD = 'the password of all of them';
const database = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'one-opa-'));
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
let service: RunningService | undefined;
let upstream: TestUpstream;

beforeAll(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
});
afterAll(async () => {
  await service?.stop();
  opa.closeAllConnections();
  opa.close();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
  vi.restoreAllMocks();
});

/** The boundary of this test: an OPA server with the bundle of the tenant `default`. */
const judged: string[] = [];
const opa = createPatientServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const isDecision = request.url?.includes('/governance/decision?');
  if (isDecision) judged.push(JSON.parse(body).input.agent.name);
  const { rows } = await database.superuser.query(
    `SELECT t.id, max(b.revision)::text AS revision FROM tenants t JOIN bundles b
     ON b.tenant_id = t.id WHERE t.name = 'default' GROUP BY t.id`,
  );
  const { id, revision } = rows[0];
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      provenance: { bundles: { governance: { revision } } },
      result: isDecision ? { decision: 'allow', reasons: [] } : id,
    }),
  );
});
await new Promise<void>((resolve) => opa.listen(0, '127.0.0.1', resolve));
const opaUrl = `http://127.0.0.1:${(opa.address() as AddressInfo).port}`;

async function restart(over: Record<string, string>): Promise<void> {
  await service?.stop();
  service = await startStandalone(
    {
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: url,
      SERVICE_DATA_DIR: folder,
      SERVICE_ADMIN_PASSWORD: PASSWORD,
      SERVICE_SUPER_ADMIN_PASSWORD: PASSWORD,
      DATABASE_URL: database.url,
      ...over,
    },
    { onFatal: () => undefined },
  );
}

/** An agent of the tenant that may read, and what its calls say. */
async function anAgent(admin: AdminApi, name: string) {
  await admin.post('/api/v1/mcp-servers', {
    server_id: 'files',
    transport: 'streamable-http',
    url: upstream.url,
  });
  const role = await admin.post<{ id: string }>('/api/v1/roles', {
    name: 'reader',
    description: '',
    permissions: ['files:read'],
    resource_scopes: [],
  });
  const agent = await admin.post<{ id: string; client_id: string; client_secret: string }>(
    '/api/v1/agents',
    { name, agent_type: 'test', owner: 'tests', description: '' },
  );
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  const basic = Buffer.from(`${agent.client_id}:${agent.client_secret}`).toString('base64');
  return async () => {
    const answer = await fetch(`${url}/mcp/v1/files`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${basic}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'read_thing',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'read_thing',
          arguments: {},
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    });
    return (await answer.json()) as { error?: { code: number; message: string } };
  };
}

it('a second tenant is refused, and where there is one already its calls are denied', async () => {
  await restart({ SERVICE_OPA_URL: opaUrl });
  const second = { name: 'second', admin: { username: 'second', password: PASSWORD } };
  const root = await adminApi(url, 'superadmin', PASSWORD);
  await expect(root.post('/api/v1/tenants', second)).rejects.toThrow(/409.*\{tenant_id\}/s);
  expect(await root.get('/api/v1/tenants')).toMatchObject({ total: 1 });
  await expect(adminApi(url, 'second', PASSWORD)).rejects.toThrow('401');

  await restart({});
  await (await adminApi(url, 'superadmin', PASSWORD)).post('/api/v1/tenants', second);
  const ofFirst = await anAgent(await adminApi(url, 'admin', PASSWORD), 'first');
  const ofSecond = await anAgent(await adminApi(url, 'second', PASSWORD), 'second');
  expect([(await ofFirst()).error, (await ofSecond()).error]).toEqual([undefined, undefined]);

  await restart({ SERVICE_OPA_URL: opaUrl, SERVICE_OPA_FAIL_CLOSED: 'false' });
  expect((await ofFirst()).error).toBeUndefined();
  expect((await ofSecond()).error).toMatchObject({
    code: -32003,
    message: 'Denied by policy: no policy engine is set for this tenant',
  });
  expect(judged).toEqual(['first']);
  const ofTenant = await adminApi(url, 'second', PASSWORD);
  type Events = {
    events: { tool_name: string | null; policy_result: string; policy_reason: string | null }[];
  };
  // The data plane ships within a second.
  await vi.waitFor(async () => {
    const { events } = await ofTenant.get<Events>('/api/v1/audit/events');
    const denied = events.find((event) => event.tool_name && event.policy_result === 'deny');
    expect(denied?.policy_reason).toMatch(/^opa_no_address: names one OPA server/);
  });
  expect((await fetch(`${url}/ready`)).status).toBe(200);

  // Nobody can be asked: what fails open is the first alone, whose server it was.
  opa.closeAllConnections();
  await new Promise((resolve) => opa.close(resolve));
  await vi.waitFor(async () => expect((await ofFirst()).error).toBeUndefined(), {
    timeout: 10_000,
  });
  expect((await ofSecond()).error).toMatchObject({ code: -32003 });
}, 90_000);
