/** Servers that are slow, down or refusing, at the unified gateway beside one that answers. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPatientServer } from '@governance/shared/testing/test-http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { MISSING_SERVERS } from './missing-servers.ts';

let live: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
const held: (() => void)[] = [];
const fronts: Server[] = [];

/** A proxy in front of `live` that holds every request until the test releases it. */
async function listenWith(status: number | 'hold'): Promise<string> {
  const front = createPatientServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (status !== 'hold') return void response.writeHead(status).end();
    await new Promise<void>((go) => held.push(go));
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(live.url, {
      method: request.method ?? 'POST',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  fronts.push(front);
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
}

beforeAll(async () => {
  live = await startTestUpstream();
  plane = await startTestPlane({ servers: [HTTP_SERVER('live', live.url)] });
  agent = plane.addAgent(['*:*']);
});
afterAll(async () => {
  for (const go of held.splice(0)) go();
  await plane.stop();
  await live.stop();
  for (const front of fronts) {
    front.closeAllConnections();
    front.close();
  }
});

const headers = () => ({ authorization: agent.basic });
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
};

it('begins without waiting for a slow server, and announces its lists when it is up', async () => {
  const slow = await listenWith('hold');
  plane.setServers([HTTP_SERVER('live', live.url), HTTP_SERVER('slow', slow)]);
  const begun = await plane.post('/mcp/v1', initialize, headers());
  // Nothing was released: the answer did not wait for the server.
  expect(begun.json.result.capabilities.tools).toEqual({ listChanged: true });
  const session = {
    ...headers(),
    'mcp-session-id': begun.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  };
  const abort = new AbortController();
  const stream = await fetch(`${plane.url}/mcp/v1`, {
    headers: { ...session, accept: 'text/event-stream' },
    signal: abort.signal,
  });
  let received = '';
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) received += decoder.decode(chunk as Uint8Array);
  })().catch(() => undefined);
  await expect.poll(() => held.length).toBeGreaterThan(0);
  expect(received).not.toContain('list_changed');
  const timer = setInterval(() => {
    for (const go of held.splice(0)) go();
  }, 5);
  await expect
    .poll(() => received, { timeout: 10_000 })
    .toContain('notifications/tools/list_changed');
  const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const { json } = await plane.post('/mcp/v1', list, session);
  clearInterval(timer);
  expect(json.result.tools.map(({ name }: { name: string }) => name)).toEqual([
    'live__echo',
    'slow__echo',
  ]);
  expect(json.result._meta).toBeUndefined();
  abort.abort();
  await reading;
});

it.each([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'prompts/list',
])('%s names the servers that are missing, to the agents that may use them', async (method) => {
  const refusing = await listenWith(401);
  plane.setServers([
    HTTP_SERVER('live', live.url),
    HTTP_SERVER('away', 'http://127.0.0.1:1/mcp'),
    HTTP_SERVER('refusing', refusing),
    { ...HTTP_SERVER('without-credential', live.url), has_credential: true },
  ]);
  const list = { jsonrpc: '2.0', id: 1, method };
  const { json } = await plane.post('/mcp/v1', list, headers());
  const missing = [
    { server_id: 'away', failure: 'unreachable' },
    { server_id: 'refusing', failure: 'refused' },
    { server_id: 'without-credential', failure: 'unreachable' },
  ];
  const named = json.result._meta[MISSING_SERVERS];
  expect(named).toHaveLength(3);
  expect(named).toEqual(expect.arrayContaining(missing));
  const { failing, resting, ok, reasons } = plane.plane.serverReport(plane.tenantId);
  expect([...failing, ...resting].sort()).toEqual(['away', 'refusing', 'without-credential']);
  expect(ok).toContain('live');
  expect(reasons).toMatchObject({
    away: expect.stringMatching(/ECONNREFUSED|not asked/),
    refusing: 'missing from unified lists: the server answered HTTP 401',
    'without-credential': expect.stringContaining('has not reached this data plane'),
  });

  const other = plane.addAgent(['live/*:*']);
  const seen = await plane.post('/mcp/v1', list, { authorization: other.basic });
  expect(seen.json.result._meta).toBeUndefined();
  plane.setServers([HTTP_SERVER('live', live.url), HTTP_SERVER('refusing', live.url)]);
  const again = await plane.post('/mcp/v1', list, headers());
  expect(again.json.result._meta).toBeUndefined();
  expect(plane.plane.serverReport(plane.tenantId).reasons?.refusing).toBeUndefined();
});
