/** Many large bodies of one agent do not make another agent wait for all of them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestPlane, type TestAgent, type TestPlane } from '../../testing/test-plane.ts';

const BODIES = 20;
const MIB = 1024 * 1024;

let plane: TestPlane;
let greedy: TestAgent;
let other: TestAgent;

beforeAll(async () => {
  plane = await startTestPlane();
  greedy = plane.addAgent();
  other = plane.addAgent();
});

afterAll(() => plane?.stop());

it('an agent has its turn among the large bodies of another one', async () => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'ping',
    params: { text: '\\"'.repeat(MIB / 2) },
  });
  let answered = 0;
  const post = async (agent: TestAgent) => {
    const { status, json } = await plane.post('/mcp/v1', body, { authorization: agent.basic });
    answered++;
    expect(status).toBe(200);
    expect(json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  };
  const all = Array.from({ length: BODIES }, () => post(greedy));
  await Promise.race(all);
  await post(other);
  expect(answered).toBeLessThan(BODIES);
  await Promise.all(all);
});
