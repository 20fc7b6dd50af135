/** A server that accepts every request (202) and answers on the session's own stream. */
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
import { Cancellation, type UpstreamExchange } from '../upstream.ts';
import type { HttpUpstreamSession } from './http-session.ts';

interface Accepted {
  id: number;
  session: string;
  method: string;
  params: Record<string, unknown>;
}

let upstream: TestUpstream;
let dispatcher: Agent;
/** Where requests are sent. */
let calls: Agent;
let room: FairBytes;
let streamShares: FairShares;
let sessions: HttpUpstreamSession[];
let timeoutMs: number;
/** The stream of each session, and calls that were accepted. */
let streams: Map<string, ServerResponse>;
let accepted: Accepted[];
/** What the server does with a GET, with the POST of a request, and with a call it has accepted. */
let onGet: (response: ServerResponse) => void;
let accept: (response: ServerResponse, call: Accepted) => void;
let onCall: (call: Accepted) => void;

const resultOf = (id: unknown, text = 'done') => ({
  jsonrpc: '2.0',
  id,
  result: { content: [{ type: 'text', text }] },
});
const event = (message: unknown) =>
  `data: ${typeof message === 'string' ? message : JSON.stringify(message)}\n\n`;
const tell = (session: string, message: unknown) => streams.get(session)?.write(event(message));
const answer = ({ session, id }: Accepted) => tell(session, resultOf(id));

function serve({ httpMethod, headers, message }: SeenRequest, response: ServerResponse): boolean {
  const session = String(headers['mcp-session-id'] ?? '');
  if (httpMethod === 'GET') {
    streams.set(session, response);
    onGet(response);
    return true;
  }
  if (message?.id === undefined || message.method === 'initialize') return false;
  if (!upstream.knows(headers)) return false;
  const call = { session, ...message } as Accepted;
  if (call.method === 'ping') {
    answer(call);
    response.writeHead(202).end();
    return true;
  }
  accepted.push(call);
  accept(response, call);
  return true;
}

function openSession(): HttpUpstreamSession {
  const session = testHttpSession(upstream.url, dispatcher, {
    room: () => room,
    timeoutMs,
    calls,
    streams: streamShares,
    findIneligibility: () => undefined,
  });
  sessions.push(session);
  return session;
}

beforeEach(async () => {
  sessions = [];
  timeoutMs = 60_000;
  streams = new Map();
  accepted = [];
  room = new FairBytes(1024 * 1024, () => false);
  streamShares = wideShares();
  dispatcher = new Agent();
  calls = dispatcher;
  upstream = await startTestUpstream();
  upstream.override(serve);
  onGet = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(':open\n\n');
  };
  accept = (response, call) => response.writeHead(202).end(() => onCall(call));
  onCall = answer;
});

afterEach(async () => {
  await Promise.all(sessions.map((session) => session.close()));
  await dispatcher.destroy();
  await upstream.stop();
});

function call(session: HttpUpstreamSession, given: Partial<UpstreamExchange> = {}) {
  const exchange = { onNotification: () => undefined, cancellation: new Cancellation(), ...given };
  const members = '"name":"echo","arguments":{}';
  return session.request({ method: 'tools/call', members, wantsProgress: true }, exchange);
}

const DONE = { kind: 'result', value: { content: [{ text: 'done' }] } };
const listened = () => upstream.seen.filter(({ httpMethod }) => httpMethod === 'GET').length;
/** Everything that the server sends before this has been read. */
const isRead = (session: HttpUpstreamSession) => {
  onCall = answer;
  return call(session);
};

it('is answered from the first call on, each call once, on one stream that was open before', async () => {
  const session = openSession();
  accept = (response, given) => {
    expect(streams.has(given.session)).toBe(true);
    response.writeHead(202).end(() => onCall(given));
  };
  const all = [call(session), call(session), call(session)];
  expect(await Promise.all(all)).toMatchObject([DONE, DONE, DONE]);
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
  expect(accepted).toHaveLength(4);
  expect(new Set(accepted.map(({ id }) => id)).size).toBe(4);
  expect(session.pending).toBe(0);
});

it('an empty 200 is such an acceptance too', async () => {
  accept = (response, given) => response.writeHead(200).end(() => onCall(given));
  await expect(call(openSession())).resolves.toMatchObject(DONE);
});

