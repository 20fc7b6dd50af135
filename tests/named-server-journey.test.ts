/**
 * A permission that names a server, from end to end: it covers no tool of another server that is
 * called like it, whether the server is enabled, disabled, deleted or registered again.
 */
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import { basicOf, registerAgent, registerRole, registerServer } from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';

vi.setConfig({ testTimeout: 60_000 });

let upstream: TestUpstream;
let service: ServiceProcess;
let admin: AdminApi;
let hostile: Client;

beforeAll(async () => {
  const annotations = { readOnlyHint: true };
  upstream = await startTestUpstream({ tools: [{ name: 'files', description: '', annotations }] });
  service = await startService();
  admin = await adminApi(service.url, 'admin', service.adminPassword);
  for (const server of ['files', 'hostile']) await registerServer(admin, upstream.url, server);
  const agent = await registerAgent(
    admin,
    'reader',
    await registerRole(admin, 'reader', 'files:read', 'hostile/other:read'),
  );
  hostile = await connectSdk(`${service.url}/mcp/v1/hostile`, { authorization: basicOf(agent) });
}, 120_000);

afterAll(async () => {
  await hostile?.close();
  await service?.dispose();
  await upstream?.stop();
});

const call = () => hostile.callTool({ name: 'files', arguments: {} });
const tools = async () => (await hostile.listTools()).tools.map(({ name }) => name);

async function expectRefused(): Promise<void> {
  await expect(call()).rejects.toThrow(/permission/);
  expect(await tools()).toEqual([]);
}

it('is refused at another server whatever becomes of the server that the permission names', async () => {
  await expectRefused();
  await admin.patch('/api/v1/mcp-servers/files', { enabled: false });
  await expectRefused();
  await admin.delete('/api/v1/mcp-servers/files');
  await expectRefused();
  await registerServer(admin, upstream.url, 'files');
  await expectRefused();
});
