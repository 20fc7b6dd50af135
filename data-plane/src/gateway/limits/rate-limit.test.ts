/** An agent that calls too often, at a real gateway. */
import { DEFAULT_RATE_LIMITS } from '@governance/shared/settings/rate-limit-settings';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listenModern, postModern } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'read_thing' }] });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
});
afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

const allow = (tier: 'low' | 'high', requests: number, enabled = true) =>
  plane.setSettings({
    rate_limits: {
      enabled,
      limits: { ...DEFAULT_RATE_LIMITS.limits, [tier]: { requests, window_seconds: 3_600 } },
    },
  });
const ask = ({ basic }: TestAgent, method: string, params = {}) =>
  plane.post('/mcp/v1/up', { jsonrpc: '2.0', id: 1, method, params }, { authorization: basic });
const call = (agent: TestAgent) => ask(agent, 'tools/call', { name: 'read_thing', arguments: {} });

it('is refused by its tier, learns when to retry, and leaves a count and no decisions', async () => {
  const agent = plane.addAgent(['*:*']);
  const other = plane.addAgent(['*:*']);
  allow('low', 3);
  await plane.records();
  expect((await call(agent)).json.result).toBeDefined();
  expect((await ask(agent, 'tools/list')).json.result).toBeDefined();
  expect((await call(agent)).json.result).toBeDefined();
  for (const method of ['tools/list', 'resources/list', 'tools/call']) {
    const { status, json } = await ask(agent, method, { name: 'read_thing', arguments: {} });
    expect([status, json.error.code]).toEqual([200, -32005]);
    expect(json.error.message).toContain('3 requests in 3600 s');
    expect(json.error.data).toEqual({ retry_after: expect.any(Number) });
    expect(json.error.data.retry_after).toBeGreaterThanOrEqual(1);
  }
  expect((await call(other)).json.result).toBeDefined();
  const own: { type: string; agent_id?: string | null; refused?: number; limit?: number }[] = [];
  const counts = () => own.filter(({ type }) => type === 'rate_limited');
  // On a slow machine the three refusals lie in more than one second.
  await expect
    .poll(async () => {
      const records: typeof own = await plane.records();
      own.push(...records.filter(({ agent_id }) => agent_id === agent.id));
      return counts().reduce((sum, { refused = 0 }) => sum + refused, 0);
    })
    .toBe(3);
  expect(counts().every(({ limit }) => limit === 3)).toBe(true);
  const others = own.map(({ type }) => type).filter((type) => type !== 'rate_limited');
  expect(others.sort()).toEqual(['alert', 'decision', 'decision', 'decision']);
});

it('gets a new limit as soon as its tier or the settings change', async () => {
  const agent = plane.addAgent(['*:*']);
  allow('high', 1);
  expect((await call(agent)).json.error).toBeUndefined();
  agent.update({ risk_tier: 'high' });
  await call(agent);
  expect((await call(agent)).json.error.code).toBe(-32005);
  allow('high', 1, false);
  expect((await call(agent)).json.error).toBeUndefined();
});

const TOOL = { name: 'read_thing', arguments: {} };
const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'c', version: '1' },
};

