/** A session's stream on which calls are answered, whose events have ids: it is cut, and resumed. */
import type { ServerResponse } from 'node:http';
import { Agent } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { testHttpSession, wideShares } from '../../testing/test-http-session.ts';
import {
  type SeenRequest,
  startTestUpstream,
  type TestUpstream,
} from '../../testing/test-upstream.ts';
import { FairBytes } from '../shares/fair-bytes.ts';
import { FairShares } from '../shares/fair-shares.ts';
import { Cancellation, type SessionPeer, type UpstreamNotification } from '../upstream.ts';
import type { HttpUpstreamSession } from './http-session.ts';

interface Accepted {
  id: number;
  params: { _meta?: { progressToken: number } };
}

let upstream: TestUpstream;
let dispatcher: Agent;
let session: HttpUpstreamSession;
let streamShares: FairShares;
let timeoutMs: number;
let peer: SessionPeer | undefined;
let ineligible: string | undefined;
/** What the server has sent, by ids from 1 on; its stream, and the calls that it has accepted. */
let events: object[];
let stream: ServerResponse | undefined;
let accepted: Accepted[];
/** The events that a resumed stream brings. */
let replayedFrom: (lastEventId: number) => number;
/** Answers a GET by itself. */
let onGet: (lastEventId: string | undefined, response: ServerResponse) => boolean;
let onCall: (call: Accepted) => void;

const write = (n: number) => {
  if (stream?.writableEnded === false)
    stream.write(`id: ${n}\ndata: ${JSON.stringify(events[n - 1])}\n\n`);
};
const tell = (message: object) => write(events.push({ jsonrpc: '2.0', ...message }));
const answer = ({ id }: Accepted, text = 'done') =>
  tell({ id, result: { content: [{ type: 'text', text }] } });
const note = (data: unknown) => ({
  method: 'notifications/message',
  params: { level: 'info', data },
});
const resumptions = () =>
  upstream.seen
    .filter(({ httpMethod }) => httpMethod === 'GET')
    .map(({ headers }) => headers['last-event-id']);

function serve({ httpMethod, headers, message }: SeenRequest, response: ServerResponse): boolean {
  if (httpMethod === 'GET') {
    const lastEventId = headers['last-event-id'] as string | undefined;
    if (onGet(lastEventId, response)) return true;
    stream = response;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':open\n\n');
    if (lastEventId === undefined) return true;
    for (let n = replayedFrom(Number(lastEventId)); n <= events.length; n++) write(n);
    return true;
  }
  if (message?.id === undefined || message.method === 'initialize') return false;
  if (!upstream.knows(headers)) return false;
  response.writeHead(202).end(() => {
    if (message.method !== 'tools/call') return;
    accepted.push(message as unknown as Accepted);
    onCall(message as unknown as Accepted);
  });
  return true;
}

function openSession(): HttpUpstreamSession {
  const room = new FairBytes(1024 * 1024, () => false);
  return testHttpSession(upstream.url, dispatcher, {
    room: () => room,
    timeoutMs,
    streams: streamShares,
    findIneligibility: () => ineligible,
    peer,
  });
}

beforeEach(async () => {
  timeoutMs = 60_000;
  peer = undefined;
  ineligible = undefined;
  events = [];
  accepted = [];
  stream = undefined;
  replayedFrom = (last) => last + 1;
  onGet = () => false;
  onCall = () => undefined;
  streamShares = wideShares();
  dispatcher = new Agent();
  upstream = await startTestUpstream();
  upstream.override(serve);
  session = openSession();
});

afterEach(async () => {
  await session.close();
  await dispatcher.destroy();
  await upstream.stop();
});

function call(from = session) {
  const heard: unknown[] = [];
  const cancellation = new Cancellation();
  const onNotification = ({ params }: UpstreamNotification) => void heard.push(params?.progress);
  const result = from.request(
    { method: 'tools/call', members: '"name":"echo","arguments":{}', wantsProgress: true },
    { onNotification, cancellation, findIneligibility: () => ineligible },
  );
  result.catch(() => undefined);
  return { result, heard, cancellation };
}

/** Calls that wait when an event has come, after which the stream is cut. */
async function waiting(count: number) {
  const calls = Array.from({ length: count }, () => call());
  await expect.poll(() => accepted).toHaveLength(count);
  const [first] = accepted as [Accepted];
  const params = { progressToken: first.id, progress: 1 };
  tell({ method: 'notifications/progress', params });
  await expect.poll(() => calls.flatMap(({ heard }) => heard)).toEqual([1]);
  return calls;
}
const results = (calls: { result: Promise<unknown> }[]) =>
  Promise.all(calls.map(({ result }) => result));
