/** An agent that calls too often, at a real gateway. */
import { DEFAULT_RATE_LIMITS } from '@governance/shared/rate-limit-settings';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

it('is refused by its tier, told when to come again, and leaves a count and no decisions', async () => {
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
  const found: { type: string; agent_id?: string | null }[] = [];
  await expect
    .poll(
      async () => {
        found.push(...(await plane.records()));
        return found.some(({ type }) => type === 'rate_limited');
      },
      { timeout: 5_000 },
    )
    .toBe(true);
  const own = found.filter(({ agent_id }) => agent_id === agent.id);
  const types = own.map(({ type }) => type).sort();
  expect(types).toEqual(['alert', 'decision', 'decision', 'decision', 'rate_limited']);
  expect(own.find(({ type }) => type === 'rate_limited')).toMatchObject({ refused: 3, limit: 3 });
});

it('has another limit as soon as its tier or the settings change', async () => {
  const agent = plane.addAgent(['*:*']);
  allow('high', 1);
  expect((await call(agent)).json.error).toBeUndefined();
  agent.update({ risk_tier: 'high' });
  await call(agent);
  expect((await call(agent)).json.error.code).toBe(-32005);
  allow('high', 1, false);
  expect((await call(agent)).json.error).toBeUndefined();
});
