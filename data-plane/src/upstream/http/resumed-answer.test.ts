import { Agent } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testHttpSession } from '../../testing/test-http-session.ts';
import {
  type SeenRequest,
  startTestUpstream,
  type TestUpstream,
} from '../../testing/test-upstream.ts';
import { FairBytes } from '../shares/fair-bytes.ts';
import { Cancellation, UpstreamFailure, type UpstreamNotification } from '../upstream.ts';
import { HttpRequest } from './http-request.ts';
import type { HttpUpstreamSession } from './http-session.ts';

let upstream: TestUpstream;
let session: HttpUpstreamSession;
let dispatcher: Agent;
let callId: number;
let cut: 'end' | 'destroy';
let retry: string;
/** What the stream brings before it is cut. */
let more: string;
let resumptions: SeenRequest[];
/** Why the agent may not act. */
let ineligible: string | undefined;
/** What a GET with Last-Event-ID gets. */
let rest: (id: number) => string | number;

const event = (id: string, message: unknown) => `id: ${id}\ndata: ${JSON.stringify(message)}\n\n`;
const progress = (n: number) => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: n },
});
const resultOf = (id: number) => ({ jsonrpc: '2.0', id, result: { content: [] } });

let room: FairBytes;

beforeEach(async () => {
  room = new FairBytes(1024 * 1024, () => false);
  cut = 'end';
  retry = '60';
  more = '';
  resumptions = [];
  ineligible = undefined;
  rest = (id) => event('b-1', progress(2)) + event('b-2', resultOf(id));
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'leaves',
        handle({ id, response }) {
          callId = id;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          const text = `id: a-1\nretry: ${retry}\ndata: \n\n${event('a-2', progress(1))}${more}`;
          response.write(text, () => setTimeout(() => response[cut](), 20));
        },
      },
    ],
  });
  upstream.override((request, response) => {
    if (request.httpMethod !== 'GET') return false;
    resumptions.push(request);
    const answer = rest(callId);
    if (typeof answer === 'number') response.writeHead(answer).end();
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer);
    return true;
  });
  dispatcher = new Agent();
  session = openSession(1000);
});

function openSession(timeoutMs: number) {
  return testHttpSession(upstream.url, dispatcher, {
    room: () => room,
    timeoutMs,
    findIneligibility: () => ineligible,
  });
}

afterEach(async () => {
  await session.close();
  await dispatcher.destroy();
  await upstream.stop();
});

function call() {
  const received: unknown[] = [];
  const paused: number[] = [];
  const cancellation = new Cancellation();
  const answer = session.request(
    { method: 'tools/call', members: '"name":"leaves","arguments":{}', wantsProgress: false },
    {
      cancellation,
      onNotification: ({ params }: UpstreamNotification) => void received.push(params?.data),
      onPaused: (retryMs) => void paused.push(retryMs),
      findIneligibility: () => ineligible,
    },
  );
  return { answer, received, paused, cancellation };
}

const failure = (kind: string) =>
  expect.toSatisfy((error) => error instanceof UpstreamFailure && error.kind === kind);

it.each([
  'end',
  'destroy',
] as const)('an answer whose stream is cut (%s) is fetched by its last event, and not asked for again', async (how) => {
  cut = how;
  const { answer, received } = call();
  await expect(answer).resolves.toMatchObject({ kind: 'result', value: { content: [] } });
  expect(received).toEqual([1, 2]);
  expect(resumptions.map(({ headers }) => headers['last-event-id'])).toEqual(['a-2']);
  const [resumed] = resumptions;
  expect(upstream.knows(resumed?.headers ?? {})).toBe(true);
  expect(resumed?.headers.accept).toBe('text/event-stream');
  expect(upstream.messages('tools/call')).toHaveLength(1);
});

it('is fetched again when the rest is cut too, from where that ended', async () => {
  rest = (id) => {
    if (resumptions.length === 1) return event('b-1', progress(2));
    return event('b-2', resultOf(id));
  };
  await expect(call().answer).resolves.toMatchObject({ kind: 'result' });
  expect(resumptions.map(({ headers }) => headers['last-event-id'])).toEqual(['a-2', 'b-1']);
});

it('an event that was cut off in the middle counts no longer while the rest is fetched', async () => {
  const totals: number[] = [];
  rest = (id) => {
    totals.push(room.total);
    if (resumptions.length < 4) return `${event('b-1', progress(2))}data: ${'x'.repeat(40_000)}`;
    return event('b-2', resultOf(id));
  };
  await expect(call().answer).resolves.toMatchObject({ kind: 'result' });
  expect(totals).toEqual([0, 0, 0, 0]);
});

