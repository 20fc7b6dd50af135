/**
 * DLP from end to end: an administrator adds a pattern over the API, a real MCP client is denied
 * what it finds, a real MCP server's answer is redacted, and several sessions make an alert.
 */
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assetPath } from '@governance/shared/process/assets';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import { basicOf, registerAgent, registerRole } from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';

const KEY = 'AKIAQ3EGKH7W2MJX5PLN';
const BADGE = 'BADGE-123456';

let service: ServiceProcess;
let admin: AdminApi;
let folder: string;
let authorization: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-dlp-')));
  // As root, PostgreSQL's own user has to pass through, or its files would stay in /var/lib.
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, 'deploy.txt'), `region = eu\naws_key = ${KEY}\nowner = nobody\n`);
  const filesystem = assetPath(
    'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js',
  );
  const serversFile = join(folder, 'servers.json');
  const files = { command: process.execPath, args: [filesystem, folder] };
  writeFileSync(serversFile, JSON.stringify({ servers: { files } }));
  const env = { SERVICE_MCP_SERVERS_FILE: serversFile, SERVICE_DISPOSITION_FLUSH_SECONDS: '1' };
  service = await startService({ env });
  admin = await adminApi(service.url, 'admin', service.adminPassword);
  const stdio = { server_id: 'files', transport: 'stdio', local_name: 'files' };
  await admin.post('/api/v1/mcp-servers', stdio);
  const roleId = await registerRole(admin, 'all', 'files:*');
  authorization = basicOf(await registerAgent(admin, 'writer', roleId));
}, 120_000);

afterAll(async () => {
  await service?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function withClient<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connectSdk(`${service.url}/mcp/v1/files`, { authorization });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

const write = (client: Client, content: string) =>
  client.callTool({
    name: 'write_file',
    arguments: { path: join(folder, 'notes.txt'), content },
  });

it('denies what a pattern finds as soon as the pattern is stored', async () => {
  await withClient(async (client) => {
    expect((await write(client, `of ${BADGE}`)).isError).toBeFalsy();
    const body = { name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'critical' };
    await admin.post('/api/v1/dlp/patterns', body);
    await expect(write(client, `of ${BADGE}`)).rejects.toMatchObject({
      code: -32003,
      message: expect.stringMatching(/Denied by policy: .*badge/),
    });
    expect((await write(client, 'of nobody')).isError).toBeFalsy();
  });
});

it('redacts a secret that a server gives away, for a client that checks the schema', async () => {
  await withClient(async (client) => {
    // Now the client knows the tool's output schema, and holds the result against it.
    await client.listTools();
    const path = join(folder, 'deploy.txt');
    const result = await client.callTool({ name: 'read_text_file', arguments: { path } });
    const shown = JSON.stringify(result);
    expect(shown).not.toContain(KEY);
    expect(shown).toContain('[REDACTED:aws_access_key_id]');
    expect(shown).toContain('owner = nobody');
  });
});

it('raises an alert when one pattern is found in three sessions', async () => {
  for (let i = 0; i < 3; i++) {
    await withClient((client) => expect(write(client, `key ${KEY}`)).rejects.toThrow(/Denied/));
  }
  interface Alert {
    alert_type: string;
    severity: string;
  }
  await expect
    .poll(
      async () => {
        const { alerts } = await admin.get<{ alerts: Alert[] }>('/api/v1/monitor/alerts');
        return alerts.filter(({ alert_type }) => alert_type === 'DLP_CROSS_SESSION').length;
      },
      { timeout: 15_000 },
    )
    .toBe(1);
  const { events } = await admin.get<{ events: Record<string, unknown>[] }>(
    '/api/v1/audit/events?limit=1000',
  );
  const blocked = events.filter(({ dlp_action }) => dlp_action === 'blocked');
  expect(blocked).toHaveLength(4);
  expect(JSON.stringify(events)).not.toContain(KEY);
});
