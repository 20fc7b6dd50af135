/** What a server sends outside an answer has its place in the room for answers, where it is large. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { proceed } from '../../enforcement/call/pipeline-builder.ts';
import type { ReceivedMessage } from '../../enforcement/call/received-message.ts';
import { inspection } from '../../enforcement/inspection.ts';
import { enforcement } from '../../enforcement/pipeline.ts';
import { openSession } from '../../testing/test-client.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const LENGTH = 100_000;
const PATH = '/mcp/v1/up';

let upstream: TestUpstream;
let wordy: TestUpstream;
let plane: TestPlane;
let isHeldUp = true;
/** Ends the inspections that wait. */
const waiting: (() => void)[] = [];

async function waitForTest(received: ReceivedMessage) {
  if (isHeldUp && received.call === null) {
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  return proceed(received);
}

beforeAll(async () => {
  upstream = await startTestUpstream({ offersStream: true, capabilities: { logging: {} } });
  wordy = await startTestUpstream({ instructions: 'x'.repeat(LENGTH) });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url), HTTP_SERVER('wordy', wordy.url)],
    lists: { enforcement, inspection: inspection.step('trial', waitForTest) },
  });
});
afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
  await wordy?.stop();
});

const answerBytes = async () =>
  (await plane.registry.getSingleMetric('governance_gateway_answer_bytes')?.get())?.values[0]
    ?.value;

/** Opens a session and its stream. */
async function listen(capabilities?: Record<string, unknown>) {
  isHeldUp = false;
  const headers = await openSession(plane, PATH, plane.addAgent().basic, capabilities);
  isHeldUp = true;
  const accept = { accept: 'text/event-stream' };
  const stream = await fetch(`${plane.url}${PATH}`, { headers: { ...headers, ...accept } });
  const heard = { bytes: 0 };
  const reading = (async () => {
    for await (const chunk of stream.body ?? []) heard.bytes += chunk.length;
  })();
  await vi.waitFor(() => expect(upstream.streams()).toBe(1));
  const end = async () => {
    await fetch(`${plane.url}${PATH}`, { method: 'DELETE', headers });
    await reading;
  };
  return { headers, heard, end };
}

async function expectCounted(): Promise<void> {
  expect(await answerBytes()).toBeGreaterThan(LENGTH);
  expect(await answerBytes()).toBeLessThan(LENGTH * 1.1);
}

it('counts a notification until it was inspected, also where its listener is gone', async () => {
  const { heard, end } = await listen();
  const params = { level: 'error', data: 'x'.repeat(LENGTH) };
  const push = () => upstream.push({ jsonrpc: '2.0', method: 'notifications/message', params });

  push();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await expectCounted();
  waiting.pop()?.();
  await vi.waitFor(() => expect(heard.bytes).toBeGreaterThan(LENGTH));
  expect(await answerBytes()).toBe(0);

  push();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await end();
  await expectCounted();
  waiting.pop()?.();
  await vi.waitFor(async () => expect(await answerBytes()).toBe(0));
  expect(heard.bytes).toBeLessThan(LENGTH * 1.1);
});

it('counts a question until it was answered', async () => {
  const { headers, heard, end } = await listen({ sampling: {} });
  const params = { messages: [], systemPrompt: 'x'.repeat(LENGTH) };
  upstream.push({ jsonrpc: '2.0', id: 'q', method: 'sampling/createMessage', params });
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await expectCounted();
  waiting.pop()?.();
  await vi.waitFor(() => expect(heard.bytes).toBeGreaterThan(LENGTH));
  await expectCounted();
  await plane.post(PATH, { jsonrpc: '2.0', id: 'gateway-1', result: {} }, headers);
  await vi.waitFor(async () => expect(await answerBytes()).toBe(0));
  await end();
});

it('counts what a server says of itself until it was inspected', async () => {
  const opening = openSession(plane, '/mcp/v1/wordy', plane.addAgent().basic);
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await expectCounted();
  waiting.pop()?.();
  await opening;
  expect(await answerBytes()).toBe(0);
});
