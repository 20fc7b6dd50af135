/**
 * OAuth for MCP clients (RFC 9728, 8414, 8707, 6750): what a client discovers by itself, which
 * tokens open what, and whose credentials go where.
 */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import {
  Client as ClientV2,
  ClientCredentialsProvider as CredentialsV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { ClientCredentialsProvider as CredentialsV1 } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  HTTP_SERVER,
  STDIO_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import {
  type SeenRequest,
  startTestUpstream,
  type TestUpstream,
} from '../testing/test-upstream.ts';

const UPSTREAM_SECRET = 'the-gateways-own-credential';
const INBOUND = {
  cookie: 'session=inbound-cookie',
  'proxy-authorization': 'Basic inbound-proxy',
  'x-requester-id': 'inbound-requester',
  'x-api-key': 'inbound-key',
};

let upstream: TestUpstream;
let other: TestUpstream;
let plane: TestPlane;
let otherPlane: TestPlane;
let agent: TestAgent;
let folder: string;

beforeAll(async () => {
  upstream = await startTestUpstream({ offersStream: true });
  other = await startTestUpstream();
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-oauth-')));
  writeFileSync(join(folder, 'server.cjs'), STDIO_PROGRAM);
  const local = { command: process.execPath, args: ['server.cjs'], env: {}, cwd: folder };
  plane = await startTestPlane({
    issuesTokens: true,
    servers: [
      HTTP_SERVER('up', upstream.url),
      HTTP_SERVER('other', other.url),
      STDIO_SERVER('local'),
    ],
    stdioServers: new Map([['local', local]]),
  });
  otherPlane = await startTestPlane({ issuesTokens: true });
  agent = plane.addAgent(['*:*']);
  const place = { tenant_id: plane.tenantId, deployment_id: plane.deploymentId, server_id: 'up' };
  const sealed = JSON.stringify({
    ...place,
    credential: { type: 'bearer', token: UPSTREAM_SECRET },
  });
  plane.apply('upstream_credential', `${plane.deploymentId}/up`, {
    server_id: 'up',
    deployment_id: plane.deploymentId,
    jwe: Buffer.from(sealed).toString('base64url'),
  });
});

afterAll(async () => {
  await plane?.stop();
  await otherPlane?.stop();
  await upstream?.stop();
  await other?.stop();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  upstream.seen.length = 0;
  other.seen.length = 0;
});

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'echo', arguments: { said: 'hello' } },
};
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

it('gives an agent with a thousand permissions a token that opens the gateway', async () => {
  const permissions = Array.from({ length: 1_000 }, (_, at) => `some-server-${at}/a_tool:read`);
  const holder = plane.addAgent([...permissions, 'up:*']);
  const issued = await fetch(`${plane.url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { authorization: holder.basic },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = (await issued.json()) as { access_token: string };
  const claims = JSON.parse(
    Buffer.from(access_token.split('.')[1] as string, 'base64url').toString(),
  );
  expect(claims).toMatchObject({ permissions: [], permissions_omitted: true });
  const headers = { authorization: `Bearer ${access_token}` };
  expect((await plane.post('/mcp/v1/up', CALL, headers)).json.result).toBeDefined();
  expect((await plane.post('/mcp/v1/other', CALL, headers)).json.error.code).toBe(-32003);
});

describe.each([
  ['/mcp/v1', 'up__echo'],
  ['/mcp/v1/up', 'echo'],
])('a client that knows nothing but %s and its credentials', (path, name) => {
  const connect: Record<
    string,
    (url: URL) => Promise<{ call(): Promise<unknown>; close(): Promise<void> }>
  > = {
    'SDK v1': async (url) => {
      const authProvider = new CredentialsV1({
        clientId: agent.clientId,
        clientSecret: agent.secret,
        expectedIssuer: plane.url,
      });
      const client = new ClientV1({ name: 'oauth', version: '1' });
      await client.connect(new HttpV1(url, { authProvider }));
      return {
        call: () => client.callTool({ name, arguments: { said: 'hello' } }),
        close: () => client.close(),
      };
    },
    'SDK v2': async (url) => {
      const authProvider = new CredentialsV2({
        clientId: agent.clientId,
        clientSecret: agent.secret,
        expectedIssuer: plane.url,
      });
      const client = new ClientV2({ name: 'oauth', version: '2' });
      await client.connect(new HttpV2(url, { authProvider }));
      return {
        call: () => client.callTool({ name, arguments: { said: 'hello' } }),
        close: () => client.close(),
      };
    },
  };

  it.each(Object.keys(connect))('%s gets a token and calls a tool', async (version) => {
    const client = await connect[version]?.(new URL(`${plane.url}${path}`));
    expect(await client?.call()).toMatchObject({
      content: [{ type: 'text', text: '{"said":"hello"}' }],
    });
    await client?.close();
  });

  it('learns from the 401 where to look, and finds the issuer that answers there', async () => {
    const { status, headers } = await plane.post(path, CALL);
    expect(status).toBe(401);
    const link = /^Bearer resource_metadata="([^"]+)"$/.exec(headers.get('www-authenticate') ?? '');
    const metadata = await getJson<{ authorization_servers: string[] }>(link?.[1] ?? '');
    expect(metadata).toMatchObject({
      resource: `${plane.url}${path}`,
      authorization_servers: [plane.url],
      bearer_methods_supported: ['header'],
    });
    const [issuer] = metadata.authorization_servers;
    const server = await getJson<{ issuer: string; jwks_uri: string }>(
      `${issuer}/.well-known/oauth-authorization-server`,
    );
    expect(server.issuer).toBe(issuer);
    expect((await fetch(server.jwks_uri)).status).toBe(200);
  });
});

async function getJson<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T;
}

const methodOf = ({ message }: SeenRequest) => message?.method;

/** A token issued by the plane itself for what is asked. */
async function tokenFor(resource?: string, at = plane): Promise<string> {
  const answer = await fetch(`${at.url}/api/v1/auth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: agent.clientId,
      client_secret: agent.secret,
      ...(resource && { resource }),
    }),
  });
  return ((await answer.json()) as { access_token: string }).access_token;
}

