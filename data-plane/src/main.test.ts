/** A data plane as a whole, on a real listener: what it answers when its control plane is gone. */
import { execFileSync } from 'node:child_process';
import { createPublicKey, hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runCommand } from './local-control/commands.ts';
import { type Connect, type RunningDataPlane, startDataPlane } from './main.ts';
import { connectControlPlane } from './registration/connect.ts';
import { createTestControlPlane, type TestControlPlane } from './testing/test-control-plane.ts';
import { startHttpControlPlane } from './testing/test-http-control-plane.ts';

const tenantId = uuidv7();
const deploymentId = uuidv7();
const agentId = uuidv7();
const AGENT = {
  id: agentId,
  name: 'agent',
  agent_type: 'test',
  owner: 'tests',
  status: 'active',
  risk_score: 0,
  risk_tier: 'low',
  client_id: 'the-client',
  secret_hash: hash('sha256', 'secret', 'hex'),
  credential_version: 1,
  kill_released_generation: 0,
  role_ids: [],
};

let dataDir: string;
let running: RunningDataPlane | undefined;
let controlPlane: TestControlPlane;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'governance-main-'));
  vi.spyOn(console, 'log').mockImplementation(() => {});
  // The process's log bypasses console.
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
});
afterEach(async () => {
  await running?.stop();
  vi.restoreAllMocks();
  rmSync(dataDir, { recursive: true, force: true });
});

it('sets a growth of the heap that this version of V8 knows', () => {
  const options = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });

  expect(options).toMatch(/^ +--heap-growing-percent .*\n +type: int /m);
});

const connect: Connect = async ({ core, tokens }) => {
  expect(tokens).toEqual(['a-token']);
  const publicKey = createPublicKey(core.identity.signingKey);
  controlPlane ??= createTestControlPlane({ tenantId, deploymentId, publicKey });
  const feed_keys = [controlPlane.feed.signer.public];
  await core.addTenant(
    { tenant_id: tenantId, deployment_id: deploymentId, bundle_keys: [], feed_keys },
    controlPlane.link,
  );
  return { status: () => [], stopRegistering: async () => {}, stop: async () => {} };
};