it('a response that is faster than the 202 counts', async () => {
  accept = (response, given) => {
    answer(given);
    // The 202 follows when the response was read.
    pendingHead = response;
  };
  let pendingHead: ServerResponse | undefined;
  const session = openSession();
  await expect(call(session)).resolves.toMatchObject(DONE);
  pendingHead?.writeHead(202).end();
  await expect(isRead(session)).resolves.toMatchObject(DONE);
});

it('a stream whose head comes with its first message is waited for, but not forever', async () => {
  onGet = (response) => void response.writeHead(200, { 'content-type': 'text/event-stream' });
  await expect(call(openSession())).resolves.toMatchObject(DONE);
});

it('a server that answers a ping, and calls not, gets its stream when that is seen', async () => {
  upstream.override(({ message }, response) => {
    if (message?.method !== 'ping') return false;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: {} }));
    return true;
  });
  let late: Accepted | undefined;
  onCall = (given) => {
    late = given;
  };
  onGet = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (late) response.write(event(resultOf(late.id)));
  };
  const session = openSession();
  await session.open();
  expect(listened()).toBe(0);
  await expect(call(session)).resolves.toMatchObject(DONE);
});

it('the text of the result is passed on as it was written', async () => {
  onCall = ({ session, id }) =>
    tell(session, `{"jsonrpc":"2.0","id":${id},"result":{"content":[], "n":12345678901234567890}}`);
  const { raw } = await call(openSession());
  expect(raw).toBe('{"content":[], "n":12345678901234567890}');
});

it('progress of a request that waits is its own', async () => {
  const heard: unknown[] = [];
  onCall = (given) => {
    for (const token of [given.id + 1, given.id]) {
      const params = { progressToken: token, progress: token === given.id ? 1 : 2 };
      tell(given.session, { jsonrpc: '2.0', method: 'notifications/progress', params });
    }
    answer(given);
  };
  const onNotification = ({ params }: { params: Record<string, unknown> | undefined }) =>
    void heard.push(params?.progress);
  await call(openSession(), { onNotification });
  expect(heard).toEqual([1]);
});

it.each([
  ['405', (response: ServerResponse) => void response.writeHead(405).end()],
  [
    '200, and no events',
    (response: ServerResponse) =>
      void response.writeHead(200, { 'content-type': 'text/html' }).write('<p>Hello'),
  ],
])('where the server has no such stream (%s), the call fails, and is not asked for one again', async (_name, refuse) => {
  onGet = refuse;
  const session = openSession();
  for (const _ of [1, 2]) {
    await expect(call(session)).rejects.toMatchObject({
      kind: 'malformed',
      message: expect.stringContaining('accepted the request (202) and did not answer it'),
    });
  }
  expect(listened()).toBe(1);
});

it('what is no message is none: comments, and events of other types', async () => {
  onCall = (given) => {
    streams.get(given.session)?.write(':x\n\nevent: ping\ndata: 2026-12-01\n\n');
    const other = JSON.stringify(resultOf(given.id, 'other'));
    streams.get(given.session)?.write(`event: messages\ndata: ${other}\n\nevent: message\n`);
    answer(given);
  };
  const session = openSession();
  await expect(call(session)).resolves.toMatchObject(DONE);
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
});

it('a request that has not been sent yet cannot be answered', async () => {
  calls = new Agent({ connections: 1 });
  const session = openSession();
  await isRead(session);
  const kept: { response: ServerResponse; given: Accepted }[] = [];
  accept = (response, given) => void kept.push({ response, given });
  const first = call(session);
  await expect.poll(() => kept).toHaveLength(1);
  const [{ response, given } = { response: undefined, given: undefined }] = kept;
  const second = call(session);
  for (let id = Number(given?.id); id < Number(given?.id) + 9; id++) {
    if (id !== given?.id) tell(given?.session ?? '', resultOf(id, 'guessed'));
  }
  const heard: unknown[] = [];
  session.listen(({ params }) => void heard.push(params?.n));
  tell(given?.session ?? '', {
    jsonrpc: '2.0',
    method: 'notifications/message',
    params: { n: 1 },
  });
  await expect.poll(() => heard).toEqual([1]);
  expect(kept).toHaveLength(1);
  accept = (later, one) => later.writeHead(202).end(() => answer(one));
  response?.writeHead(202).end(() => answer(given as Accepted));
  expect(await Promise.all([first, second])).toMatchObject([DONE, DONE]);
  await calls.destroy();
});

it('without a session there is no stream of its own: the call fails', async () => {
  await upstream.stop();
  upstream = await startTestUpstream({ withSessions: false });
  upstream.override(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    response.writeHead(202).end();
    return true;
  });
  await expect(call(openSession())).rejects.toMatchObject({
    kind: 'malformed',
    message: expect.stringContaining('(202)'),
  });
  expect(listened()).toBe(0);
});

