/** A held call: judged and recorded, held, and judged again with what a person has said. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { type Escalated, type Holds, NOBODY_TO_ASK } from './holds.ts';
import { inspection } from './inspection.ts';
import { enforcement } from './pipeline.ts';

let upstream: TestUpstream;
let plane: TestPlane;
/** What the person does. */
let hold: Holds['hold'] = NOBODY_TO_ASK.hold;

beforeAll(async () => {
  upstream = await startTestUpstream({ tools: [{ name: 'delete_thing' }] });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    pages: {
      enforcement,
      inspection,
      holds: { hold: (escalated, exchange) => hold(escalated, exchange) },
    },
  });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

async function callWhile(answer: (escalated: Escalated) => void) {
  upstream.seen.length = 0;
  const { basic } = plane.addAgent(['*:*'], { risk_tier: 'high' });
  let asked = 0;
  hold = async (escalated) => {
    asked++;
    answer(escalated);
    const escalationId = '01890000-0000-7000-8000-000000000001';
    return { id: '01890000-0000-7000-8000-000000000002', escalationId };
  };
  const params = { name: 'delete_thing', arguments: {} };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { json } = await plane.post('/mcp/v1/up', message, { authorization: basic });
  const records = await plane.records();
  const decisions = records.flatMap((one) => (one.type === 'decision' ? [one.policy_result] : []));
  return { json, asked, decisions, sent: upstream.messages('tools/call').length };
}

it('is sent once it was approved, and leaves a decision for each time it was judged', async () => {
  const held = await callWhile(() => expect(upstream.messages('tools/call')).toEqual([]));
  expect(held.json.result).toBeDefined();
  expect(held).toMatchObject({ asked: 1, sent: 1, decisions: ['escalate', 'allow'] });
});

it('is not sent when it is approved and its agent may not act any more', async () => {
  const held = await callWhile(() => plane.engageKillSwitch(true));
  plane.engageKillSwitch(false);
  expect(held.json.error.code).toBe(-32000);
  expect(held).toMatchObject({ asked: 1, sent: 0, decisions: ['escalate', 'deny'] });
});

it('is refused while nobody can be asked', async () => {
  const { basic } = plane.addAgent(['*:*'], { risk_tier: 'high' });
  hold = NOBODY_TO_ASK.hold;
  const params = { name: 'delete_thing', arguments: {} };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  const { json } = await plane.post('/mcp/v1/up', message, { authorization: basic });
  expect(json.error).toMatchObject({ code: -32004, data: { resolution: 'denied' } });
});
