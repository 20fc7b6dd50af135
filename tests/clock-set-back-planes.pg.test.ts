/**
 * A control plane whose machine's clock is set back by an hour: what it changes takes effect at its
 * data planes at once, on a machine of their own and in the same process, and so it does after the
 * clock was put right.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runControlPlaneCommand } from '@governance/control-plane/commands';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { FeedPageBody, SnapshotLine } from '@governance/shared/channel/channel-routes';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { listeningUrl } from '@governance/shared/http/http-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RunningService, startStandalone } from '../service.ts';
import { aConnectedCore } from './support/a-connected-core.ts';
import { aRegistration } from './support/a-registration.ts';
import { adminApi } from './support/admin-api.ts';
import { basicOf, registerAgent, registerRole, registerServer } from './support/admin-setup.ts';
import { connectSdk } from './support/sdk-client.ts';
import { freePort } from './support/service-process.ts';
import { testControlPlane } from './support/test-control-plane.ts';
import { testDatabase } from './support/test-database.ts';

const HOUR = 3_600_000;
const PASSWORD = 'the password of all of them';
const { app, call, aTenantAdmin, controlPlane, test } = await testControlPlane();
const ofOneProcess = await testDatabase();
const dataDir = mkdtempSync(join(tmpdir(), 'clock-set-back-'));
const ends: (() => Promise<unknown>)[] = [];
let upstream: TestUpstream;

beforeAll(async () => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await upstream.stop();
  rmSync(dataDir, { recursive: true });
  vi.restoreAllMocks();
});

/** Another machine's clock, which nobody sets. */
const rightClock = Date.now;
const shift = (ms: number) => vi.setSystemTime(Date.now() + ms);
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tenant's administrator who changes agents, and a token for a data plane of the tenant. */
async function anAdministrator() {
  const { scope, token } = await aTenantAdmin();
  const change = async (url: string, body: object, method: 'POST' | 'PATCH' = 'POST') => {
    const answer = await call(url, { token, body, method });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
    return answer.json();
  };
  const { token: root } = await change('/api/v1/admin/data-plane-tokens', { label: 'x' });
  const about = { name: 'a', agent_type: 'assistant', owner: 'a@example.com' };
  const { id } = await change('/api/v1/agents', about);
  const setStatus = (status: string) => change(`/api/v1/agents/${id}`, { status }, 'PATCH');
  return { tenantId: scope.tenantId, agentId: id as string, root, change, setStatus };
}

describe('the control plane alone', () => {
  it('changes what a data plane elsewhere enforces', { timeout: 60_000 }, async () => {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const cpUrl = listeningUrl(app, { host: '127.0.0.1', port: 0 });
    const { tenantId, agentId, root, change, setStatus } = await anAdministrator();
    const folder = join(dataDir, 'plane');
    mkdirSync(folder);
    const { core, stop } = await aConnectedCore({
      ...{ dataDir: folder, cpUrl, token: root, now: rightClock },
    });
    ends.push(stop);
    const enforced = () => [
      core.replica.findAgent(tenantId, agentId)?.status,
      core.replica.findKillSwitch(tenantId)?.engaged ?? false,
    ];
    await expect.poll(enforced).toEqual(['active', false]);

    shift(-HOUR);
    await setStatus('suspended');
    await expect.poll(enforced).toEqual(['suspended', false]);
    await change('/api/v1/admin/killswitch', {});
    await expect.poll(enforced).toEqual(['suspended', true]);
    expect(core.status().tenants).toMatchObject([{ feed: { failure: null } }]);

    shift(HOUR);
    await setStatus('active');
    await expect.poll(enforced).toEqual(['active', true]);

    // As after its clock was ahead for long, and put right.
    await test.superuser.query("UPDATE service_clock SET newest = newest + interval '1 hour'");
    await controlPlane.standingClock?.share();
    await setStatus('suspended');
    await expect.poll(enforced).toEqual(['suspended', true]);
    expect(core.status().tenants).toMatchObject([{ feed: { failure: null } }]);
  });

  it('dates all of its statements as before', async () => {
    const { root, setStatus } = await anAdministrator();
    const registered = await call('/api/v1/data-planes/register', {
      ...{ token: root, body: aRegistration().provenWith(root) },
    });
    const { deployment_id, token: own } = registered.json();
    const url = `/api/v1/data-planes/${deployment_id}/feed`;
    const read = (path: string) => call(`${url}${path}`, { token: own.token });
    const readTimes = async () => {
      const page = FeedPageBody.parse((await read(`?cursor=0&digest=${FEED_START}`)).json());
      const lines = (await read('/snapshot')).body.trim().split('\n');
      const last = SnapshotLine.parse(JSON.parse(lines.at(-1) ?? ''));
      const signed = [page.statement, page.recognition, page.admin_head, 'end' in last && last.end];
      return signed.map((one) => (one ? Date.parse(one.statement.time) : Number.NaN));
    };
    const first = Math.min(...(await readTimes()));
    shift(-HOUR);
    await setStatus('suspended');
    expect(Math.min(...(await readTimes()))).toBeGreaterThanOrEqual(first);
  });

  it('has its rules above those that a data plane has, as before', async () => {
    const { tenantId } = await anAdministrator();
    const { revision } = await controlPlane.bundles.requestBuild(tenantId);
    shift(-48 * HOUR);
    controlPlane.bundles.noteNewerRevision(tenantId, revision + HOUR);
    const next = await controlPlane.bundles.requestBuild(tenantId);
    expect(next.revision).toBeGreaterThan(revision + HOUR);
  });
});

