/**
 * One data plane for two tenants of one control plane, over real HTTP: what is one's is never the
 * other's, though names and server ids are the same, and both share one ledger file.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEDGER_FILE } from '@governance/data-plane/ledger/ledger';
import { type RunningDataPlane, startDataPlane } from '@governance/data-plane/main';
import { startTestUpstream, type TestUpstream } from '@governance/data-plane/testing/test-upstream';
import { CHANNEL_PATHS } from '@governance/shared/channel/channel-routes';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { uuidv7 } from '@governance/shared/ids';
import { createPatientServer } from '@governance/shared/testing/test-http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { aRegistration } from './support/a-registration.ts';
import { freePort } from './support/service-process.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const { app, call, superAdminToken, test } = await testControlPlane();
const cpUrl = await app.listen({ port: 0, host: '127.0.0.1' });
const ends: (() => unknown)[] = [];

beforeAll(() => {
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
  // The log of the process goes past console.
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  vi.restoreAllMocks();
});

/** A tenant with a server `files`, an agent `worker` that may use it, and a token for a data plane. */
async function aTenant() {
  const name = `tenant-${uuidv7()}`;
  const account = { username: `admin-of-${name}`, password: 'a password of the tenant' };
  const created = await call('/api/v1/tenants', {
    token: await superAdminToken(),
    body: { name, admin: account },
  });
  expect(created.statusCode, created.body).toBe(201);
  const tenantId: string = created.json().id;
  const admin: string = (await call('/api/v1/auth/admin/login', { body: account })).json()
    .access_token;
  const upstream = await startTestUpstream({
    tools: [{ name: 'read_thing', annotations: { readOnlyHint: true } }],
  });
  ends.push(upstream.stop);
  const post = async (path: string, body: object) => {
    const answer = await call(path, { token: admin, body });
    expect([200, 201], answer.body).toContain(answer.statusCode);
    return answer.json();
  };
  await post('/api/v1/mcp-servers', {
    server_id: 'files',
    transport: 'streamable-http',
    url: upstream.url,
  });
  const role = await post('/api/v1/roles', {
    name: 'reader',
    description: '',
    permissions: ['files:read'],
    resource_scopes: [],
  });
  const agent = await post('/api/v1/agents', {
    name: 'worker',
    agent_type: 'test',
    owner: 'tests',
    description: '',
  });
  await post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  const issue = async (region = '') =>
    await post('/api/v1/admin/data-plane-tokens', { label: 'shared', region });
  return { tenantId, admin, agent, upstream, issue };
}
type Tenant = Awaited<ReturnType<typeof aTenant>>;

async function startPlane(tokens: string[], over: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'several-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const plane: RunningDataPlane = await startDataPlane(
    {
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_CP_URL: cpUrl,
      SERVICE_CP_TOKEN: tokens.join(','),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: url,
      SERVICE_DATA_DIR: dataDir,
      ...over,
    },
    {
      onFatal: () => {
        throw new Error('the ledger failed');
      },
    },
  );
  ends.push(async () => {
    await plane.stop();
    rmSync(dataDir, { recursive: true });
  });
  return { url, dataDir };
}

interface Health {
  tenants: {
    tenant_id: string;
    deployment_id: string;
    denied: string | null;
    bundle: { active: { revision: number } | null };
    shipper: { backlog: number };
  }[];
}
const healthOf = async (url: string) => (await (await fetch(`${url}/health`)).json()) as Health;

async function ready(url: string, count: number): Promise<Health> {
  await vi.waitFor(
    async () => {
      const { tenants } = await healthOf(url);
      expect(tenants.filter(({ bundle, denied }) => bundle.active && !denied)).toHaveLength(count);
    },
    { timeout: 15_000, interval: 50 },
  );
  return healthOf(url);
}

