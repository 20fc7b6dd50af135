/**
 * Every key of the service rotates while agents call, and one data plane is away meanwhile: no call
 * fails, and evidence of each time verifies with the anchor of the other.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { runVerifyEvidence } from '../verifier/src/verify-evidence-command.ts';
import { findMissingPython, secondOpinions } from '../verifier/testing/second-opinion.ts';
import { type AdminApi, adminApi } from './support/admin-api.ts';
import {
  issueDataPlaneToken,
  type RegisteredAgent,
  registerAgent,
  registerRole,
  registerServer,
} from './support/admin-setup.ts';
import { startCutLink } from './support/cut-link.ts';
import { connectSdk } from './support/sdk-client.ts';
import { type ServiceProcess, startService } from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';

vi.setConfig({ testTimeout: 120_000 });

const SUPER_PASSWORD = 'the super-admin of the journey';
const database = await testDatabase();
const folder = mkdtempSync(join(tmpdir(), 'key-rotation-'));
const since = new Date(Date.now() - 60_000).toISOString();
let upstream: TestUpstream;
let controlPlane: ServiceProcess;
let planes: ServiceProcess[] = [];
let dataPlaneEnv: Record<string, string>;
let admin: AdminApi;
let superAdmin: AdminApi;
let agent: RegisteredAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
  controlPlane = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      SERVICE_SUPER_ADMIN_PASSWORD: SUPER_PASSWORD,
      SERVICE_KEY_OVERLAP_SECONDS: '2',
    },
  });
  admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
  superAdmin = await adminApi(controlPlane.url, 'superadmin', SUPER_PASSWORD);
  dataPlaneEnv = {
    SERVICE_DEPLOYMENT_MODE: 'data-plane',
    SERVICE_CP_URL: controlPlane.url,
    SERVICE_CP_TOKEN: await issueDataPlaneToken(admin, 'eu-test'),
  };
  await registerServer(admin, upstream.url);
  agent = await registerAgent(admin, 'caller', await registerRole(admin, 'reader', 'up:read'));
  planes = await Promise.all([0, 1].map(() => startService({ env: dataPlaneEnv })));
}, 90_000);

afterAll(async () => {
  await Promise.all(planes.map((plane) => plane.dispose()));
  await controlPlane?.dispose();
  await upstream?.stop();
  rmSync(folder, { recursive: true });
});

const plane = (index: number) => planes[index] as ServiceProcess;

async function getToken(): Promise<string> {
  const { client_id, client_secret } = agent;
  const answer = await fetch(`${controlPlane.url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

const connect = (url: string, token: string) =>
  connectSdk(`${url}/mcp/v1/up`, { authorization: `Bearer ${token}` });

/** Calls again and again, until told to stop, with one token or a new one each time. */
function keepCalling(url: string, kept: string | null) {
  let isEnding = false;
  const told = { calls: 0, failures: [] as string[] };
  const ended = (async () => {
    while (!isEnding) {
      try {
        const client = await connect(url, kept ?? (await getToken()));
        const { isError } = await client.callTool({ name: 'read_thing', arguments: {} });
        if (isError) told.failures.push('the tool failed');
        await client.close();
        told.calls++;
      } catch (error) {
        told.failures.push(`call ${told.calls}: ${error}`);
      }
      // Below the limit of an agent: 600 requests a minute.
      await new Promise((resolve) => setTimeout(resolve, 1_200));
    }
  })();
  return {
    told,
    stop: async () => {
      isEnding = true;
      await ended;
      return told;
    },
  };
}

const saveAnchor = async (name: string): Promise<string> => {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(await admin.get('/api/v1/evidence/trust-anchor')));
  return path;
};

async function savePackage(name: string): Promise<string> {
  const to = new Date().toISOString();
  const { id } = await admin.post<{ id: string }>('/api/v1/evidence/packages', { from: since, to });
  await vi.waitFor(
    async () => {
      const { status } = await admin.get<{ status: string }>(`/api/v1/evidence/packages/${id}`);
      expect(status).toBe('ready');
    },
    { timeout: 20_000, interval: 200 },
  );
  const answer = await fetch(`${controlPlane.url}/api/v1/evidence/packages/${id}/download`, {
    headers: { authorization: `Bearer ${admin.token}` },
  });
  const path = join(folder, name);
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
  return path;
}

async function rotate(purpose: string): Promise<void> {
  const { valid_from } = await superAdmin.post<{ valid_from: string }>(
    `/api/v1/admin/keys/${purpose}/rotate`,
  );
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(valid_from)), 10_000);
}

const feedState = async (url: string) =>
  ((await (await fetch(`${url}/health`)).json()) as { tenants: object[] }).tenants[0];

async function verdicts(path: string, anchor: string): Promise<string[]> {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  const code = await runVerifyEvidence([path, '--trust-anchor', anchor], {
    ...{ write, writeError: write },
  });
  const first = code === 0 ? 'VERIFIED' : text;
  if (findMissingPython() !== undefined) return [first];
  return [first, ...secondOpinions([path], anchor).map(({ verdict }) => verdict)];
}