const DONE = { kind: 'result', value: { content: [{ text: 'done' }] } };

it.each([
  'end',
  'destroy',
] as const)('calls go on waiting where it is cut (%s), and it is resumed from its last event', async (cut) => {
  const calls = await waiting(3);
  stream?.[cut]();
  for (const one of accepted) answer(one);
  expect(await results(calls)).toMatchObject([DONE, DONE, DONE]);
  expect(resumptions()).toEqual([undefined, '1']);
  expect(accepted).toHaveLength(3);
  expect(upstream.messages('initialize')).toHaveLength(1);
  expect(session.pending).toBe(0);
});

it('it is cut as often as the server likes, also by a call that was not accepted yet', async () => {
  const calls = await waiting(1);
  stream?.write('retry: 50\n\n');
  onCall = (one) => {
    tell(note('cut'));
    stream?.end();
    if (accepted.length === 4) for (const each of accepted) answer(each);
    else void calls.push(call());
    expect(one.id).toBeGreaterThan(0);
  };
  calls.push(call());
  await expect.poll(() => calls).toHaveLength(4);
  for (const result of await results(calls)) expect(result).toMatchObject(DONE);
});

it('no event is delivered twice, though the server sends all again', async () => {
  const asked: unknown[] = [];
  await session.close();
  peer = {
    capabilities: {},
    ask: async ({ params }) => {
      asked.push(params.q);
      return null;
    },
    withdraw: () => undefined,
    abandon: () => undefined,
  };
  session = openSession();
  const notes: unknown[] = [];
  session.listen(({ params }) => void notes.push(params?.data));
  replayedFrom = () => 1;
  const [one] = await waiting(1);
  tell(note('a'));
  tell({ id: 'q1', method: 'elicitation/create', params: { q: 1 } });
  await expect.poll(() => asked).toEqual([1]);
  stream?.end();
  tell(note('b'));
  tell({ id: 'q2', method: 'elicitation/create', params: { q: 2 } });
  answer(accepted[0] as Accepted);
  await expect(one?.result).resolves.toMatchObject(DONE);
  expect({ asked, notes, heard: one?.heard }).toEqual({
    asked: [1, 2],
    notes: ['a', 'b'],
    heard: [1],
  });
});

it('ids that begin anew with each connection hide nothing', async () => {
  const [one] = await waiting(1);
  stream?.end();
  events = [];
  replayedFrom = () => 1;
  answer(accepted[0] as Accepted);
  await expect(one?.result).resolves.toMatchObject(DONE);
});

it('it is not resumed sooner than the server said, and a call meanwhile is sent without it', async () => {
  const calls = await waiting(1);
  let askedAt = 0;
  onGet = () => {
    askedAt = performance.now();
    return false;
  };
  const endedAt = performance.now();
  stream?.end('retry: 1500\n\n');
  await expect.poll(() => stream?.writableFinished).toBe(true);
  onCall = (next) => {
    expect(resumptions()).toHaveLength(1);
    answer(next);
  };
  calls.push(call());
  await expect(calls[1]?.result).resolves.toMatchObject(DONE);
  // Timers may be a little early.
  expect(askedAt - endedAt).toBeGreaterThan(1490);
  answer(accepted[0] as Accepted);
  await expect(calls[0]?.result).resolves.toMatchObject(DONE);
});

it.each([
  ['409, then 429', [409, 429]],
  ['503', [503]],
  ['no answer', [0]],
] as const)(
  'it is tried again where that fails for the moment: %s',
  async (_name, statuses) => {
    const [one] = await waiting(1);
    const left: number[] = [...statuses];
    onGet = (_id, response) => {
      const status = left.shift();
      if (status === undefined) return false;
      if (status === 0) response.destroy();
      else response.writeHead(status).end();
      return true;
    };
    stream?.destroy();
    answer(accepted[0] as Accepted);
    await expect(one?.result).resolves.toMatchObject(DONE);
    expect(resumptions()).toEqual([undefined, ...statuses.map(() => '1'), '1']);
  },
  30_000,
);

it.each([
  400, 405,
])('where the server does not resume it (%i), the calls fail, and the next has a new stream', async (status) => {
  const calls = await waiting(2);
  onGet = (lastEventId, response) => {
    if (lastEventId === undefined) return false;
    response.writeHead(status).end();
    return true;
  };
  stream?.end();
  for (const { result } of calls) {
    await expect(result).rejects.toMatchObject({
      kind: 'malformed',
      message: `the session's stream was cut, and not resumed (HTTP ${status})`,
    });
  }
  onCall = answer;
  await expect(call().result).resolves.toMatchObject(DONE);
  expect(resumptions()).toEqual([undefined, '1', undefined]);
  expect(upstream.messages('initialize')).toHaveLength(1);
});