describe('a confused deputy', () => {
  const callWith = (token: string, path: string) =>
    plane.post(path, CALL, { authorization: `Bearer ${token}` });

  it('is not opened by a token for one server at another, or at all of them', async () => {
    const token = await tokenFor(`${plane.url}/mcp/v1/other`);
    for (const path of [
      '/mcp/v1/up',
      '/mcp/v1',
      '/mcp/v1/local',
      '/mcp/v1/othe',
      '/mcp/v1/other2',
    ]) {
      const answer = await callWith(token, path);
      expect(answer.status, path).toBe(403);
      expect(answer.headers.get('www-authenticate')).toBe(
        `Bearer resource_metadata="${plane.url}/.well-known/oauth-protected-resource${path}", error="insufficient_scope"`,
      );
      expect(answer.json.error.code).toBe(-32000);
    }
    expect(upstream.seen).toEqual([]);
    expect((await callWith(token, '/mcp/v1/other')).status).toBe(200);
  });

  it('is not opened to a client that then asks for the other server: it gets its own token', async () => {
    const client = new ClientV1({ name: 'oauth', version: '1' });
    const authProvider = new CredentialsV1({
      clientId: agent.clientId,
      clientSecret: agent.secret,
      expectedIssuer: plane.url,
    });
    authProvider.saveTokens({
      access_token: await tokenFor(`${plane.url}/mcp/v1/other`),
      token_type: 'Bearer',
    });
    await client.connect(new HttpV1(new URL(`${plane.url}/mcp/v1/up`), { authProvider }));
    await client.callTool({ name: 'echo', arguments: {} });
    await client.close();
  });

  it('is not opened by a token of another gateway, issuer, tenant or kind', async () => {
    const foreign: Record<string, string> = {
      'another gateway’s audience': agent.token({ aud: 'https://other.example/mcp/v1' }),
      'an API’s audience': agent.token({ aud: `${plane.url}/api/v1` }),
      'an audience that begins alike': agent.token({ aud: `${plane.url}/mcp/v10` }),
      'no audience of this gateway': agent.token({ aud: [] }),
      'another issuer': agent.token({ iss: otherPlane.url, aud: `${otherPlane.url}/mcp/v1` }),
      'another tenant': agent.token({ tenant_id: uuidv7() }),
      'another plane’s tenant': agent.token({ tenant_id: otherPlane.tenantId }),
      'another type': agent.token({}, { typ: 'at+jwt' }),
      'another plane’s agent': otherPlane.addAgent(['*:*']).token(),
    };
    for (const [what, token] of Object.entries(foreign)) {
      const answer = await callWith(token, '/mcp/v1/up');
      expect(answer.status, what).toBe(401);
      expect(answer.headers.get('www-authenticate'), what).toMatch(/error="invalid_token"$/);
    }
    expect(upstream.seen).toEqual([]);
  });

  it('is not opened by a token that another data plane issued itself', async () => {
    const stranger = otherPlane.addAgent(['*:*']);
    const answer = await fetch(`${otherPlane.url}/api/v1/auth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: stranger.clientId,
        client_secret: stranger.secret,
      }),
    });
    const { access_token: token } = (await answer.json()) as { access_token: string };
    expect((await callWith(token, '/mcp/v1/up')).status).toBe(401);
    expect(upstream.seen).toEqual([]);
  });

  it('gets no token for what is not this gateway', async () => {
    for (const resource of [`${otherPlane.url}/mcp/v1`, `${plane.url}/api/v1`, upstream.url]) {
      expect(await tokenFor(resource), resource).toBeUndefined();
    }
  });

  it('does not lend the gateway’s own credential to an agent that was not let in', async () => {
    const denied = plane.addAgent([]);
    const suspended = plane.addAgent(['*:*'], { status: 'suspended' });
    const answers = [
      await plane.post('/mcp/v1/up', CALL),
      await plane.post('/mcp/v1/up', CALL, { authorization: `Bearer ${UPSTREAM_SECRET}` }),
      await plane.post('/mcp/v1/up', CALL, { authorization: denied.basic }),
      await plane.post('/mcp/v1/up', CALL, { authorization: suspended.basic }),
    ];
    for (const { text } of answers) expect(text).not.toContain(UPSTREAM_SECRET);
    expect(answers.map(({ status, json }) => [status, json.error.code])).toEqual([
      [401, -32000],
      [401, -32000],
      [200, -32003],
      [401, -32000],
    ]);
    // For an authenticated agent a tool's definition is fetched, to judge its call by; nothing is
    // called, and for the others nothing is fetched.
    const asked = ['initialize', 'notifications/initialized', 'tools/list'];
    expect(asked).toEqual(expect.arrayContaining(upstream.seen.map(methodOf)));
    expect(upstream.messages('initialize').length).toBeLessThanOrEqual(1);
  });
});

describe('nothing of a caller’s own credentials is passed on', () => {
  const secrets = (authorization: string) => [
    authorization.replace(/^\w+ /, ''),
    agent.secret,
    ...Object.values(INBOUND),
  ];

  it.each(['basic', 'bearer'] as const)('over HTTP, for %s', async (scheme) => {
    const authorization = scheme === 'basic' ? agent.basic : agent.bearer();
    const headers = { ...INBOUND, authorization };
    const begun = await plane.post('/mcp/v1/up', INITIALIZE, headers);
    const session = begun.headers.get('mcp-session-id') ?? '';
    const inSession = { ...headers, 'mcp-session-id': session };
    // A client's stream makes the gateway open one of its own, by GET.
    const stream = await fetch(`${plane.url}/mcp/v1/up`, {
      headers: { ...inSession, accept: 'text/event-stream' },
    });
    await plane.post('/mcp/v1/up', { jsonrpc: '2.0', id: 2, method: 'tools/list' }, inSession);
    expect((await plane.post('/mcp/v1/up', CALL, inSession)).status).toBe(200);
    await plane.post(
      '/mcp/v1/up',
      { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
      inSession,
    );
    await vi.waitFor(() => {
      expect(upstream.seen.some(({ httpMethod }) => httpMethod === 'GET')).toBe(true);
      expect(upstream.messages('notifications/roots/list_changed')).toHaveLength(1);
    });
    await stream.body?.cancel();
    await fetch(`${plane.url}/mcp/v1/up`, { method: 'DELETE', headers: inSession });
    expect(upstream.messages('tools/call')).toHaveLength(1);
    for (const { headers: sent, text } of upstream.seen) {
      expect(sent.authorization).toBe(`Bearer ${UPSTREAM_SECRET}`);
      expectNone(sent, text, secrets(authorization), session);
    }
  });

  it('over HTTP, to a server for which the gateway has no credential', async () => {
    const headers = { ...INBOUND, authorization: agent.basic };
    expect((await plane.post('/mcp/v1/other', CALL, headers)).status).toBe(200);
    expect(other.seen.length).toBeGreaterThan(0);
    for (const { headers: sent, text } of other.seen) {
      expect(sent.authorization).toBeUndefined();
      expectNone(sent, text, secrets(agent.basic), 'no session');
    }
  });

  it('over stdio', async () => {
    const headers = { ...INBOUND, authorization: agent.basic };
    const answer = await plane.post('/mcp/v1/local', CALL, headers);
    const { seen, env } = JSON.parse(answer.json.result.content[0].text);
    expect(seen).toContain('tools/call');
    for (const secret of [...secrets(agent.basic), UPSTREAM_SECRET]) {
      expect(seen + JSON.stringify(env)).not.toContain(secret);
    }
  });
});

function expectNone(
  sent: IncomingHttpHeaders,
  text: string,
  secrets: string[],
  session: string,
): void {
  for (const name of Object.keys(INBOUND)) expect(sent).not.toHaveProperty(name);
  const all = JSON.stringify(sent) + text;
  for (const secret of [...secrets, session]) expect(all).not.toContain(secret);
}

/** A stdio server that answers a call with everything it was ever sent. */
const STDIO_PROGRAM = `
let seen = '';
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  seen += line + '\\n';
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result =
    method === 'initialize'
      ? { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 's', version: '1' } }
      : method === 'tools/list'
        ? { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }
        : { content: [{ type: 'text', text: JSON.stringify({ seen, env: process.env }) }] };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
});
`;
