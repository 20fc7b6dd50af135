/**
 * The service as a user starts it, in a process of its own: an administrator sets it up over the
 * API, the MCP Inspector calls real servers through both gateways, the records arrive and verify,
 * and a stop is announced.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assetPath } from '@governance/shared/process/assets';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import { freePort, type ServiceProcess, startService } from './support/service-process.ts';

const run = promisify(execFile);
const packages = assetPath('node_modules/@modelcontextprotocol');
// It looks for its own package.json beside its working directory.
const inspectorFolder = join(packages, 'inspector-cli/build');

let service: ServiceProcess;
let admin: AdminApi;
let everything: ChildProcess;
let folder: string;
let basic: string;
let bearer: string;

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-journey-')));
  // As root, PostgreSQL's own user has to pass through, or its files would stay in /var/lib.
  chmodSync(folder, 0o711);
  writeFileSync(join(folder, 'hello.txt'), 'Hello from a file');
  const serversFile = join(folder, 'servers.json');
  const filesystem = join(packages, 'server-filesystem/dist/index.js');
  const files = { command: process.execPath, args: [filesystem, folder] };
  writeFileSync(serversFile, JSON.stringify({ servers: { files } }));
  const port = await freePort();
  const server = join(packages, 'server-everything/dist/index.js');
  everything = spawn(process.execPath, [server, 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  service = await startService({ env: { SERVICE_MCP_SERVERS_FILE: serversFile } });
  admin = await adminApi(service.url, 'admin', service.adminPassword);

  const http = { server_id: 'everything', transport: 'streamable-http' };
  await admin.post('/api/v1/mcp-servers', { ...http, url: `http://127.0.0.1:${port}/mcp` });
  const stdio = { server_id: 'files', transport: 'stdio', local_name: 'files' };
  await expect(
    admin.post('/api/v1/mcp-servers', { ...stdio, local_name: 'shell' }),
  ).rejects.toThrow(/422 .*available: files/);
  await admin.post('/api/v1/mcp-servers', stdio);
  const permissions = ['everything:*', 'files:read'];
  const role = await admin.post<{ id: string }>('/api/v1/roles', {
    ...{ name: 'reader', description: '', permissions, resource_scopes: [] },
  });
  const agent = await admin.post<{ id: string; client_id: string; client_secret: string }>(
    '/api/v1/agents',
    { name: 'inspector', agent_type: 'test', owner: 'tests', description: '' },
  );
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  const { client_id, client_secret } = agent;
  basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
  const answer = await fetch(`${service.url}/api/v1/auth/token`, {
    method: 'POST',
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
    headers: { authorization: basic },
  });
  bearer = `Bearer ${((await answer.json()) as { access_token: string }).access_token}`;
}, 120_000);

afterAll(async () => {
  await service?.dispose();
  everything?.kill();
  rmSync(folder, { recursive: true, force: true });
});

/** One call by the MCP Inspector's command line; what it printed, whether or not it failed. */
async function inspect(path: string, authorization: string, ...args: string[]): Promise<string> {
  const cli = ['--cli', `${service.url}${path}`, '--transport', 'http'];
  const header = ['--header', `Authorization: ${authorization}`];
  const command = [join(inspectorFolder, 'cli.js'), ...cli, ...header, ...args];
  const shown = await run(process.execPath, command, { cwd: inspectorFolder }).catch(
    (failure: { stdout: string; stderr: string }) => failure,
  );
  return `${shown.stdout}${shown.stderr}`;
}

const call = (tool: string, argument: string) => [
  ...['--method', 'tools/call', '--tool-name', tool, '--tool-arg', argument],
];