it('where the server has forgotten the session meanwhile, the calls fail, and the next has a new one', async () => {
  const [one] = await waiting(1);
  onGet = (lastEventId, response) => {
    if (lastEventId === undefined) return false;
    response.writeHead(404).end();
    return true;
  };
  upstream.forgetSessions();
  stream?.destroy();
  await expect(one?.result).rejects.toMatchObject({ kind: 'unreachable' });
  onCall = answer;
  await expect(call().result).resolves.toMatchObject(DONE);
  expect(resumptions()).toEqual([undefined, '1', undefined]);
  expect(upstream.messages('initialize')).toHaveLength(2);
});

it('cancellation, the end of the session and a suspension end the wait for it', async () => {
  const [one, two, three] = await waiting(3);
  stream?.write('retry: 60000\n\n');
  stream?.end();
  one?.cancellation.cancel();
  await expect(one?.result).rejects.toMatchObject({ kind: 'cancelled' });
  await Promise.all([
    expect(two?.result).rejects.toMatchObject({ kind: 'unreachable' }),
    expect(three?.result).rejects.toMatchObject({ kind: 'unreachable' }),
    session.close(),
  ]);
  accepted = [];
  events = [];
  session = openSession();
  const [four] = await waiting(1);
  ineligible = 'it is suspended';
  stream?.end();
  await expect(four?.result).rejects.toMatchObject({ kind: 'ineligible' });
  expect(resumptions()).toEqual([undefined, undefined]);
});

it('the time of the call ends the wait for it', async () => {
  await session.close();
  timeoutMs = 3000;
  session = openSession();
  const [one] = await waiting(1);
  stream?.end('retry: 999999999999\n\n');
  await expect(one?.result).rejects.toMatchObject({ kind: 'timeout' });
  expect(resumptions()).toEqual([undefined]);
});

it('its place is kept until it is resumed, and given back at the end', async () => {
  streamShares = new FairShares({ agent: 1, tenant: 256, way: 512, waitMs: 100 });
  await session.close();
  session = openSession();
  await waiting(1);
  stream?.end('retry: 60000\n\n');
  await expect.poll(() => stream?.closed).toBe(true);
  const other = openSession();
  await expect(call(other).result).rejects.toMatchObject({ kind: 'busy' });
  await session.close();
  accepted = [];
  onCall = answer;
  await expect(call(other).result).resolves.toMatchObject(DONE);
  await other.close();
});

it('events without ids, or with one that no header can carry, are not resumed', async () => {
  const [one] = await waiting(1);
  stream?.write(`id: ä\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...note('a') })}\n\n`);
  stream?.end();
  await expect(one?.result).rejects.toMatchObject({ kind: 'malformed' });
  onCall = answer;
  await expect(call().result).resolves.toMatchObject(DONE);
  expect(resumptions()).toEqual([undefined, undefined]);
});

it('an event of nothing but an id is where it is resumed', async () => {
  const [one] = await waiting(1);
  events.push({}, {});
  stream?.end('id: 3\n\n');
  answer(accepted[0] as Accepted);
  await expect(one?.result).resolves.toMatchObject(DONE);
  expect(resumptions()).toEqual([undefined, '3']);
});

it('a server that ends each connection at once is asked ever more seldom', async () => {
  const [one] = await waiting(1);
  stream?.write('retry: 0\n\n');
  onGet = (_id, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(':nothing\n\n');
    return true;
  };
  stream?.end();
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(resumptions().length).toBeGreaterThan(3);
  expect(resumptions().length).toBeLessThanOrEqual(11);
  onGet = () => false;
  answer(accepted[0] as Accepted);
  await expect(one?.result).resolves.toMatchObject(DONE);
});

it('the time of the call ends it also where a resumed stream dribbles, and of two answers the first counts', async () => {
  await session.close();
  timeoutMs = 3000;
  session = openSession();
  const [one, two] = await waiting(2);
  let dribble: NodeJS.Timeout | undefined;
  onGet = (_id, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const first = { jsonrpc: '2.0', id: accepted[1]?.id, result: { content: [{ text: 'done' }] } };
    const again = { ...first, result: { content: [{ text: 'other' }] } };
    response.write([first, again].map((m) => `data: ${JSON.stringify(m)}\n\n`).join(''));
    response.write('id: 9\ndata: {"jsonrpc":"2.0","id":');
    dribble = setInterval(() => response.write(' '), 20);
    return true;
  };
  stream?.end();
  await expect(two?.result).resolves.toMatchObject(DONE);
  await expect(one?.result).rejects.toMatchObject({ kind: 'timeout' });
  clearInterval(dribble);
  expect(session.pending).toBe(0);
});
