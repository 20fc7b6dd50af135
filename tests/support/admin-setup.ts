/** What a journey needs before its first call, registered over the management API. */
import type { AdminApi } from './admin-api.ts';

export interface RegisteredAgent {
  id: string;
  client_id: string;
  client_secret: string;
}

/** @returns a token with which a data plane registers */
export async function issueDataPlaneToken(admin: AdminApi, region?: string): Promise<string> {
  const { token } = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
    ...{ label: 'journey', ...(region && { region }) },
  });
  return token;
}

/** Registers an upstream that speaks Streamable HTTP. */
export async function registerServer(admin: AdminApi, url: string, serverId = 'up'): Promise<void> {
  const server = { server_id: serverId, transport: 'streamable-http', url };
  await admin.post('/api/v1/mcp-servers', server);
}

/** Registers a role and returns its id. */
export async function registerRole(
  admin: AdminApi,
  name: string,
  ...permissions: string[]
): Promise<string> {
  const role = { name, description: '', permissions, resource_scopes: [] };
  return (await admin.post<{ id: string }>('/api/v1/roles', role)).id;
}

/** Registers an agent that has one role. */
export async function registerAgent(
  admin: AdminApi,
  name: string,
  roleId: string,
): Promise<RegisteredAgent> {
  const about = { name, agent_type: 'test', owner: 'tests', description: '' };
  const agent = await admin.post<RegisteredAgent>('/api/v1/agents', about);
  await admin.post(`/api/v1/agents/${agent.id}/roles`, { role_id: roleId });
  return agent;
}

/** @returns the agent's Authorization header */
export function basicOf(agent: Pick<RegisteredAgent, 'client_id' | 'client_secret'>): string {
  const secret = Buffer.from(`${agent.client_id}:${agent.client_secret}`);
  return `Basic ${secret.toString('base64')}`;
}
