/**
 * The complete target: a data plane started as in production (`service.js`), which ships its
 * records over HTTP to a real control plane with its PostgreSQL. The data plane has core 1 to
 * itself. The control plane shares core 0 with the load at a lower priority: it uses what the load
 * leaves, and a measurement ends when it has every record.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type AdminApi, adminApi } from '../tests/support/admin-api.ts';
import { freePort, type ServiceProcess, startService } from '../tests/support/service-process.ts';
import {
  type Build,
  endChild,
  HEADERS,
  hasTaskset,
  idleMemory,
  onCore,
  stopTarget,
  type Target,
} from './processes.ts';
import { UNREACHED_LIMITS } from './targets/unreached-limits.ts';

/** Lower than the load's; PostgreSQL inherits it. */
const NICE = 10;
const READY_WITHIN_MS = 30_000;
const SETTLED_WITHIN_MS = 120_000;
const SETTLED_EVERY_MS = 100;

const Health = z.object({
  tenants: z.array(z.object({ shipper: z.object({ backlog: z.int() }) })),
});

/** Starts both planes and opens a session of an agent that may call the server. */
export async function startShippingPlane(build: Build, backend: string): Promise<Target> {
  const controlPlane = await startControlPlane(build);
  let target: Target | undefined;
  try {
    const admin = await adminApi(controlPlane.url, 'admin', controlPlane.adminPassword);
    const credential = await setUp(admin, backend);
    target = await startDataPlane(build, controlPlane, admin);
    const { origin, headers, child } = target;
    const token = async () => ({ authorization: `Bearer ${await takeToken(origin, credential)}` });
    await untilReady(origin);
    Object.assign(headers, await token());
    await openSession(origin, '/mcp/v1/bench', headers);
    if (child) target.idleMib = await idleMemory(child);
    return {
      ...target,
      renew: async () => void Object.assign(headers, await token()),
      settle: () => untilShipped(origin),
    };
  } catch (error) {
    if (target) await stopTarget(target);
    else await controlPlane.dispose();
    throw error;
  }
}

async function startControlPlane({ outdir }: Build): Promise<ServiceProcess> {
  const nice = hasTaskset ? ['nice', '-n', String(NICE)] : [];
  const service = await startService({
    build: outdir,
    env: { SERVICE_DEPLOYMENT_MODE: 'control-plane' },
    // Both commands replace themselves with Node, so that the child process is the service.
    wrapper: [...nice, ...onCore(0)],
  });
  process.once('exit', () => service.child.kill());
  return {
    ...service,
    async dispose() {
      await endChild(service.child);
      rmSync(service.dataDir, { recursive: true, force: true });
    },
  };
}

/** @returns the agent's Basic credential */
async function setUp(admin: AdminApi, backend: string): Promise<string> {
  await admin.post('/api/v1/mcp-servers', {
    server_id: 'bench',
    transport: 'streamable-http',
    url: `${backend}/mcp`,
  });
  await admin.patch('/api/v1/admin/rate-limits', UNREACHED_LIMITS);
  const role = await admin.post<{ id: string }>('/api/v1/roles', {
    name: 'bench',
    description: 'May call the server of the bench',
    permissions: ['bench:*'],
    resource_scopes: [],
  });
  const agent = await admin.post<{ id: string; client_id: string; client_secret: string }>(
    '/api/v1/agents',
    { name: 'bench', agent_type: 'bench', owner: 'bench', description: 'Makes the calls' },
  );
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  return `Basic ${Buffer.from(`${agent.client_id}:${agent.client_secret}`).toString('base64')}`;
}

async function startDataPlane(
  { root, outdir }: Build,
  controlPlane: ServiceProcess,
  admin: AdminApi,
): Promise<Target> {
  const { token } = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
    label: 'bench',
  });
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-bench-'));
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const command = [...onCore(1), process.execPath, join(outdir, 'service.js')];
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_OPTIONS: process.env.NODE_OPTIONS,
      SERVICE_DEPLOYMENT_MODE: 'data-plane',
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: origin,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_CP_URL: controlPlane.url,
      SERVICE_CP_TOKEN: token,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return {
    name: 'data plane that ships',
    origin,
    path: '/mcp/v1/bench',
    headers: { ...HEADERS },
    child,
    idleMib: null,
    async stop() {
      rmSync(dataDir, { recursive: true, force: true });
      await controlPlane.dispose();
    },
  };
}

async function untilReady(origin: string): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS;
  while (Date.now() < until) {
    const isReady = await fetch(`${origin}/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(50);
  }
  throw new Error(`the data plane at ${origin} did not become ready`);
}

/** A token lasts fifteen minutes, and a bench longer. */
async function takeToken(origin: string, authorization: string): Promise<string> {
  const response = await fetch(`${origin}/api/v1/auth/token`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`token: ${response.status} ${text}`);
  return z.object({ access_token: z.string() }).parse(JSON.parse(text)).access_token;
}

/** Opens an MCP session and adds its id to the headers. */
export async function openSession(
  origin: string,
  path: string,
  headers: Record<string, string>,
): Promise<void> {
  const post = async (message: object) => {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`a session: ${response.status} ${text}`);
    return response;
  };
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  };
  const response = await post({ id: 0, method: 'initialize', params });
  const session = response.headers.get('mcp-session-id');
  if (!session) throw new Error('initialize: no session');
  headers['mcp-session-id'] = session;
  await post({ method: 'notifications/initialized' });
}

/** Waits until the control plane has every record. */
async function untilShipped(origin: string): Promise<void> {
  const until = Date.now() + SETTLED_WITHIN_MS;
  while (Date.now() < until) {
    const health = Health.parse(await (await fetch(`${origin}/health`)).json());
    if (health.tenants.every(({ shipper }) => shipper.backlog === 0)) return;
    await sleep(SETTLED_EVERY_MS);
  }
  throw new Error('the records were not shipped in time');
}
