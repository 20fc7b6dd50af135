/** A server that ends the stream of an answer for a while, and the client's connection with it. */
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
} from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let sentId: number;
let calls: number;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'read_later',
        annotations: { readOnlyHint: true },
        handle({ id, response }) {
          sentId = id;
          calls++;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.end('id: up-1\nretry: 120\ndata: \n\n');
        },
      },
    ],
  });
  upstream.override(({ httpMethod, headers }, response) => {
    if (httpMethod !== 'GET' || headers['last-event-id'] !== 'up-1') return false;
    const result = { content: [{ type: 'text', text: 'at last' }] };
    const text = JSON.stringify({ jsonrpc: '2.0', id: sentId, result });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // So that the client is back before it.
    setTimeout(() => response.end(`id: up-2\ndata: ${text}\n\n`), 150);
    return true;
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(() => {
  calls = 0;
});

/** A hand-written client. */
async function connect(revision: string) {
  const { basic } = plane.addAgent(['up:*']);
  let session: Record<string, string> = {};
  const request = (method: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${plane.url}/mcp/v1/up`, {
      method,
      headers: {
        authorization: basic,
        accept: 'application/json, text/event-stream',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...session,
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: {} };
  const begun = await request('POST', { jsonrpc: '2.0', id: 0, method: 'initialize', params });
  session = {
    'mcp-session-id': begun.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': revision,
  };
  return request;
}

const call = {
  jsonrpc: '2.0',
  id: 7,
  method: 'tools/call',
  params: { name: 'read_later', arguments: {} },
};

describe('a call whose server ends the stream for a while', () => {
  it.each([
    'waits for it',
    'comes when it is there',
  ])('ends the stream of the client too, which fetches the answer: %s', async (how) => {
    const request = await connect('2025-11-25');
    const paused = await (await request('POST', call)).text();
    expect(paused).toMatch(/^id: 1-1\nretry: 120\ndata: \n\n$/);
    if (how === 'comes when it is there') await new Promise((done) => setTimeout(done, 500));
    const rest = await (await request('GET', undefined, { 'last-event-id': '1-1' })).text();
    expect(rest).toContain('"id":7');
    expect(rest).toContain('at last');
    expect(calls).toBe(1);
  });

  it('keeps a client of an older revision waiting', async () => {
    const request = await connect('2025-06-18');
    const response = await request('POST', call);
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(await response.text()).toContain('at last');
    expect(calls).toBe(1);
  });

  it('and one that accepts no events', async () => {
    const request = await connect('2025-11-25');
    const response = await request('POST', call, { accept: 'application/json' });
    expect(await response.json()).toMatchObject({ id: 7, result: {} });
  });
});

describe.each(['/mcp/v1/up', '/mcp/v1'])('real clients at %s', (path) => {
  const name = path === '/mcp/v1' ? 'up__read_later' : 'read_later';

  it('SDK v1 gets the answer', async () => {
    const { basic } = plane.addAgent(['up:*']);
    const client = new ClientV1({ name: 'v1', version: '1' });
    await client.connect(
      new HttpV1(new URL(plane.url + path), { requestInit: { headers: { authorization: basic } } }),
    );
    expect(JSON.stringify(await client.callTool({ name }))).toContain('at last');
    expect(calls).toBe(1);
    await client.close();
  });

  it('SDK v2 gets the answer', async () => {
    const { basic } = plane.addAgent(['up:*']);
    const client = new ClientV2({ name: 'v2', version: '2' });
    await client.connect(
      new HttpV2(new URL(plane.url + path), { requestInit: { headers: { authorization: basic } } }),
    );
    expect(JSON.stringify(await client.callTool({ name }))).toContain('at last');
    expect(calls).toBe(1);
    await client.close();
  });
});