it('what comes behind an answer has no room', async () => {
  const request = new HttpRequest(
    1,
    { cancellation: new Cancellation(), onNotification: () => undefined, hold: () => true },
    { timeoutMs: 1000, messageBytes: 64 * 1024 },
    { refused: () => undefined, done: () => undefined },
  );
  expect(request.hold(20_000)).toBeNull();
  request.onMessage(JSON.stringify(resultOf(1)), 200);
  await request.answer;
  expect(request.hold(-20_000)).toBeNull();
  expect(request.hold(20_000)).toMatchObject({ kind: 'no_room' });
  request.onEnd(200, null);
});

it.each([
  400, 404, 405,
])('fails where the server answers %i to that, and is not sent again', async (status) => {
  rest = () => status;
  await expect(call().answer).rejects.toEqual(failure('malformed'));
  expect(upstream.messages('tools/call')).toHaveLength(1);
  expect(resumptions).toHaveLength(1);
});

it('is asked for again where the server cannot give it yet, as while it has not noticed the cut', async () => {
  await session.close();
  session = openSession(60_000);
  const statuses = [409, 503];
  rest = (id) => statuses.shift() ?? event('b-2', resultOf(id));
  await expect(call().answer).resolves.toMatchObject({ kind: 'result' });
  expect(resumptions.map(({ headers }) => headers['last-event-id'])).toEqual(['a-2', 'a-2', 'a-2']);
}, 30_000);

it('an event that comes again is not delivered again', async () => {
  rest = (id) =>
    event('a-2', progress(1)) +
    event('b-1', progress(2)) +
    event('b-1', progress(2)) +
    event('b-2', resultOf(id));
  const { answer, received } = call();
  await expect(answer).resolves.toMatchObject({ kind: 'result' });
  expect(received).toEqual([1, 2]);
});

it.each([
  ['no data', 'id: a-3\n\n', 'a-3'],
  ['a space in its id', 'id: a 3\ndata: \n\n', 'a 3'],
])('is fetched from an event with %s', async (_name, text, lastEventId) => {
  more = text;
  await expect(call().answer).resolves.toMatchObject({ kind: 'result' });
  expect(resumptions.map(({ headers }) => headers['last-event-id'])).toEqual([lastEventId]);
});

it.each([
  ['empty', ''],
  ['no header can carry', 'ä'],
  ['too long', 'x'.repeat(1025)],
])('is not fetched where the last id is %s: what came before would come again', async (_name, id) => {
  more = `id: ${id}\ndata: \n\n`;
  await expect(call().answer).rejects.toEqual(failure('malformed'));
  expect(resumptions).toEqual([]);
});

it('ends in time with a server that never gives it', async () => {
  rest = () => ':nothing\n\n';
  await expect(call().answer).rejects.toEqual(failure('timeout'));
  // One may have been on its way when the time was over.
  const asked = resumptions.length + 1;
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(resumptions.length).toBeLessThanOrEqual(asked);
});

it('is not fetched immediately, whatever the server says', async () => {
  rest = () => ':nothing\n\n';
  retry = '0';
  await expect(call().answer).rejects.toEqual(failure('timeout'));
  expect(resumptions.length).toBeGreaterThan(1);
  expect(resumptions.length).toBeLessThanOrEqual(20);
});

it('is fetched ever more seldom from a server that ends each stream at once', async () => {
  await session.close();
  session = openSession(2000);
  rest = () => ':nothing\n\n';
  retry = '0';
  await expect(call().answer).rejects.toEqual(failure('timeout'));
  expect(resumptions.length).toBeLessThanOrEqual(11);
});

it('is given up in time, however late the server wants to be asked, and its client waits no longer', async () => {
  retry = '99999999999';
  const { answer, paused } = call();
  await expect(answer).rejects.toEqual(failure('timeout'));
  expect(resumptions).toEqual([]);
  expect(paused).toHaveLength(1);
  expect(paused[0]).toBeLessThanOrEqual(1000);
});

it('is not fetched any more once it was cancelled or its session closed', async () => {
  retry = '500';
  const { answer, received, cancellation } = call();
  await expect.poll(() => received).toEqual([1]);
  cancellation.cancel();
  await expect(answer).rejects.toEqual(failure('cancelled'));
  const second = call();
  await expect.poll(() => second.received).toEqual([1]);
  await Promise.all([
    expect(second.answer).rejects.toEqual(failure('unreachable')),
    session.close(),
  ]);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(resumptions).toEqual([]);
});

it('is not fetched for an agent that was suspended meanwhile', async () => {
  const { answer, received } = call();
  await expect.poll(() => received).toEqual([1]);
  ineligible = 'it is suspended';
  await expect(answer).rejects.toEqual(failure('ineligible'));
  expect(resumptions).toEqual([]);
});

it('is not fetched either where it is the answer to `initialize`', async () => {
  upstream.override(({ message }, response) => {
    if (message?.method !== 'initialize') return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end('id: a-1\nretry: 60\ndata: \n\n');
    ineligible = 'it is suspended';
    return true;
  });
  await expect(session.open()).rejects.toEqual(failure('ineligible'));
  expect(resumptions).toEqual([]);
});
