import { Client } from 'undici';
import type { AdminApi } from '../../tests/support/admin-api.ts';
import {
  basicOf,
  registerAgent,
  registerRole,
  registerServer,
} from '../../tests/support/admin-setup.ts';
import { markOf } from './marked-backend.ts';

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

/** Registers the marked backend and an agent that may call it; returns its Basic credentials. */
export async function setUpMarkedCalls(admin: AdminApi, backendPort: number): Promise<string> {
  // First of all: a data plane that has the server from its bundle then also has its limits
  // disabled.
  await admin.patch('/api/v1/admin/rate-limits', { enabled: false });
  await registerServer(admin, `http://127.0.0.1:${backendPort}/mcp`, 'marked');
  const roleId = await registerRole(admin, 'marked', 'marked:*');
  return basicOf(await registerAgent(admin, 'marked', roleId));
}

/** Opens an MCP session and returns the headers for its calls. */
export async function openSession(
  url: string,
  authorization: string,
): Promise<Record<string, string>> {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${url}/mcp/v1/marked`, {
      method: 'POST',
      headers: { ...HEADERS, authorization, ...headers },
      body: JSON.stringify(body),
    });
  const response = await post({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'durability', version: '1.0.0' },
    },
  });
  const session = response.headers.get('mcp-session-id');
  const text = await response.text();
  if (!response.ok || !session) throw new Error(`initialize: ${response.status} ${text}`);
  const headers = { 'mcp-session-id': session };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
  return { ...HEADERS, authorization, ...headers };
}

/**
 * Makes call `n`; true if its result arrived, which acknowledges it.
 *
 * @param onRefused receives any other answer
 */
export async function makeMarkedCall(
  client: Client,
  headers: Record<string, string>,
  n: number,
  onRefused?: (answer: string) => void,
): Promise<boolean> {
  const response = await client.request({
    method: 'POST',
    path: '/mcp/v1/marked',
    headers,
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: n,
      method: 'tools/call',
      params: { name: 'mark', arguments: { path: markOf(n) } },
    }),
  });
  const text = await response.body.text();
  const isAnswered = response.statusCode === 200 && text.includes('"result"');
  if (!isAnswered) onRefused?.(`call ${n}: ${response.statusCode} ${text.slice(0, 300)}`);
  return isAnswered;
}

export function connectTo(url: string): Client {
  return new Client(url, { pipelining: 1, headersTimeout: 30_000 });
}
