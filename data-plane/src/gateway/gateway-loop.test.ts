/** A registered server may be a gateway, even this one: no request loops without end. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postModern } from '../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

const HOPS = 'x-governance-hops';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
/** Requests received. */
let requests = 0;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [{ name: 'read_it', annotations: { readOnlyHint: true } }],
  });
  plane = await startTestPlane();
  plane.app.server.on('request', () => requests++);
});

beforeEach(async () => {
  agent = plane.addAgent();
  upstream.seen.length = 0;
  requests = 0;
  await plane.records();
});

afterEach(() => plane.setServers([]));

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

/** Lets a plane's agents reach a gateway as one of its agents. */
function leadTo(from: TestPlane, serverId: string, url: string, authorization: string) {
  const { tenantId, deploymentId } = from;
  const credential = { type: 'header', name: 'authorization', value: authorization };
  const place = { tenant_id: tenantId, deployment_id: deploymentId, server_id: serverId };
  from.apply('upstream_credential', `${deploymentId}/${serverId}`, {
    server_id: serverId,
    deployment_id: deploymentId,
    jwe: Buffer.from(JSON.stringify({ ...place, credential })).toString('base64url'),
  });
  return HTTP_SERVER(serverId, url);
}

const call = (name: string, id = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: {} },
});
const message = (method: string, params = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const auth = (headers = {}) => ({ authorization: agent.basic, ...headers });
const LOOP = { code: -32603, data: { failure: 'loop' } };

describe('a server with the address of its own gateway', () => {
  beforeEach(() => {
    plane.setServers([leadTo(plane, 'me', `${plane.url}/mcp/v1/me`, agent.basic)]);
  });

  it('ends a call with an error that says so', async () => {
    const { status, json } = await plane.post('/mcp/v1/me', call('read_it'), auth());
    expect(status).toBe(200);
    expect(json).toMatchObject({ id: 1, error: LOOP });
    expect(json.error.message).toContain('too many gateways');
    expect(requests).toBeLessThan(40);
    const records = await plane.records();
    const decisions = records.filter((record) => record.type === 'decision');
    // One for each incoming call, and one for a list requested on the way.
    expect(decisions.length).toBeLessThanOrEqual(requests);
    expect(decisions.filter((one) => one.tool_name === 'read_it')).not.toEqual([]);
  });

  it('ends initialize and a list', async () => {
    const begin = message('initialize', { protocolVersion: '2025-11-25', capabilities: {} });
    const { json } = await plane.post('/mcp/v1/me', begin, auth());
    expect(json.error).toMatchObject(LOOP);
    const list = await plane.post('/mcp/v1/me', message('tools/list'), auth());
    expect(list.json.error).toMatchObject({ code: -32603 });
    expect(requests).toBeLessThan(60);
  });

  it('ends a call of a modern client', async () => {
    const options = { authorization: agent.basic, path: '/mcp/v1/me' };
    const { json } = await postModern(plane, 'tools/call', { name: 'read_it' }, options);
    expect(json.error).toMatchObject(LOOP);
    expect(requests).toBeLessThan(60);
  });
});

it('does not become many requests where servers lead back to the unified path', async () => {
  const ids = ['me-1', 'me-2', 'me-3', 'me-4'];
  plane.setServers(ids.map((id) => leadTo(plane, id, `${plane.url}/mcp/v1`, agent.basic)));
  const { json } = await plane.post('/mcp/v1', message('tools/list'), auth());
  expect(json.result.tools).toEqual([]);
  // 4 at the second gateway and 16 that are refused, each with the requests that open a session;
  // without a limit there would be 4 to the power of 5.
  expect(requests).toBeLessThan(120);
}, 30_000);

it('serves a chain of gateways, and counts each', async () => {
  const inner = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  try {
    const theirs = inner.addAgent();
    plane.setServers([leadTo(plane, 'inner', `${inner.url}/mcp/v1/up`, theirs.basic)]);
    const { json } = await plane.post('/mcp/v1/inner', call('read_it'), auth());
    expect(json.result).toBeDefined();
    expect(upstream.seen.map(({ headers }) => headers[HOPS])).toEqual(upstream.seen.map(() => '2'));
    const unified = await plane.post('/mcp/v1', call('inner__read_it'), auth());
    expect(unified.json.result).toBeDefined();
  } finally {
    await inner.stop();
  }
});

describe('the header that a client sends itself', () => {
  beforeEach(() => plane.setServers([HTTP_SERVER('up', upstream.url)]));

  it.each(['5', '99', '-1', 'one', '1, 1', ''])('%j counts as too many', async (hops) => {
    const { json } = await plane.post('/mcp/v1/up', call('read_it'), auth({ [HOPS]: hops }));
    expect(json).toMatchObject({ id: 1, error: LOOP });
    expect(upstream.seen).toEqual([]);
    const decisions = await plane.records();
    expect(decisions).toMatchObject([
      { id: json.error.data.event_id, policy_result: 'deny', decided_by: 'hops' },
    ]);
    // Neither the others' sessions nor the agent's own are affected.
    const next = await plane.post('/mcp/v1/up', call('read_it'), auth());
    expect(next.json.result).toBeDefined();
  });

  it('is where counting continues, and only for that request', async () => {
    for (const [sent, seen] of [
      ['4', '5'],
      ['1', '2'],
      ['0', '1'],
    ] as const) {
      upstream.seen.length = 0;
      const { json } = await plane.post('/mcp/v1/up', call('read_it'), auth({ [HOPS]: sent }));
      expect(json.result).toBeDefined();
      const [forwarded] = upstream.messages('tools/call');
      expect(forwarded?.headers[HOPS]).toBe(seen);
    }
    upstream.seen.length = 0;
    await plane.post('/mcp/v1/up', call('read_it'), auth());
    expect(upstream.messages('tools/call')[0]?.headers[HOPS]).toBe('1');
  });
});