/** Every kind of request: by path, credential, era, session, batch and method. */
function waysOf(agent: TestAgent) {
  const { basic } = agent;
  const legacy =
    (path: string, method: string, params: object, authorization: string) => async () =>
      (await plane.post(path, { jsonrpc: '2.0', id: 1, method, params }, { authorization })).json;
  const modern = (path: string, method: string, params: Record<string, unknown>) => async () =>
    (await postModern(plane, method, params, { authorization: agent.bearer(), path })).last;
  const batch = async () => {
    const one = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: TOOL };
    const headers = { authorization: basic, 'mcp-protocol-version': '2025-03-26' };
    return (await plane.post('/mcp/v1/up', [one], headers)).json[0];
  };
  return {
    'a call, Basic': legacy('/mcp/v1/up', 'tools/call', TOOL, basic),
    'a call, token': legacy('/mcp/v1/up', 'tools/call', TOOL, agent.bearer()),
    'a call of the unified gateway, Basic': legacy(
      '/mcp/v1',
      'tools/call',
      { ...TOOL, name: 'up__read_thing' },
      basic,
    ),
    'a list': legacy('/mcp/v1/up', 'tools/list', {}, basic),
    'a list of the unified gateway': legacy('/mcp/v1', 'tools/list', {}, basic),
    'a session': legacy('/mcp/v1/up', 'initialize', INITIALIZE, basic),
    'a session with the unified gateway': legacy('/mcp/v1', 'initialize', INITIALIZE, basic),
    'a batch': batch,
    'a modern call': modern('/mcp/v1/up', 'tools/call', TOOL),
    'a modern list of the unified gateway': modern('/mcp/v1', 'tools/list', {}),
    'a modern discovery': modern('/mcp/v1/up', 'server/discover', {}),
  };
}

it('counts every kind of request together, and refuses every kind alike', async () => {
  const agent = plane.addAgent(['*:*']);
  const ways = Object.entries(waysOf(agent));
  allow('low', ways.length);
  for (const [what, ask] of ways) expect((await ask()).error, what).toBeUndefined();
  for (const [what, ask] of ways) {
    expect((await ask()).error, what).toMatchObject({
      code: -32005,
      data: { retry_after: expect.any(Number) },
    });
  }
  // Requests that reach no server are answered all the same.
  expect((await ask(agent, 'ping')).json.result).toEqual({});
});

it('counts listening streams too', async () => {
  const agent = plane.addAgent(['*:*']);
  const options = { authorization: agent.basic };
  const notifications = { toolsListChanged: true };
  allow('low', 1);
  const stream = listenModern(plane, notifications, options);
  await stream.acknowledged;
  expect((await call(agent)).json.error?.code).toBe(-32005);
  const again = await postModern(plane, 'subscriptions/listen', { notifications }, options);
  expect([again.status, again.json.error.code]).toEqual([200, -32005]);
  await stream.close();
});

it('records no more decisions of an agent that may not act than its rate limit', async () => {
  const agent = plane.addAgent(['*:*'], { risk_tier: 'high', status: 'suspended' });
  allow('high', 3);
  await plane.records();
  for (let i = 0; i < 10; i++) {
    const { status, json } = i % 2 === 0 ? await call(agent) : await ask(agent, 'initialize');
    expect([status, json.error.code]).toEqual([401, -32000]);
  }
  const found: { type: string; agent_id?: string | null; refused?: number }[] = [];
  const refused = () =>
    found.reduce((sum, one) => sum + (one.agent_id === agent.id ? (one.refused ?? 0) : 0), 0);
  await expect
    .poll(
      async () => {
        found.push(...(await plane.records()));
        return refused();
      },
      { timeout: 5_000 },
    )
    .toBe(7);
  const own = found.filter(({ agent_id, type }) => agent_id === agent.id && type === 'decision');
  expect(own).toHaveLength(3);
});

it('causes no request to a server in either era, also where its tools are unknown', async () => {
  const asked: unknown[] = [];
  const unknown = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  try {
    const limits = { ...DEFAULT_RATE_LIMITS.limits, low: { requests: 1, window_seconds: 3_600 } };
    unknown.setSettings({ rate_limits: { enabled: true, limits } });
    const { basic: authorization } = unknown.addAgent(['*:*']);
    await postModern(unknown, 'prompts/get', { name: 'none' }, { authorization });
    upstream.override(({ message }) => {
      asked.push(message?.method);
      return false;
    });
    const modern = await postModern(unknown, 'tools/call', TOOL, { authorization });
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: TOOL };
    const legacy = await unknown.post('/mcp/v1/up', body, { authorization });
    expect([modern, legacy].map(({ json }) => json.error.code)).toEqual([-32005, -32005]);
    expect(asked).toEqual([]);
  } finally {
    await unknown.stop();
  }
});
