/**
 * A data plane whose folder was copied and started twice, over a real control plane: the two are
 * found out, neither goes on, and each serves again once it registered anew with keys of its own.
 */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand } from '@governance/data-plane/local-control/commands';
import { type RunningDataPlane, startDataPlane } from '@governance/data-plane/main';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { freePort } from './support/service-process.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { app, call, superAdminToken, test } = await testControlPlane();
const cpUrl = await app.listen({ port: 0, host: '127.0.0.1' });
const folder = mkdtempSync(join(tmpdir(), 'forked-'));
let admin: string;
let tenantId: string;
let cpToken: string;
let upstream: TestUpstream;
let basic: string;
const running = new Map<string, RunningDataPlane>();

const post = async (path: string, body: object, token = admin) => {
  const answer = await call(path, { token, body });
  expect([200, 201], answer.body).toContain(answer.statusCode);
  return answer.json();
};

beforeAll(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  // The log of the process goes past console.
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
  const name = `tenant-${uuidv7()}`;
  const account = { username: `admin-of-${name}`, password: 'a password of the tenant' };
  tenantId = (await post('/api/v1/tenants', { name, admin: account }, await superAdminToken())).id;
  admin = (await call('/api/v1/auth/admin/login', { body: account })).json().access_token;
  await post('/api/v1/mcp-servers', {
    server_id: 'files',
    transport: 'streamable-http',
    url: upstream.url,
    credential: { type: 'bearer', token: 'for-the-upstream' },
  });
  const permissions = ['files:read'];
  const about = { name: 'reader', description: '', permissions, resource_scopes: [] };
  const role = await post('/api/v1/roles', about);
  const agent = await post('/api/v1/agents', {
    name: 'worker',
    agent_type: 'test',
    owner: 'tests',
    description: '',
  });
  await post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  const secret = `${agent.client_id}:${agent.client_secret}`;
  basic = `Basic ${Buffer.from(secret).toString('base64')}`;
  cpToken = (await post('/api/v1/admin/data-plane-tokens', { label: 'x' })).token;
}, 60_000);

afterAll(async () => {
  await Promise.all([...running.values()].map((plane) => plane.stop()));
  await upstream.stop();
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

async function start(name: string): Promise<void> {
  const port = await freePort();
  const plane = await startDataPlane(
    {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: cpUrl,
      SERVICE_CP_TOKEN: cpToken,
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
      SERVICE_DATA_DIR: join(folder, name),
    },
    {
      onFatal: () => {
        throw new Error('the ledger failed');
      },
    },
  );
  running.set(name, plane);
}

async function stop(name: string): Promise<void> {
  await running.get(name)?.stop();
  running.delete(name);
}

/** A tool call. @returns `ok`, else the reason for which the plane lets nobody act, or the code */
async function callAt(name: string): Promise<unknown> {
  const answer = await fetch(`${running.get(name)?.url}/mcp/v1/files`, {
    method: 'POST',
    headers: {
      authorization: basic,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_thing', arguments: {} },
    }),
  });
  const { error } = (await answer.json()) as {
    error?: { code: number; data?: { reason?: string } };
  };
  return error === undefined ? 'ok' : (error.data?.reason ?? error.code);
}

const answers = (name: string, expected: unknown) =>
  vi.waitFor(async () => expect([name, await callAt(name)]).toEqual([name, expected]), {
    timeout: 15_000,
    interval: 50,
  });

interface Listed {
  deployment_id: string;
  status: string;
}
const listed = async (): Promise<Listed[]> =>
  (await call('/api/v1/data-planes', { token: admin })).json().data_planes;
const healthOf = async (name: string) =>
  (await (await fetch(`${running.get(name)?.url}/health`)).json()) as {
    status: string;
    tenants: { deployment_id: string; denied: string | null; shipper: { backlog: number } }[];
  };
const shipped = (name: string) =>
  vi.waitFor(async () => expect((await healthOf(name)).tenants[0]?.shipper.backlog).toBe(0), {
    timeout: 10_000,
    interval: 50,
  });

async function registerAnew(name: string): Promise<void> {
  const env = { SERVICE_DATA_DIR: join(folder, name) };
  const quiet = { log: () => undefined, error: () => undefined };
  // While it runs its files are its own.
  expect(await runCommand(['register-anew'], env, quiet)).toBe(1);
  await stop(name);
  expect(await runCommand(['register-anew'], env, quiet)).toBe(0);
  await start(name);
}

it('is found out, denies at both, and serves again with new keys', async () => {
  await start('one');
  await answers('one', 'ok');
  await shipped('one');
  await stop('one');
  cpSync(join(folder, 'one'), join(folder, 'copy'), { recursive: true });

  await start('one');
  await answers('one', 'ok');
  await shipped('one');
  const [forked] = await listed();
  expect(forked?.status).toBe('online');
  await start('copy');
  await answers('copy', 'stream_forked');
  // The one that was first hears of it, too: nobody knows which of them is the true one.
  await answers('one', 'stream_forked');
  expect(await listed()).toMatchObject([
    { deployment_id: forked?.deployment_id, status: 'forked' },
  ]);
  const { alerts } = (await call('/api/v1/monitor/alerts', { token: admin })).json();
  expect(alerts).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ alert_type: 'DATA_PLANE_FORKED', severity: 'critical' }),
    ]),
  );
  for (const name of ['one', 'copy']) {
    expect(await healthOf(name)).toMatchObject({
      status: 'degraded',
      tenants: [{ deployment_id: forked?.deployment_id, denied: 'stream_forked' }],
    });
  }
  // A restart changes nothing.
  await stop('copy');
  await start('copy');
  expect(await callAt('copy')).toBe('stream_forked');

  for (const name of ['copy', 'one']) {
    await registerAnew(name);
    await answers(name, 'ok');
    expect(readdirSync(join(folder, name, 'evidence'))).toHaveLength(1);
  }
  const ids = await Promise.all(
    ['one', 'copy'].map(async (name) => (await healthOf(name)).tenants[0]?.deployment_id),
  );
  expect(new Set([forked?.deployment_id, ...ids]).size).toBe(3);
  const statuses = new Map((await listed()).map((one) => [one.deployment_id, one.status]));
  expect(statuses).toEqual(
    new Map([
      [forked?.deployment_id, 'forked'],
      [ids[0], 'online'],
      [ids[1], 'online'],
    ]),
  );
  // Each has the server's credential sealed to its new key, and the records of its new stream are kept.
  expect(upstream.seen.at(-1)?.headers.authorization).toBe('Bearer for-the-upstream');
  await Promise.all(['one', 'copy'].map(shipped));
  const { rows } = await test.superuser.query<{ stream: string; count: string }>(
    `SELECT stream, count(*) FROM ledger_records
     WHERE tenant_id = $1 AND type = 'decision' GROUP BY stream`,
    [tenantId],
  );
  expect(rows.map(({ stream }) => stream).sort()).toEqual([forked?.deployment_id, ...ids].sort());
}, 120_000);
