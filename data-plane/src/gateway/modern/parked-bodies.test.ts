/**
 * A call that waits at a legacy server for its client's input keeps its arguments: they count among
 * the bodies that its agent may have under way until it is over.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postModern } from '../../testing/test-modern-client.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const MESSAGE_BYTES = 20_000;
/** Bodies of the largest size that one agent may have under way. */
const OF_AGENT = 16;

let upstream: TestUpstream;
let plane: TestPlane;
let questions = 0;
/** Let the server go on. */
let goOn: (() => void)[] = [];

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'asks',
        annotations: { readOnlyHint: true },
        async handle({ id, event, response }) {
          const params = { mode: 'form', message: 'Go on?', requestedSchema: {} };
          event({ jsonrpc: '2.0', id: `${questions++}`, method: 'elicitation/create', params });
          await new Promise<void>((resolve) => goOn.push(resolve));
          event({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } });
          response.end();
        },
      },
    ],
  });
  upstream.override(({ message }, response) => {
    if (message === undefined || message.method !== undefined) return false;
    response.writeHead(202).end();
    return true;
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { messageBytes: MESSAGE_BYTES },
  });
});

afterAll(async () => {
  for (const next of goOn) next();
  await plane?.stop();
  await upstream?.stop();
});

const capabilities = { elicitation: { form: {} } };
const args = { pad: 'word '.repeat(3_800) };
const call = (authorization: string, more: Record<string, unknown> = {}) =>
  postModern(
    plane,
    'tools/call',
    { name: 'asks', arguments: args, ...more },
    { authorization, capabilities },
  );

it('also while no client waits for it', async () => {
  const { basic } = plane.addAgent();
  for (let n = 0; n < OF_AGENT; n++) {
    expect((await call(basic)).last.result.resultType).toBe('input_required');
  }
  expect((await call(basic)).status).toBe(503);
  expect((await call(plane.addAgent().basic)).status).toBe(200);
});

it('and no longer', async () => {
  const { basic } = plane.addAgent();
  goOn = [];
  for (let n = 0; n < 2 * OF_AGENT; n++) {
    const { requestState } = (await call(basic)).last.result;
    for (const next of goOn.splice(0)) next();
    const { status, last } = await call(basic, { requestState, inputResponses: {} });
    expect([status, last.result.resultType]).toEqual([200, 'complete']);
  }
});
