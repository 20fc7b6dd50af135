/** A modern client whose call, or its result, waits for a person longer than one request. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { REAL_CLIENTS } from '../../testing/test-client.ts';
import { createHoldDriver } from '../../testing/test-holds.ts';
import { postModern } from '../../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
const driver = createHoldDriver('hold_opened', 'delete_thing', () => ({ plane, upstream, agent }));
const { opened, decide, sent } = driver;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  // So short that each request ends before anybody has decided.
  const config = { holdWaitMs: 500 };
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)], config });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

beforeEach(async () => {
  await driver.begin();
  agent = plane.addAgent(['*:*'], { risk_tier: 'high' });
});

const decisions = async () =>
  (await driver.readRecords()).filter(({ type }) => type === 'decision').length;

it('is asked to repeat the request, and learns how it ended', async () => {
  const call = async (requestState?: string) => {
    const params = { name: 'delete_thing', arguments: {}, ...(requestState && { requestState }) };
    return (await postModern(plane, 'tools/call', params, { authorization: agent.basic })).last;
  };
  const { result } = await call();
  const [hold] = await opened();
  const state = `gateway-hold-${hold?.escalation_id}`;
  expect(result).toMatchObject({ resultType: 'input_required', requestState: state });
  expect(result).not.toHaveProperty('inputRequests');
  // The same call with the state, and without it.
  expect((await call(state)).result).toMatchObject({ requestState: state });
  expect((await call()).result).toMatchObject({ requestState: state });
  expect(await opened()).toHaveLength(1);
  decide(hold ?? expect.unreachable(), 'denied');
  expect((await call(state)).error).toMatchObject({
    code: -32004,
    data: { resolution: 'denied', escalation_id: hold?.escalation_id },
  });
  expect(sent()).toBe(0);
});

it('gains nothing by an invented state', async () => {
  const params = { name: 'delete_thing', arguments: { id: 1 }, requestState: 'gateway-hold-mine' };
  const { last } = await postModern(plane, 'tools/call', params, { authorization: agent.basic });
  expect(last.result).toMatchObject({ resultType: 'input_required' });
  expect(await opened()).toHaveLength(1);
  expect(sent()).toBe(0);
});

it.each([
  ['approved', 1],
  ['timed_out', 0],
] as const)('a real client asks again by itself until it is %s', async (resolution, calls) => {
  const client = await REAL_CLIENTS['SDK v2, modern'](`${plane.url}/mcp/v1/up`, agent.basic);
  const calling = client.callTool('delete_thing', {}).catch((error: unknown) => error);
  // It has come back at least once.
  await vi.waitFor(async () => expect(await decisions()).toBeGreaterThan(1));
  const [hold] = await opened();
  decide(hold ?? expect.unreachable(), resolution);
  const answer = await calling;
  if (resolution === 'approved') expect(answer).toHaveProperty('content');
  else expect(answer).toMatchObject({ code: -32004, data: { resolution } });
  expect(await opened()).toHaveLength(1);
  expect(sent()).toBe(calls);
  await client.close();
});