it('`initialize` itself is not answered so', async () => {
  upstream.override(({ message }, response) => {
    if (message?.method !== 'initialize') return false;
    response.writeHead(202, { 'mcp-session-id': upstream.openSession() }).end();
    return true;
  });
  const session = openSession();
  await expect(session.open()).rejects.toMatchObject({
    kind: 'malformed',
    message: expect.stringContaining('(202)'),
  });
  expect(listened()).toBe(0);
  expect(upstream.seen).toHaveLength(1);
});

it('without room for a stream the call is not sent', async () => {
  streamShares = new FairShares({ agent: 0, tenant: 256, way: 512, waitMs: 100 });
  await expect(call(openSession())).rejects.toMatchObject({ kind: 'busy' });
  expect(accepted).toEqual([]);
});

it('no request of another session can be answered, whose ids are others', async () => {
  const [lying, other] = [openSession(), openSession()];
  await isRead(lying);
  await isRead(other);
  const [ofLying, ofOther] = accepted as [Accepted, Accepted];
  expect(ofLying.session).not.toBe(ofOther.session);
  expect(ofLying.id).not.toBe(ofOther.id);
  onCall = () => undefined;
  const waits = call(other);
  await expect.poll(() => accepted).toHaveLength(3);
  const [, , wanted] = accepted as [Accepted, Accepted, Accepted];
  tell(ofLying.session, resultOf(wanted.id, 'of another session'));
  await isRead(lying);
  answer(wanted);
  await expect(waits).resolves.toMatchObject(DONE);
});

it('a response that nobody asked for, or a second one, is dropped', async () => {
  onCall = (given) => {
    for (const id of [given.id + 1, given.id - 1, String(given.id), null, 0.5, 1e300]) {
      tell(given.session, resultOf(id, 'unasked'));
    }
    answer(given);
    tell(given.session, resultOf(given.id, 'second'));
  };
  const session = openSession();
  await expect(call(session)).resolves.toMatchObject(DONE);
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
});

it('once the POST has begun to answer, nothing else does', async () => {
  const session = openSession();
  accept = (response, given) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event({ jsonrpc: '2.0', method: 'notifications/message', params: {} }));
    begun = { response, given };
  };
  let begun: { response: ServerResponse; given: Accepted } | undefined;
  const heard: string[] = [];
  const waits = call(session, { onNotification: ({ method }) => void heard.push(method) });
  await expect.poll(() => heard).toEqual(['notifications/message']);
  tell(begun?.given.session ?? '', resultOf(begun?.given.id, 'on the stream'));
  accept = (response, given) => response.writeHead(202).end(() => onCall(given));
  await isRead(session);
  begun?.response.end(event(resultOf(begun.given.id)));
  await expect(waits).resolves.toMatchObject(DONE);
});

it.each([
  ['ends', 'malformed', (stream: ServerResponse) => stream.end()],
  ['breaks off', 'unreachable', (stream: ServerResponse) => stream.destroy()],
  ['brings no JSON-RPC', 'malformed', (stream: ServerResponse) => stream.write(event('{"a":1}'))],
  [
    'brings a message that is too large',
    'too_large',
    (stream: ServerResponse) => stream.write(event('x'.repeat(70_000))),
  ],
] as const)('a stream that %s ends the wait: %s', async (_name, kind, end) => {
  const session = openSession();
  onCall = (given) => {
    const stream = streams.get(given.session);
    if (stream) end(stream);
  };
  await expect(call(session)).rejects.toMatchObject({ kind });
  expect(session.pending).toBe(0);
  expect(room.total).toBe(0);
  // The next one has a new stream.
  await expect(isRead(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(2);
});

it('cancellation ends the wait, and the server hears of it', async () => {
  const session = openSession();
  const cancellation = new Cancellation();
  onCall = () => cancellation.cancel();
  await expect(call(session, { cancellation })).rejects.toMatchObject({ kind: 'cancelled' });
  const [{ id, session: name } = { id: 0, session: '' }] = accepted;
  await expect
    .poll(() => upstream.messages('notifications/cancelled').map(({ message }) => message?.params))
    .toEqual([{ requestId: id }]);
  tell(name, resultOf(id, 'too late'));
  await expect(isRead(session)).resolves.toMatchObject(DONE);
});

it('the time of the call ends the wait', async () => {
  onCall = () => undefined;
  timeoutMs = 3000;
  await expect(call(openSession())).rejects.toMatchObject({ kind: 'timeout' });
});

const answersNoPing = () => upstream.override(({ message }) => message?.method === 'ping');
const inBody = (response: ServerResponse, { id }: Accepted) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(resultOf(id)));
};

