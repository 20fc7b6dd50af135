/** Servers that answer and do not end their stream. */
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createPatientServer } from '@governance/shared/testing/test-http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { endLater, MAX_UNENDED } from './unended.ts';

it('the oldest exchange ends where too many have not ended', () => {
  const ended: number[] = [];
  const stops = Array.from({ length: MAX_UNENDED + 2 }, (_, i) => {
    const stop = endLater(() => {
      ended.push(i);
      stop();
    });
    return stop;
  });
  expect(ended).toEqual([0, 1]);
  for (const stop of stops) stop();
});

describe('a server that does not end its answers', () => {
  const TOOL = { name: 'echo', inputSchema: { type: 'object' } };
  const INFO = {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'endless', version: '1' },
  };
  const open = new Set<Socket>();
  const streams = new Set<ServerResponse>();
  let replies = 0;
  let isBatch = false;
  let server: Server;
  let plane: TestPlane;
  let agent: TestAgent;

  const event = (message: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;
  const batch = (...messages: object[]) =>
    `data: ${JSON.stringify(messages.map((message) => ({ jsonrpc: '2.0', ...message })))}\n\n`;

  beforeAll(async () => {
    server = createPatientServer(async (request, response) => {
      if (request.method !== 'POST') return void response.writeHead(405).end();
      let text = '';
      for await (const chunk of request) text += chunk;
      const { id, method } = JSON.parse(text);
      if (method === undefined) replies++;
      if (id === undefined || method === undefined) return void response.writeHead(202).end();
      if (method !== 'tools/call') {
        const result = method === 'initialize' ? INFO : { tools: [TOOL] };
        response.writeHead(200, { 'content-type': 'application/json' });
        return void response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const answer = { id, result: { content: [{ type: 'text', text: 'answered' }] } };
      response.write(isBatch ? batch(answer, { id: 'p', method: 'ping' }) : event(answer));
      streams.add(response);
      response.on('close', () => streams.delete(response));
    });
    server.on('connection', (socket) => {
      open.add(socket);
      socket.on('close', () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    plane = await startTestPlane({
      servers: [HTTP_SERVER('endless', `http://127.0.0.1:${port}/mcp`)],
    });
    agent = plane.addAgent();
  });
  afterAll(async () => {
    await plane.stop();
    server.closeAllConnections();
    server.close();
  });

  const call = () =>
    plane.post(
      '/mcp/v1/endless',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } },
      { authorization: agent.basic },
    );

  it('keeps no connection for each, though it goes on sending comments', async () => {
    for (let n = 0; n < 20; n++) expect((await call()).text).toContain('answered');
    const beat = setInterval(() => {
      for (const stream of streams) stream.write(': still here\n\n');
    }, 100);
    await expect.poll(() => streams.size).toBe(0);
    clearInterval(beat);
    await expect.poll(() => open.size).toBeLessThanOrEqual(2);
  });

  it('is not heard behind its answer in one batch with it', async () => {
    const before = replies;
    isBatch = true;
    expect((await call()).text).toContain('answered');
    isBatch = false;
    // A second call comes back later than a reply would have.
    expect((await call()).text).toContain('answered');
    expect(replies).toBe(before);
  });

  it('is heard no more behind its answer', async () => {
    expect((await call()).text).toContain('answered');
    const before = replies;
    for (const stream of streams) {
      for (let id = 1; id <= 50; id++) stream.write(event({ id: `p${id}`, method: 'ping' }));
    }
    await expect.poll(() => streams.size).toBe(0);
    expect(replies).toBe(before);
  });
});
