/**
 * Clients that disconnect in the middle of a call. In the legacy revisions a disconnect cancels
 * nothing: the call continues and its outcome is recorded. What the gateway keeps for a client that
 * comes back is bounded and ends with its session. In MCP 2026-07-28 a disconnect cancels the call.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Exchange,
  LEGACY_CLIENTS,
  openWay,
  PATIENT,
  REAL_CLIENTS,
  sendByHand,
} from '../../testing/test-client.ts';
import { growthPerRound, MIB, settledBytes } from '../../testing/test-memory.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../../testing/test-plane.ts';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '../../testing/test-upstream.ts';

type Call = Awaited<ReturnType<typeof openWay>>;

const CLIENTS = 100;
const PATH = '/mcp/v1/up';

let upstream: TestUpstream;
let plane: TestPlane;
let basic: string;
/** Calls that wait for their answer. */
let waiting: UpstreamToolCall[] = [];

beforeAll(async () => {
  const hold = (call: UpstreamToolCall) => void waiting.push(call);
  upstream = await startTestUpstream({
    tools: [
      { name: 'read_later', annotations: { readOnlyHint: true }, handle: hold },
      {
        name: 'read_and_tell',
        annotations: { readOnlyHint: true },
        handle(call) {
          const params = { progressToken: call.progressToken, progress: 1 };
          call.event({ jsonrpc: '2.0', method: 'notifications/progress', params });
          hold(call);
        },
      },
    ],
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  ({ basic } = plane.addAgent(['*:*']));
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(() => {
  waiting = [];
});

function answerAll(text: string): void {
  for (const call of waiting.splice(0)) {
    const result = { content: [{ type: 'text', text }] };
    if (call.response.headersSent) {
      call.event({ jsonrpc: '2.0', id: call.id, result });
      call.response.end();
    } else call.result(result);
  }
}

const connections = () =>
  new Promise<number>((resolve, reject) => {
    plane.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });

const outcomes = async () =>
  (await plane.records()).flatMap((one) => (one.type === 'outcome' ? [one.outcome] : []));

/**
 * Starts calls for this many clients, waits until the server has them, and disconnects the clients.
 */
async function callAndLeave(count: number, tool: string, call: Call) {
  // The requests that opened the sessions may keep their connection.
  const others = await connections();
  const calls: Exchange[] = [];
  for (let n = 1; n <= count; n++) {
    const { headers, message } = call(tool, {}, n);
    calls.push(sendByHand(plane, 'POST', PATH, headers, message));
  }
  await expect.poll(() => waiting.length, PATIENT).toBe(count);
  // So that clients expecting progress have begun to receive it.
  if (tool === 'read_and_tell') await Promise.all(calls.map(({ response }) => response));
  for (const { cut } of calls) cut();
  await expect.poll(connections, PATIENT).toBeLessThanOrEqual(others);
}

/** Whatever was kept for a session ends with it. */
async function endSession(call: Call): Promise<void> {
  await fetch(plane.url + PATH, { method: 'DELETE', headers: call('any').headers });
}

/** The number of outcomes, once at least the expected number has arrived. */
async function expectOutcomes(count: number, outcome = 'forwarded'): Promise<void> {
  const found: string[] = [];
  await expect
    .poll(async () => found.push(...(await outcomes())), PATIENT)
    .toBeGreaterThanOrEqual(count);
  expect(found).toEqual(Array.from({ length: count }, () => outcome));
}

const WHEN = [
  ['before anything came', 'read_later'],
  ['after its progress began', 'read_and_tell'],
] as const;

describe.each(['in a session', 'without a session'] as const)('%s', (way) => {
  const open = () => openWay(way, plane, PATH, basic);

  it.each(WHEN)('a hundred calls continue after their clients left %s', async (_when, tool) => {
    await callAndLeave(CLIENTS, tool, await open());
    answerAll('done');
    await expectOutcomes(CLIENTS);
    expect(upstream.messages('notifications/cancelled')).toEqual([]);
  });

  it.each(WHEN)('calls whose clients left %s leave no memory behind', async (_when, tool) => {
    // Every round is a session of its own, which its client ends, with everything kept for it.
    const growth = await growthPerRound(4, async () => {
      const call = await open();
      await callAndLeave(20, tool, call);
      answerAll('x'.repeat(100_000));
      await expectOutcomes(20);
      if (way === 'in a session') await endSession(call);
    });
    // A round is 2 MB of answers.
    expect(growth).toBeLessThan(0.25 * MIB);
  });
});

describe('of MCP 2026-07-28', () => {
  it.each(
    WHEN,
  )('calls whose clients left %s are cancelled, and leave no memory behind', async (_when, tool) => {
    const call = await openWay('of MCP 2026-07-28', plane, PATH, basic);
    const cancelled = () => upstream.messages('notifications/cancelled').length;
    const before = cancelled();
    let left = 0;
    const growth = await growthPerRound(4, async () => {
      await callAndLeave(20, tool, call);
      left += 20;
      await expectOutcomes(20, 'cancelled');
      waiting = [];
      await expect.poll(cancelled, PATIENT).toBe(before + left);
    });
    // This includes what the test itself keeps of the server's messages.
    expect(growth).toBeLessThan(0.25 * MIB);
  });
});

it('keeps answers for clients that may come back within its budget, until their sessions end', async () => {
  const text = 'x'.repeat(3 * MIB);
  // The first large answer compiles patterns, which stay and belong to no client.
  const warm = await openWay('in a session', plane, PATH, basic);
  await callAndLeave(1, 'read_and_tell', warm);
  answerAll(text);
  await expectOutcomes(1);
  await endSession(warm);
  const before = await settledBytes();
  const sessions: Call[] = [];
  // 9 MB of answers each, of which 8 may be kept for one agent.
  for (let n = 0; n < 10; n++) {
    const call = await openWay('in a session', plane, PATH, plane.addAgent().basic);
    sessions.push(call);
    await callAndLeave(3, 'read_and_tell', call);
    answerAll(text);
    await expectOutcomes(3);
  }
  // Of the 64 MB that may be kept in total.
  const kept = (await settledBytes()) - before;
  expect(kept).toBeGreaterThan(48 * MIB);
  expect(kept).toBeLessThan(72 * MIB);
  for (const session of sessions) await endSession(session);
  expect((await settledBytes()) - before).toBeLessThan(8 * MIB);
}, 180_000);

it.each(
  LEGACY_CLIENTS,
)('%s that closes in the middle of a call does not end the call', async (name) => {
  const cancelled = upstream.messages('notifications/cancelled').length;
  const client = await REAL_CLIENTS[name](plane.url + PATH, basic);
  const calling = client.callTool('read_later').catch(() => 'gone');
  await expect.poll(() => waiting.length, PATIENT).toBe(1);
  await client.close();
  expect(await calling).toBe('gone');
  await sleep(50);
  answerAll('done');
  await expectOutcomes(1);
  expect(upstream.messages('notifications/cancelled')).toHaveLength(cancelled);
});