it('a server that does not answer a ping has a stream until a call is answered in its POST', async () => {
  answersNoPing();
  const session = openSession();
  accept = (response, given) => {
    expect(streams.get(given.session)?.closed).toBe(false);
    inBody(response, given);
  };
  await expect(call(session)).resolves.toMatchObject(DONE);
  await expect.poll(() => [...streams.values()].map(({ closed }) => closed)).toEqual([true]);
  accept = inBody;
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
});

it('of a server that answers no ping, and calls on the stream, no answer is lost', async () => {
  answersNoPing();
  const session = openSession();
  expect(await Promise.all([call(session), call(session)])).toMatchObject([DONE, DONE]);
  expect(listened()).toBe(1);
});

it('an error does not show where such a server answers', async () => {
  answersNoPing();
  const session = openSession();
  accept = (response) => void response.writeHead(500).end();
  await expect(call(session)).rejects.toMatchObject({ kind: 'refused' });
  accept = (response, given) => {
    expect(streams.get(given.session)?.closed).toBe(false);
    response.writeHead(202).end(() => answer(given));
  };
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
});

it('a ping that is answered late shows what it shows, and no call waits for that', async () => {
  let late: ServerResponse | undefined;
  upstream.override(({ message }, response) => {
    if (message?.method === 'ping') late = response;
    return message?.method === 'ping';
  });
  const session = openSession();
  await session.open();
  expect(late?.headersSent).toBe(false);
  await expect.poll(() => streams.size).toBe(1);
  late?.writeHead(404).end();
  await expect.poll(() => [...streams.values()].map(({ closed }) => closed)).toEqual([true]);
  accept = inBody;
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
});

it('without room for that stream, the call is sent when the ping has had its time', async () => {
  timeoutMs = 2000;
  streamShares = new FairShares({ agent: 0, tenant: 256, way: 512, waitMs: 100 });
  answersNoPing();
  accept = inBody;
  await expect(call(openSession())).resolves.toMatchObject(DONE);
  expect(listened()).toBe(0);
});

it('the end of the session ends the wait', async () => {
  const session = openSession();
  onCall = () => void session.close();
  await expect(call(session)).rejects.toMatchObject({ kind: 'unreachable' });
});

it('so does a session that the server has forgotten, and a new one goes on', async () => {
  const session = openSession();
  onCall = () => undefined;
  const waits = call(session);
  await expect.poll(() => accepted).toHaveLength(1);
  upstream.forgetSessions();
  onCall = answer;
  await Promise.all([
    expect(waits).rejects.toMatchObject({ kind: 'unreachable' }),
    expect(call(session)).resolves.toMatchObject(DONE),
  ]);
  expect(accepted).toHaveLength(2);
});

it('a listener that leaves ends nothing', async () => {
  const session = openSession();
  session.listen(() => undefined);
  onCall = (given) => {
    session.listen(null);
    answer(given);
  };
  await expect(call(session)).resolves.toMatchObject(DONE);
  await expect(call(session)).resolves.toMatchObject(DONE);
  expect(listened()).toBe(1);
});

it('a large response is counted for its call, and one without room fails it alone', async () => {
  const session = openSession();
  const large = 'x'.repeat(40_000);
  onCall = ({ session: name, id }) => tell(name, resultOf(id, large));
  const held: number[] = [];
  const takes = call(session, { hold: (bytes) => held.push(bytes) > 0 });
  await expect(takes).resolves.toMatchObject({ kind: 'result' });
  expect(held.reduce((sum, bytes) => sum + bytes, 0)).toBeGreaterThanOrEqual(large.length);
  await expect(call(session, { hold: () => false })).rejects.toMatchObject({ kind: 'no_room' });
  await expect(isRead(session)).resolves.toMatchObject(DONE);
  expect(room.total).toBe(0);
  expect(listened()).toBe(1);
});

it('without room on the stream the calls may have been done', async () => {
  const session = openSession();
  room = new FairBytes(20_000, () => false);
  onCall = ({ session: name, id }) => tell(name, resultOf(id, 'x'.repeat(40_000)));
  await expect(call(session, { hold: () => true })).rejects.toMatchObject({ kind: 'no_room' });
  expect(room.total).toBe(0);
});
