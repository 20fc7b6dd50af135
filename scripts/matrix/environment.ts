/** The one service that every cell runs against, with its servers and agents. */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AdminApi, adminApi } from '../../tests/support/admin-api.ts';
import { startService } from '../../tests/support/service-process.ts';
import { type CellPlace, SCHEMES, type Scheme } from './cell.ts';
import type { ClientKind } from './client.ts';
import { POLICY, type ServerKind, startServers } from './servers.ts';

export interface Environment {
  servers: ServerKind[];
  /** Where a client's cells run. */
  place(client: ClientKind, scheme: Scheme): CellPlace;
  /** What the service wrote. */
  output(): string;
  stop(): Promise<void>;
}

interface Agent {
  id: string;
  client_id: string;
  client_secret: string;
}

/**
 * Starts everything. Each client is a separate agent per credential, so that cells that run at the
 * same time share no stdio server.
 */
export async function startEnvironment(clients: ClientKind[]): Promise<Environment> {
  const folder = await mkdtemp(join(tmpdir(), 'governance-matrix-'));
  const cleanups: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    // When run as root, PostgreSQL's own user needs access, or its files would stay in /var/lib.
    await chmod(folder, 0o711);
    const own = join(folder, 'clients');
    await mkdir(own);
    const servers = await startServers(folder);
    cleanups.push(() => servers.stop());
    const service = await startService({
      dataDir: join(folder, 'data'),
      env: { SERVICE_MCP_SERVERS_FILE: servers.serversFile },
    });
    cleanups.push(() => service.stop());
    const admin = await adminApi(service.url, 'admin', service.adminPassword);
    for (const { id } of servers.kinds) await registerServer(admin, id, servers.urls[id]);
    await admin.post('/api/v1/policies', {
      name: 'Forbidden in the matrix',
      rego_content: POLICY,
      status: 'active',
    });
    await admin.patch('/api/v1/admin/rate-limits', { enabled: false });
    const { id: roleId } = await admin.post<{ id: string }>('/api/v1/roles', {
      name: 'matrix',
      permissions: servers.kinds.map(({ id }) => `${id}:*`),
    });
    const authorizations = new Map<string, string>();
    for (const { title } of clients) {
      for (const scheme of SCHEMES) {
        const name = `${title} ${scheme}`;
        const agent = await registerAgent(admin, name, roleId);
        const isBasic = scheme === 'Basic';
        authorizations.set(name, isBasic ? basicOf(agent) : await bearerOf(service.url, agent));
      }
    }
    return {
      servers: servers.kinds,
      place: ({ title }, scheme) => ({
        url: service.url,
        authorization: authorizations.get(`${title} ${scheme}`) ?? '',
        folder: own,
      }),
      output: () => service.output(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function registerServer(admin: AdminApi, id: string, url: string | undefined): Promise<void> {
  await admin.post('/api/v1/mcp-servers', {
    server_id: id,
    ...(url === undefined
      ? { transport: 'stdio', local_name: id }
      : { transport: 'streamable-http', url }),
  });
}

async function registerAgent(admin: AdminApi, name: string, roleId: string): Promise<Agent> {
  const agent = await admin.post<Agent>('/api/v1/agents', {
    name,
    agent_type: 'assistant',
    owner: 'matrix@example.com',
  });
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: roleId });
  return agent;
}

function basicOf({ client_id, client_secret }: Agent): string {
  return `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
}

async function bearerOf(url: string, { client_id, client_secret }: Agent): Promise<string> {
  const answer = await fetch(`${url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id, client_secret, grant_type: 'client_credentials' }),
  });
  if (!answer.ok) throw new Error(`no token: ${answer.status} ${await answer.text()}`);
  const { access_token } = (await answer.json()) as { access_token: string };
  return `Bearer ${access_token}`;
}