describe('both planes in one process', () => {
  let url: string;
  let env: Record<string, string>;
  let service: RunningService | undefined;

  async function start(): Promise<void> {
    service = await startStandalone(env, { onFatal: () => undefined });
  }
  async function stop(): Promise<void> {
    await service?.stop();
    service = undefined;
  }
  const ask = async (path: string) =>
    (await (await fetch(`${url}${path}`)).json()) as Record<string, unknown>;
  const health = () => ask('/health');

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: url,
      SERVICE_DATA_DIR: join(dataDir, 'standalone'),
      SERVICE_ADMIN_PASSWORD: PASSWORD,
      DATABASE_URL: ofOneProcess.url,
    };
    ends.push(stop);
  });

  it('changes what is enforced', { timeout: 60_000 }, async () => {
    await start();
    const admin = await adminApi(url, 'admin', PASSWORD);
    await registerServer(admin, upstream.url);
    const role = await registerRole(admin, 'reader', 'up:read');
    const agents = [await registerAgent(admin, 'a', role), await registerAgent(admin, 'b', role)];
    const callTool = async (authorization: string) => {
      const client = await connectSdk(`${url}/mcp/v1/up`, { authorization });
      await client.callTool({ name: 'read_thing', arguments: {} }).finally(() => client.close());
    };
    const answers = () =>
      Promise.all(
        agents.map((agent) =>
          callTool(basicOf(agent)).then(
            () => 'passed',
            () => 'refused',
          ),
        ),
      );
    expect(await answers()).toEqual(['passed', 'passed']);

    shift(-HOUR);
    await admin.patch(`/api/v1/agents/${agents[0]?.id}`, { status: 'suspended' });
    expect(await answers()).toEqual(['refused', 'passed']);
    await admin.post('/api/v1/admin/killswitch', {});
    expect(await answers()).toEqual(['refused', 'refused']);
    expect(await health()).toMatchObject({ status: 'ok' });
  });

  it('changes it where it was started while the clock was ahead', { timeout: 60_000 }, async () => {
    await stop();
    shift(48 * HOUR);
    await start();
    await expect.poll(async () => (await fetch(`${url}/ready`)).status).toBe(200);
    await expect.poll(health).toMatchObject({ status: 'ok' });
    shift(-48 * HOUR);
    const admin = await adminApi(url, 'admin', PASSWORD);
    // Answered when it is enforced, or after ten seconds.
    await admin.post('/api/v1/admin/killswitch', { lift: true });
    await admin.post('/api/v1/admin/killswitch', {});
    expect(await health()).toMatchObject({ status: 'ok' });
    expect((await ask('/ready')).warnings ?? {}).not.toHaveProperty('feed');
  });

  it('goes by an earlier clock that was accepted, and shows that others are refused', {
    timeout: 60_000,
  }, async () => {
    await stop();
    shift(-HOUR);
    const said: string[] = [];
    const out = {
      log: (text: string) => said.push(text),
      error: (text: string) => said.push(text),
    };
    // The operator takes the wrong time for the right one.
    const command = ['accept-clock', '--reason', 'an hour before'];
    expect(await runControlPlaneCommand(command, env, out)).toBe(0);
    expect(said.join('\n')).toContain('data planes let go of the later time');
    await start();
    const isConnected = async () => (await fetch(`${url}/ready`)).status;
    await expect.poll(isConnected).toBe(200);
    const admin = await adminApi(url, 'admin', PASSWORD);
    // Answered when it is enforced, or after ten seconds.
    await admin.post('/api/v1/admin/killswitch', { lift: true });
    await admin.post('/api/v1/admin/killswitch', {});
    expect(await health()).toMatchObject({ status: 'ok' });
    expect((await ask('/ready')).warnings ?? {}).not.toHaveProperty('feed');

    // As after a restore from a backup of before that.
    await stop();
    await ofOneProcess.superuser.query('UPDATE service_clock SET generation = 0');
    await start();
    const feed = 'of 1 tenants refused: statement_stale';
    await expect.poll(health).toMatchObject({ status: 'degraded', feed });
    expect(await ask('/ready')).toMatchObject({ warnings: { feed } });

    await stop();
    shift(60_000);
    const announce = ['announce-restore', '--reason', 'a backup was restored'];
    expect(await runControlPlaneCommand(announce, env, out), said.join('\n')).toBe(0);
    await start();
    await expect.poll(health).toMatchObject({ status: 'ok' });
  });
});