describe.each([
  ['Basic', () => basic],
  ['Bearer', () => bearer],
])('the MCP Inspector with %s', (_, authorization) => {
  it('calls a tool over Streamable HTTP, directly and through all servers', async () => {
    const direct = await inspect(
      '/mcp/v1/everything',
      authorization(),
      ...call('echo', 'message=hi'),
    );
    expect(direct).toContain('Echo: hi');
    const unified = call('everything__echo', 'message=hi');
    expect(await inspect('/mcp/v1', authorization(), ...unified)).toContain('Echo: hi');
  });

  it('reads a file over stdio, and may not write one', async () => {
    const path = `path=${join(folder, 'hello.txt')}`;
    const direct = call('read_text_file', path);
    expect(await inspect('/mcp/v1/files', authorization(), ...direct)).toContain(
      'Hello from a file',
    );
    const unified = call('files__read_text_file', path);
    expect(await inspect('/mcp/v1', authorization(), ...unified)).toContain('Hello from a file');
    const write = [...call('write_file', path), '--tool-arg', 'content=changed'];
    expect(await inspect('/mcp/v1/files', authorization(), ...write)).toContain('Denied by policy');
  });

  it('lists the tools of all servers under their names', async () => {
    const listed = await inspect('/mcp/v1', authorization(), '--method', 'tools/list');
    expect(listed).toContain('"everything__echo"');
    expect(listed).toContain('"files__read_text_file"');
    // Hidden, since no permission covers it.
    expect(listed).not.toContain('"files__write_file"');
  });
});

it('holds a call until a person approves it', async () => {
  await admin.post('/api/v1/policies', {
    name: 'careful',
    description: '',
    status: 'active',
    rego_content:
      'package careful\n\nescalate contains "a person decides" if input.request.parameters.message == "careful"\n',
  });
  const calling = inspect('/mcp/v1/everything', basic, ...call('echo', 'message=careful'));
  interface Pending {
    escalations: { id: string }[];
  }
  const list = () => admin.get<Pending>('/api/v1/escalations?status=pending');
  await expect.poll(async () => (await list()).escalations.length, { timeout: 20_000 }).toBe(1);
  const id = (await list()).escalations[0]?.id;
  await admin.post(`/api/v1/escalations/${id}/approve`);
  expect(await calling).toContain('Echo: careful');
  expect((await list()).escalations).toEqual([]);
});

it('refuses the Inspector with a wrong secret', async () => {
  const wrong = `Basic ${Buffer.from('nobody:nothing').toString('base64')}`;
  expect(await inspect('/mcp/v1', wrong, '--method', 'tools/list')).toContain('-32000');
});

it('shows how the servers are', async () => {
  interface Server {
    server_id: string;
    health: string | null;
  }
  const list = () => admin.get<{ mcp_servers: Server[] }>('/api/v1/mcp-servers');
  // The data plane tells it as any other does: within seconds.
  await expect
    .poll(
      async () => (await list()).mcp_servers.map(({ server_id, health }) => [server_id, health]),
      { timeout: 15_000 },
    )
    .toEqual([
      ['everything', 'ok'],
      ['files', 'ok'],
    ]);
});

it('shows each call among the audit events, and their chains verify', async () => {
  interface Event {
    tool_name: string | null;
    policy_result: string | null;
  }
  await expect
    .poll(async () => {
      const { events } = await admin.get<{ events: Event[] }>('/api/v1/audit/events?limit=1000');
      const count = (tool: string, result: string) =>
        events.filter((e) => e.tool_name === tool && e.policy_result === result).length;
      return [
        count('echo', 'allow'),
        count('read_text_file', 'allow'),
        count('write_file', 'deny'),
      ];
    })
    .toEqual([5, 4, 2]);
  const verdict = await admin.get<{ valid: boolean; streams: unknown[] }>(
    '/api/v1/audit/verify?fresh=true',
  );
  expect(verdict).toMatchObject({ valid: true });
  expect(verdict.streams).toHaveLength(2);
});

it('announces a stop on the audit stream and ends cleanly', async () => {
  const stream = await fetch(`${service.url}/api/v1/audit/stream`, {
    headers: { authorization: `Bearer ${admin.token}`, accept: 'text/event-stream' },
  });
  const text = stream.text();
  await service.stop();
  expect(await text).toContain('system_notification');
  expect(service.child.exitCode).toBe(0);
});