async function agentToken(url: string, { agent }: Tenant): Promise<string> {
  const { client_id, client_secret } = agent;
  const answer = await fetch(`${url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'client_credentials', client_id, client_secret }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { access_token: string }).access_token;
}

const basicOf = ({ agent }: Tenant) =>
  `Basic ${Buffer.from(`${agent.client_id}:${agent.client_secret}`).toString('base64')}`;

async function callTool(url: string, authorization: string, server = 'files') {
  const answer = await fetch(`${url}/mcp/v1/${server}`, {
    method: 'POST',
    headers: {
      authorization,
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
  return { status: answer.status, code: error?.code ?? 'ok', reason: error?.data?.reason };
}

const callsAt = (upstream: TestUpstream) => upstream.messages('tools/call').length;

/** Whose decisions the control plane has for a tenant, by stream and agent. */
async function decisionsOf({ tenantId }: Tenant) {
  const { rows } = await test.superuser.query<{ stream: string; bytes: Buffer }>(
    `SELECT stream, bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'decision'`,
    [tenantId],
  );
  return rows.map(({ stream, bytes }) => {
    const record = JSON.parse(bytes.toString());
    return {
      stream,
      tenant: record.tenant_id,
      agent: record.agent_id,
      result: record.policy_result,
    };
  });
}

const metric = (text: string, name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);

describe('two tenants on one data plane', { timeout: 60_000 }, () => {
  it('share a process and a ledger file, and nothing else', async () => {
    const [a, b] = [await aTenant(), await aTenant()];
    const [tokenA, tokenB] = [await a.issue(), await b.issue()];
    const { url, dataDir } = await startPlane([tokenA.token, tokenB.token]);
    const { tenants } = await ready(url, 2);
    const deploymentOf = ({ tenantId }: Tenant) =>
      tenants.find((one) => one.tenant_id === tenantId)?.deployment_id;

    // The same names, and each reaches its own tenant's server, whatever it shows.
    for (const [own, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const before = [callsAt(own.upstream), callsAt(other.upstream)] as const;
      expect((await callTool(url, basicOf(own))).code).toBe('ok');
      expect((await callTool(url, `Bearer ${await agentToken(url, own)}`)).code).toBe('ok');
      const { client_id, client_secret } = own.agent;
      const issued = await call('/api/v1/auth/token', {
        body: { grant_type: 'client_credentials', client_id, client_secret },
      });
      expect((await callTool(url, `Bearer ${issued.json().access_token}`)).code).toBe('ok');
      expect([callsAt(own.upstream), callsAt(other.upstream)]).toEqual([before[0] + 3, before[1]]);
    }
    // A good token with the other tenant, or the other's agent, written into it.
    const [head, claims = '', signature] = (await agentToken(url, a)).split('.');
    for (const change of [{ tenant_id: b.tenantId }, { sub: b.agent.id }]) {
      const said = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), ...change };
      const forged = Buffer.from(JSON.stringify(said)).toString('base64url');
      const answer = await callTool(url, `Bearer ${head}.${forged}.${signature}`);
      expect(answer).toMatchObject({ status: 401, code: -32000 });
    }
    const mixed = Buffer.from(`${a.agent.client_id}:${b.agent.client_secret}`).toString('base64');
    expect((await callTool(url, `Basic ${mixed}`)).status).toBe(401);

    // A data plane's token opens its own tenant's channels alone.
    const registered = await call(CHANNEL_PATHS.register, {
      token: tokenA.token,
      body: aRegistration().provenWith(tokenA.token),
    });
    const child: string = registered.json().token.token;
    for (const token of [tokenA.token, child]) {
      const feed = `${CHANNEL_PATHS.feed(deploymentOf(b) ?? '')}?cursor=0&digest=${FEED_START}`;
      for (const path of [feed, CHANNEL_PATHS.bundle(b.tenantId)]) {
        expect((await call(path, { token })).statusCode, path).toBe(404);
      }
    }

    // One file, whose commits take what both have at a time.
    const metrics = async () => (await fetch(`${url}/metrics`)).text();
    const before = await metrics();
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => callTool(url, basicOf(i % 2 === 0 ? a : b))),
    );
    const after = await metrics();
    const grown = (name: string) => metric(after, name) - metric(before, name);
    const records = grown('governance_ledger_records_total');
    expect(records).toBeGreaterThanOrEqual(200);
    expect(grown('governance_ledger_commit_seconds_count')).toBeLessThan(records / 2);
    expect(
      readdirSync(dataDir)
        .filter((name) => name.endsWith('.db'))
        .sort(),
    ).toEqual([
      LEDGER_FILE,
      'held-results.db',
      'log-watch.db',
      'replica.db',
      'tool-definitions.db',
      'tool-pins.db',
    ]);

    await vi.waitFor(
      async () => {
        for (const { shipper } of (await healthOf(url)).tenants) expect(shipper.backlog).toBe(0);
      },
      { timeout: 15_000, interval: 50 },
    );
    for (const own of [a, b]) {
      const decisions = await decisionsOf(own);
      expect(decisions.length).toBe(103);
      for (const decision of decisions) {
        expect(decision).toEqual({
          stream: deploymentOf(own),
          tenant: own.tenantId,
          agent: own.agent.id,
          result: 'allow',
        });
      }
    }

    // The same server_id, of which each tenant is told its own.
    await a.upstream.stop();
    for (let i = 0; i < 5; i++) expect((await callTool(url, basicOf(a))).code).not.toBe('ok');
    const shown = async ({ admin }: Tenant) =>
      (await call('/api/v1/mcp-servers/files', { token: admin })).json();
    const found = (of: Tenant, health: string) => ({
      health,
      health_by: { total: 1, data_planes: [{ deployment_id: deploymentOf(of), health }] },
    });
    await vi.waitFor(
      async () => {
        expect(await shown(a)).toMatchObject(found(a, 'resting'));
        expect(await shown(b)).toMatchObject(found(b, 'ok'));
      },
      { timeout: 15_000, interval: 100 },
    );

    // What ends one ends nothing of the other.
    const path = `/api/v1/admin/data-plane-tokens/${tokenA.id}`;
    expect((await call(path, { token: a.admin, method: 'DELETE' })).statusCode).toBe(204);
    await vi.waitFor(
      async () =>
        expect(await callTool(url, basicOf(a))).toEqual({
          status: 200,
          code: -32003,
          reason: 'tenant_revoked',
        }),
      { timeout: 10_000, interval: 50 },
    );
    expect((await callTool(url, basicOf(b))).code).toBe('ok');
    expect(
      (
        await call(`/api/v1/agents/${b.agent.id}`, {
          token: b.admin,
          method: 'PATCH',
          body: { status: 'suspended' },
        })
      ).statusCode,
    ).toBe(200);
    await vi.waitFor(
      async () => expect((await callTool(url, basicOf(b))).status).toBe(401),
      20_000,
    );
    expect(
      (await healthOf(url)).tenants.map(({ tenant_id, denied }) => [tenant_id, denied]),
    ).toEqual(
      expect.arrayContaining([
        [a.tenantId, 'tenant_revoked'],
        [b.tenantId, null],
      ]),
    );
  });
});

describe('stdio servers of the operator’s file', { timeout: 60_000 }, () => {
  it('are for the tenants that their entries name, whoever registers their names', async () => {
    const [a, b] = [await aTenant(), await aTenant()];
    const folder = mkdtempSync(join(tmpdir(), 'several-stdio-'));
    ends.push(() => rmSync(folder, { recursive: true, force: true }));
    // Says that it was started before anything else.
    const script = `
      require('node:fs').appendFileSync(process.env.MARK, 'x');
      const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
      const info = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
      require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (id === undefined) return;
        if (method === 'initialize') return send({ id, result: info });
        if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'read_thing', inputSchema: { type: 'object' } }] } });
        if (method === 'tools/call') return send({ id, result: { content: [{ type: 'text', text: process.env.KNOWS }] } });
        send({ id, error: { code: -32601, message: 'no' } });
      });`;
    const entry = (mark: string, tenants?: string[]) => ({
      ...{ command: process.execPath, args: ['-e', script] },
      env: { MARK: join(folder, mark), KNOWS: `what ${mark} knows` },
      ...(tenants && { tenants }),
    });
    const servers = {
      'a-secret': entry('a', [a.tenantId]),
      'for-both': entry('both', [a.tenantId.toUpperCase(), b.tenantId]),
      'for-all': entry('all', ['*']),
      'of-nobody': entry('nobody'),
    };
    const file = join(folder, 'servers.json');
    writeFileSync(file, JSON.stringify({ servers }));
    const tokens = [(await a.issue()).token, (await b.issue()).token];
    const { url } = await startPlane(tokens, { SERVICE_MCP_SERVERS_FILE: file });
    await ready(url, 2);
    for (const { admin, agent } of [a, b]) {
      const post = (path: string, body: object) => call(path, { token: admin, body });
      for (const local_name of [...Object.keys(servers), 'no-such']) {
        const body = { server_id: local_name, transport: 'stdio', local_name };
        // The control plane cannot know what a data plane elsewhere has.
        expect((await post('/api/v1/mcp-servers', body)).statusCode).toBe(201);
      }
      const role = { name: 'all', description: '', permissions: ['*:*'], resource_scopes: [] };
      const { id } = (await post('/api/v1/roles', role)).json();
      await post(`/api/v1/agents/${agent.id}/roles`, { role_id: id });
    }
    const codeOf = async (of: Tenant, server: string) =>
      (await callTool(url, basicOf(of), server)).code;
    await vi.waitFor(async () => expect(await codeOf(b, 'for-all')).toBe('ok'), {
      timeout: 15_000,
      interval: 100,
    });
    await vi.waitFor(async () => expect(await codeOf(a, 'a-secret')).toBe('ok'), {
      timeout: 15_000,
      interval: 100,
    });
    expect([await codeOf(a, 'for-both'), await codeOf(b, 'for-both')]).toEqual(['ok', 'ok']);
    for (const name of ['a-secret', 'of-nobody', 'no-such']) {
      expect([name, await codeOf(b, name)]).toEqual([name, -32603]);
    }
    expect(await codeOf(a, 'of-nobody')).toBe(-32603);
    expect(existsSync(join(folder, 'nobody'))).toBe(false);

    const reasons = async ({ admin }: Tenant) => {
      const list = (await call('/api/v1/mcp-servers', { token: admin })).json().mcp_servers;
      return Object.fromEntries(
        list.map(
          (one: {
            server_id: string;
            health: string;
            health_by: { data_planes: { reason: string }[] };
          }) => [one.server_id, [one.health, one.health_by.data_planes[0]?.reason ?? null]],
        ),
      );
    };
    const refused = (name: string) => [
      'failing',
      expect.stringContaining(`${name} is available to this tenant. Available: for-all, for-both.`),
    ];
    await vi.waitFor(
      async () =>
        expect(await reasons(b)).toMatchObject({
          'a-secret': refused('a-secret'),
          'of-nobody': refused('of-nobody'),
          'no-such': refused('no-such'),
          'for-all': ['ok', null],
        }),
      { timeout: 15_000, interval: 100 },
    );
    await vi.waitFor(
      async () => expect(await reasons(a)).toMatchObject({ 'a-secret': ['ok', null] }),
      { timeout: 15_000, interval: 100 },
    );
  });
});

it('records of a tenant carry the region that it lists the data plane with', async () => {
  const [a, b] = [await aTenant(), await aTenant()];
  const { url } = await startPlane([(await a.issue('eu-a')).token, (await b.issue()).token]);
  await ready(url, 2);
  for (const [tenant, region] of [
    [a, 'eu-a'],
    [b, ''],
  ] as const) {
    expect((await callTool(url, basicOf(tenant))).code).toBe('ok');
    const get = async (path: string) => (await call(path, { token: tenant.admin })).json();
    expect((await get('/api/v1/data-planes')).data_planes[0].region).toBe(region);
    await vi.waitFor(
      async () => {
        const { events } = await get(`/api/v1/audit/events?agent_id=${tenant.agent.id}`);
        expect(events[0]?.region).toBe(region || null);
      },
      { timeout: 10_000, interval: 100 },
    );
  }
});

describe('with OPA servers', { timeout: 60_000 }, () => {
  /**
   * The boundary of this test: a server for each tenant, under its id. It says what a real one says
   * (tests/opa-server.test.ts asks one), and one of them denies.
   */
  async function startOpas(revisionOf: (tenantId: string) => Promise<number>, denies: string) {
    const asked: string[] = [];
    const server = createPatientServer(async (request, response) => {
      for await (const _ of request);
      const tenantId = request.url?.split('/')[1] ?? '';
      const isDecision = request.url?.includes('/governance/decision?');
      if (isDecision) asked.push(tenantId);
      const decision = tenantId === denies ? 'deny' : 'allow';
      const revision = String(await revisionOf(tenantId));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          provenance: { bundles: { governance: { revision } } },
          result: isDecision ? { decision, reasons: [] } : tenantId,
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }

  it('each tenant is decided for by its own, where the address names the tenant', async () => {
    const [a, b] = [await aTenant(), await aTenant()];
    let plane = '';
    const revisionOf = async (tenantId: string) =>
      (await healthOf(plane)).tenants.find((one) => one.tenant_id === tenantId)?.bundle.active
        ?.revision ?? 0;
    const opas = await startOpas(revisionOf, b.tenantId);
    const tokens = [(await a.issue()).token, (await b.issue()).token];
    plane = (await startPlane(tokens, { SERVICE_OPA_URL: `${opas.url}/{tenant_id}` })).url;
    await ready(plane, 2);
    expect((await callTool(plane, basicOf(a))).code).toBe('ok');
    expect((await callTool(plane, basicOf(b))).code).toBe(-32003);
    expect(opas.asked).toEqual([a.tenantId, b.tenantId]);
    expect([callsAt(a.upstream), callsAt(b.upstream)]).toEqual([1, 0]);
  });

  it('with one address, the one whose bundle it has is judged, and the other denied', async () => {
    const [a, b] = [await aTenant(), await aTenant()];
    let plane = '';
    const revisionOf = async (tenantId: string) =>
      (await healthOf(plane)).tenants.find((one) => one.tenant_id === tenantId)?.bundle.active
        ?.revision ?? 0;
    // At the one path, the tenant a.
    const opas = await startOpas(revisionOf, 'nobody');
    const tokens = [(await b.issue()).token, (await a.issue()).token];
    plane = (await startPlane(tokens, { SERVICE_OPA_URL: `${opas.url}/${a.tenantId}` })).url;
    await ready(plane, 2);
    expect((await callTool(plane, basicOf(a))).code).toBe('ok');
    expect((await callTool(plane, basicOf(b))).code).toBe(-32003);
    expect(opas.asked).toEqual([a.tenantId]);
    expect([callsAt(a.upstream), callsAt(b.upstream)]).toEqual([1, 0]);
  });
});
