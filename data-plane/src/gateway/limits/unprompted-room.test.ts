/** A large notification on a listening stream has its place in the room for answers. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { inspection } from '../../enforcement/inspection.ts';
import { enforcement } from '../../enforcement/pipeline.ts';
import { proceed } from '../../enforcement/pipeline-builder.ts';
import type { Said } from '../../enforcement/said.ts';
import { openSession } from '../../testing/test-client.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const LENGTH = 100_000;
const PATH = '/mcp/v1/up';

let upstream: TestUpstream;
let plane: TestPlane;
/** Ends the inspections that wait. */
const waiting: (() => void)[] = [];

async function waitForTest(said: Said) {
  if (said.part.kind === 'notification') {
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  return proceed(said);
}

beforeAll(async () => {
  upstream = await startTestUpstream({ offersStream: true, capabilities: { logging: {} } });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    pages: { enforcement, inspection: inspection.step('trial', waitForTest) },
  });
});
afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

const answerBytes = async () =>
  (await plane.registry.getSingleMetric('governance_gateway_answer_bytes')?.get())?.values[0]
    ?.value;

it('counts it until it was inspected, also where its listener is gone', async () => {
  const headers = await openSession(plane, PATH, plane.addAgent().basic);
  const accept = { accept: 'text/event-stream' };
  const stream = await fetch(`${plane.url}${PATH}`, { headers: { ...headers, ...accept } });
  let heard = 0;
  const reading = (async () => {
    for await (const chunk of stream.body ?? []) heard += chunk.length;
  })();
  await vi.waitFor(() => expect(upstream.streams()).toBe(1));
  const params = { level: 'error', data: 'x'.repeat(LENGTH) };
  const push = () => upstream.push({ jsonrpc: '2.0', method: 'notifications/message', params });

  push();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  expect(await answerBytes()).toBeGreaterThan(LENGTH);
  expect(await answerBytes()).toBeLessThan(LENGTH * 1.1);
  waiting.pop()?.();
  await vi.waitFor(() => expect(heard).toBeGreaterThan(LENGTH));
  expect(await answerBytes()).toBe(0);

  push();
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  await fetch(`${plane.url}${PATH}`, { method: 'DELETE', headers });
  await reading;
  expect(await answerBytes()).toBeGreaterThan(LENGTH);
  waiting.pop()?.();
  await vi.waitFor(async () => expect(await answerBytes()).toBe(0));
  expect(heard).toBeLessThan(LENGTH * 1.1);
});