it('lets every key follow while agents call, also at a data plane that was away', async () => {
  const early = await getToken();
  const first = keepCalling(plane(0).url, early);
  const others = keepCalling(plane(0).url, null);
  const away = keepCalling(plane(1).url, early);
  await vi.waitFor(() => expect(away.told.calls).toBeGreaterThan(2), 20_000);
  const before = { anchor: await saveAnchor('a1.json'), package: await savePackage('p1.tar.gz') };
  expect((await away.stop()).failures).toEqual([]);
  await plane(1).stop();

  await Promise.all(['bundle', 'feed', 'evidence', 'checkpoint', 'batch', 'token'].map(rotate));
  await Promise.all(['feed', 'bundle', 'workflow-token', 'delegation-token'].map(rotate));

  const { dataDir } = plane(1);
  planes[1] = await startService({ env: dataPlaneEnv, dataDir });
  // The very first call there is one with a token of the newest key.
  const back = [keepCalling(plane(1).url, null), keepCalling(plane(1).url, early)];
  // Rules that only the newest keys have signed reach both.
  const { cursor } = (await feedOf(plane(0).url)) as { cursor: number };
  await admin.post('/api/v1/roles', {
    ...{ name: 'later', description: '', permissions: ['up:read'], resource_scopes: [] },
  });
  for (const { url } of planes) {
    await vi.waitFor(
      async () => {
        const feed = await feedOf(url);
        expect(feed.failure).toBeNull();
        expect(feed.cursor).toBeGreaterThan(cursor);
      },
      { timeout: 20_000, interval: 200 },
    );
  }
  await vi.waitFor(() => expect(back[0]?.told.calls).toBeGreaterThan(2), 20_000);
  const after = { anchor: await saveAnchor('a2.json'), package: await savePackage('p2.tar.gz') };
  for (const [name, load] of [
    ['first', first],
    ['others', others],
    ...back.map((load, n) => [`back ${n}`, load] as const),
  ] as const) {
    const { calls, failures } = await load.stop();
    expect({ name, failures }).toEqual({ name, failures: [] });
    expect(calls).toBeGreaterThan(2);
  }
  // Who was connected all the time was told of each key before it signed.
  expect(plane(0).output()).not.toMatch(/statement_unknown_key|key_unknown/);
  expect(readFileSync(before.anchor)).not.toEqual(readFileSync(after.anchor));
  for (const file of [before.package, after.package]) {
    for (const anchor of [before.anchor, after.anchor]) {
      expect(new Set(await verdicts(file, anchor))).toEqual(new Set(['VERIFIED']));
    }
  }
});

it('asks for news at once where a token names a key that it does not know, and not more often', async () => {
  const link = await startCutLink(controlPlane.url);
  const cutOff = await startService({ env: { ...dataPlaneEnv, SERVICE_CP_URL: link.url } });
  planes.push(cutOff);
  const callOnce = async (token: string) => {
    const client = await connect(cutOff.url, token);
    const { isError } = await client.callTool({ name: 'read_thing', arguments: {} });
    await client.close();
    return isError ?? false;
  };
  const askAs = (token: string) =>
    fetch(`${cutOff.url}/mcp/v1/up`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
  expect(await callOnce(await getToken())).toBe(false);

  link.cut();
  await vi.waitFor(async () => expect((await feedOf(cutOff.url)).failure).not.toBeNull(), 20_000);
  await rotate('token');
  const newest = await getToken();
  const refused = await askAs(newest);
  expect(refused.status).toBe(401);
  expect(await refused.text()).toContain('the control plane did not answer');
  link.heal();
  // The very first one, well within the seconds in which nothing is asked once more.
  expect(await callOnce(newest)).toBe(false);

  const [head, claims, signature] = newest.split('.') as [string, string, string];
  const forge = (n: number) => {
    const made = { ...JSON.parse(Buffer.from(head, 'base64url').toString()), kid: `made-up-${n}` };
    return `${Buffer.from(JSON.stringify(made)).toString('base64url')}.${claims}.${signature}`;
  };
  const asked = () => link.count(/^GET \S*\/feed/);
  const before = { asked: asked(), at: performance.now() };
  for (let n = 0; n < 80; n += 20) {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => askAs(forge(n + i))));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
  }
  // Three that are asked for, and then one every two seconds; with each the wait after it.
  const seconds = (performance.now() - before.at) / 1_000;
  expect(asked() - before.asked).toBeLessThanOrEqual(2 * (Math.floor(seconds / 2) + 3) + 2);
  expect(await callOnce(newest)).toBe(false);
  // Before its link: without one it would wait for its control plane.
  await cutOff.stop();
  await link.stop();
});

async function feedOf(url: string): Promise<{ cursor: number; failure: unknown }> {
  const tenant = (await feedState(url)) as { feed: { cursor: number; failure: unknown } };
  return tenant.feed;
}
