/** A server that does not answer, at the unified gateway beside one that does. */
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

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const callOf = (name: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: {} },
});

/** A proxy in front of a server that answers 502 while the server is away. */
let proxy: Server;
let isAway = true;
let asked = 0;
let live: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  live = await startTestUpstream();
  proxy = createPatientServer(async (request, response) => {
    asked++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (isAway) return void response.writeHead(502).end();
    const {
      host: _host,
      connection: _connection,
      'content-length': _length,
      ...headers
    } = request.headers as Record<string, string>;
    const answer = await fetch(live.url, {
      method: 'POST',
      headers,
      body: Buffer.concat(chunks),
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  plane = await startTestPlane({
    servers: [HTTP_SERVER('live', live.url), HTTP_SERVER('silent', `http://127.0.0.1:${port}/mcp`)],
  });
  agent = plane.addAgent(['*:*']);
});

afterAll(async () => {
  await plane?.stop();
  await live?.stop();
  proxy?.closeAllConnections();
  proxy?.close();
});

const post = (message: object) => plane.post('/mcp/v1', message, { authorization: agent.basic });
const namesOf = async () =>
  (await post(LIST)).json.result.tools.map(({ name }: { name: string }) => name);
const health = async () => {
  const { values } = (await plane.registry
    .getSingleMetric('governance_upstream_health')
    ?.get()) ?? {
    values: [],
  };
  return Object.fromEntries(values.map(({ labels, value }) => [labels.state, value]));
};
const report = () => plane.plane.serverReport(plane.tenantId);

it('is left out of lists, then no longer asked; its calls fail at once and say why', async () => {
  expect(report()).toEqual({ resting: [], failing: [], ok: [] });
  while (report().resting.length === 0) expect(await namesOf()).toEqual(['live__echo']);
  expect(report()).toEqual({
    resting: ['silent'],
    failing: [],
    ok: ['live'],
    reasons: { silent: expect.stringMatching(/\S/) },
  });
  expect(await health()).toEqual({ ok: 1, failing: 0, resting: 1, probing: 0 });
  asked = 0;
  expect(await namesOf()).toEqual(['live__echo']);
  await plane.records();
  const { json } = await post(callOf('silent__echo'));
  expect(json.error).toMatchObject({
    code: -32603,
    message: 'The MCP server cannot be reached.',
    data: { failure: 'unreachable' },
  });
  expect(asked).toBe(0);
  const outcome = (await plane.records()).find(({ type }) => type === 'outcome');
  expect(outcome).toMatchObject({
    outcome: 'upstream_error',
    detail: expect.stringMatching(/^not asked: the server failed \d+ times in a row/),
  });
  expect((await post(callOf('live__echo'))).json.result).toBeDefined();
});

it('is back with the first answered request after the circuit breaker lets one through', async () => {
  isAway = false;
  await expect.poll(namesOf, { timeout: 10_000 }).toEqual(['live__echo', 'silent__echo']);
  expect(report()).toEqual({ resting: [], failing: [], ok: ['live', 'silent'] });
  expect((await post(callOf('silent__echo'))).json.result).toBeDefined();
});