async function start(
  control: { url: string; token: string; connect: Connect } = {
    url: 'http://127.0.0.1:9',
    token: 'a-token',
    connect,
  },
): Promise<string> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  running = await startDataPlane(
    {
      SERVICE_CP_URL: control.url,
      SERVICE_CP_TOKEN: control.token,
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: url,
      SERVICE_DATA_DIR: dataDir,
    },
    {
      connect: control.connect,
      onFatal: () => {
        throw new Error('the ledger failed');
      },
    },
  );
  return url;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function getToken(url: string): Promise<{ status: number; token: string }> {
  const credentials = { client_id: 'the-client', client_secret: 'secret' };
  const answer = await fetch(`${url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', ...credentials }),
  });
  const body = (await answer.json()) as { access_token: string };
  return { status: answer.status, token: body.access_token };
}

async function ping(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/mcp/v1`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
  return answer.status;
}

it('serves agents with the control plane gone, over a restart, until its operator stops it', async () => {
  let url = await start();
  controlPlane.publish({ kind: 'agent', key: agentId, value: AGENT });
  await vi.waitFor(async () => expect((await getToken(url)).status).toBe(200), 20_000);
  const first = await getToken(url);
  expect(await ping(url, first.token)).toBe(200);

  controlPlane.setAway(true);
  expect(await ping(url, (await getToken(url)).token)).toBe(200);
  await running?.stop();
  url = await start();
  const { status, token } = await getToken(url);
  expect(status).toBe(200);
  expect(await ping(url, token)).toBe(200);
  // The address has changed: the token was bound to the gateway that issued it.
  expect(await ping(url, first.token)).toBe(401);

  const env = { SERVICE_DATA_DIR: dataDir };
  const quiet = { log: () => {}, error: () => {} };
  expect(await runCommand(['kill-switch', 'engage', '--reason', 'test'], env, quiet)).toBe(0);
  await vi.waitFor(async () => expect(await ping(url, token)).toBe(401), 20_000);
  expect((await getToken(url)).status).toBe(403);
  const health = await fetch(`${url}/health`);
  expect(health.status).toBe(200);
  const text = await health.text();
  expect(JSON.parse(text)).toMatchObject({
    status: 'degraded',
    mode: 'data-plane',
    local_kill_switch: { engaged: true },
    tenants: [{ tenant_id: tenantId, denied: 'local_kill_switch' }],
  });
  expect(text).not.toContain('"message"');
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toContain('governance_local_kill_switch_engaged{scope="all"} 1');

  expect(await runCommand(['kill-switch', 'lift'], env, quiet)).toBe(0);
  await vi.waitFor(async () => expect(await ping(url, token)).toBe(200), 20_000);

  controlPlane.setAway(false);
  await vi.waitFor(
    () =>
      expect(
        controlPlane.records.flatMap((one) => (one.type === 'admin_action' ? [one.action] : [])),
      ).toEqual(['local_kill_switch_engaged', 'local_kill_switch_lifted']),
    15_000,
  );
}, 30_000);

it('ships its last records while it stops', async () => {
  const server = await startHttpControlPlane();
  let isTaking = false;
  const failed: string[] = [];
  server.intercept(({ url = '' }, response) => {
    if (isTaking || !url.endsWith('/audit-batches')) return false;
    failed.push(url);
    response.writeHead(503).end();
    return true;
  });
  try {
    await start({
      url: server.url,
      token: 'root-token',
      connect: async (options) => {
        const connections = await connectControlPlane(options);
        const stopRegistering = async () => {
          await connections.stopRegistering();
          isTaking = true;
        };
        return { ...connections, stopRegistering };
      },
    });
    await vi.waitFor(() => expect(failed).not.toEqual([]), 20_000);
    expect(server.plane().records).toEqual([]);
    await running?.stop();
    expect(server.plane().records).not.toEqual([]);
  } finally {
    await server.stop();
  }
}, 30_000);

it('says why it serves nobody, whether its control plane answers or not', async () => {
  const server = await startHttpControlPlane();
  const control = { url: server.url, token: 'root-token', connect: connectControlPlane };
  const ask = async (url: string) => {
    let answers: { ready: { warnings?: object }; health: object } = { ready: {}, health: {} };
    await vi.waitFor(async () => {
      const [ready, health] = await Promise.all([fetch(`${url}/ready`), fetch(`${url}/health`)]);
      answers = {
        ready: (await ready.json()) as object,
        health: (await health.json()) as object,
      };
      expect(answers.health).toHaveProperty('unserved.0.failure.code');
    });
    return answers;
  };
  try {
    const { ready, health } = await ask(await start({ ...control, token: 'root-token,unknown' }));
    const code = 'DATA_PLANE_TOKEN_INVALID';
    expect(ready.warnings).toEqual({ tenants: `of 2 tokens some serve no tenant: ${code}` });
    expect(health).toMatchObject({ status: 'degraded', unserved: [{ failure: { code } }] });
    await running?.stop();
    const file = join(dataDir, 'identity', 'registrations', `${server.tenantId}.json`);
    writeFileSync(file, '{"damaged":true}');
    for (const url of [server.url, 'http://127.0.0.1:9']) {
      const { ready, health } = await ask(await start({ ...control, url }));
      expect(ready).toEqual({
        status: 'not_ready',
        problems: { tenants: 'none is served yet: StartError' },
      });
      expect(health).toMatchObject({
        status: 'degraded',
        tenants: [],
        unserved: [{ state: 'registering', failure: { stage: 'register', code: 'StartError' } }],
      });
      expect(JSON.stringify(health)).not.toContain(file);
      await running?.stop();
    }
  } finally {
    await server.stop();
  }
}, 60_000);
