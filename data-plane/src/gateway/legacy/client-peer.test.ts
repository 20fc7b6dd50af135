/** What a server may ask of a client through the gateway, and how each question ends. */
import { createParser } from 'eventsource-parser';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { proceed } from '../../enforcement/call/pipeline-builder.ts';
import type { ReceivedMessage } from '../../enforcement/call/received-message.ts';
import { inspection } from '../../enforcement/inspection.ts';
import { enforcement } from '../../enforcement/pipeline.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '../../testing/test-upstream.ts';
import { askableCapabilities } from '../client-questions.ts';

const ALL = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
const TIMEOUT_MS = 700;
const PATH = '/mcp/v1/up';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;
/** While set, the inspection waits for it. */
let gate: Promise<void> | null = null;
let inspected = 0;
const slow = (received: ReceivedMessage) => {
  inspected++;
  return gate === null ? proceed(received) : gate.then(() => proceed(received));
};
/** The tool's question to its client before it answers. */
let question: Message = {};
const open: (() => void)[] = [];

type Message = Record<string, unknown>;

beforeEach(async () => {
  question = { method: 'sampling/createMessage', params: { messages: [], _meta: { own: 1 } } };
  const ask = async ({ event, id, response }: UpstreamToolCall) => {
    event({ jsonrpc: '2.0', id: 'question', ...question });
    for (let n = 0; n < 100 && answerOf('question') === undefined; n++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    event({ jsonrpc: '2.0', id, result: { content: [] } });
    response.end();
  };
  upstream = await startTestUpstream({
    offersStream: true,
    tools: [{ name: 'read_and_ask', annotations: { readOnlyHint: true }, handle: ask }],
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { upstreamTimeoutMs: TIMEOUT_MS },
    lists: { enforcement, inspection: inspection.step('slow', slow) },
  });
  gate = null;
  agent = plane.addAgent(['*:*']);
  await plane.records();
});

afterEach(async () => {
  for (const close of open.splice(0)) close();
  await plane.stop();
  await upstream.stop();
});

/** The gateway's answer to a request of the server. */
const answerOf = (id: unknown): Message | undefined =>
  upstream.seen.find(({ message }) => message?.id === id && message?.method === undefined)?.message;

/** A client with a session and its stream, which answers automatically where an answer is given. */
async function connect(capabilities: Message, answers: Record<string, Message> = {}, by = agent) {
  const heard: Message[] = [];
  let session: Record<string, string> = {};
  const abort = new AbortController();
  open.push(() => abort.abort());
  const fetchIt = (method: string, message?: Message) =>
    fetch(`${plane.url}${PATH}`, {
      method,
      headers: {
        authorization: by.basic,
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        ...(message && { 'content-type': 'application/json' }),
        ...session,
      },
      ...(message && { body: JSON.stringify({ jsonrpc: '2.0', ...message }) }),
      signal: abort.signal,
    });
  const read = async (response: Response) => {
    const parser = createParser({
      onEvent: ({ data }) => {
        const message = JSON.parse(data) as Message;
        heard.push(message);
        const answer = answers[String(message.method)];
        if (answer !== undefined) void fetchIt('POST', { id: message.id, ...answer });
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array));
  };
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: {} };
  const begun = await fetchIt('POST', { id: 0, method: 'initialize', params });
  session = { 'mcp-session-id': begun.headers.get('mcp-session-id') ?? '' };
  void read(await fetchIt('GET')).catch(() => undefined);
  return {
    heard,
    asked: () => heard.filter((message) => 'id' in message && 'method' in message),
    post: (message: Message) => fetchIt('POST', message),
    end: () => fetchIt('DELETE'),
    async call() {
      const params = { name: 'read_and_ask', arguments: {} };
      await read(await fetchIt('POST', { id: 1, method: 'tools/call', params }));
    },
  };
}

/** Lets the server ask on its stream, outside any call. */
async function push(id: string, method = 'roots/list', params: Message = {}) {
  await expect.poll(upstream.streams).toBeGreaterThan(0);
  upstream.push({ jsonrpc: '2.0', id, method, params });
}

const decisions = async () =>
  (await plane.records()).flatMap((record) =>
    record.type === 'decision' ? [[record.method, record.action, record.policy_result]] : [],
  );

describe('a question along with an answer', () => {
  it('is judged, recorded, asked and answered', async () => {
    const result = { model: 'm', role: 'assistant', content: { type: 'text', text: 'yes' } };
    const client = await connect(ALL, { 'sampling/createMessage': { result } });
    expect(upstream.messages('initialize')[0]?.message?.params).toMatchObject({
      capabilities: ALL,
    });
    await client.call();
    expect(answerOf('question')).toEqual({ jsonrpc: '2.0', id: 'question', result });
    expect(client.asked()).toEqual([
      {
        jsonrpc: '2.0',
        id: 'gateway-1',
        method: 'sampling/createMessage',
        params: { messages: [] },
      },
    ]);
    const records = await plane.records();
    const asked = records.find(
      (one) => one.type === 'decision' && one.method === 'sampling/createMessage',
    );
    expect(asked).toMatchObject({
      action: 'execute',
      tool_name: 'mcp:sampling/createMessage',
      mcp_server: 'up',
      policy_result: 'allow',
    });
    const outcome = records.find((one) => one.type === 'outcome' && one.event_id === asked?.id);
    expect(outcome).toMatchObject({ outcome: 'forwarded' });
  });

  it('reaches only the client whose call the server is working on', async () => {
    const result = { action: 'decline' };
    question = { method: 'elicitation/create', params: { message: 'Who?', requestedSchema: {} } };
    const one = await connect(ALL, { 'elicitation/create': { result } });
    const other = await connect(ALL, { 'elicitation/create': { result } });
    expect(upstream.messages('initialize')).toHaveLength(2);
    await one.call();
    expect(answerOf('question')).toMatchObject({ result });
    expect(one.asked()).toHaveLength(1);
    expect(other.heard).toEqual([]);
  });

  it('gets nothing of an agent that was suspended while its reply was inspected', async () => {
    let goOn: () => void = () => undefined;
    const client = await connect(ALL);
    const calling = client.call();
    await expect.poll(client.asked).toHaveLength(1);
    gate = new Promise((resolve) => {
      goOn = resolve;
    });
    inspected = 0;
    await client.post({ id: 'gateway-1', result: { model: 'm', content: 'secret' } });
    await expect.poll(() => inspected).toBe(1);
    agent.update({ status: 'suspended' });
    goOn();
    await calling;
    expect(answerOf('question')).toMatchObject({ error: { code: -32000 } });
    expect(JSON.stringify(upstream.seen)).not.toContain('secret');
    // Withheld by the enforcer, and recorded so.
    const outcomes = (await plane.records()).filter((one) => one.type === 'outcome');
    const ofReply = expect.objectContaining({ outcome: 'blocked', result_action: 'blocked' });
    expect(outcomes).toContainEqual(ofReply);
  });

  it("passes on the client's error", async () => {
    const error = { code: -1, message: 'User rejected sampling request' };
    const client = await connect(ALL, { 'sampling/createMessage': { error } });
    await client.call();
    expect(answerOf('question')).toMatchObject({ error });
  });

  it('gets an error in place of a malformed answer', async () => {
    const client = await connect(ALL, { 'sampling/createMessage': { result: 'yes' } });
    await client.call();
    expect(answerOf('question')).toMatchObject({
      error: { code: -32603, message: 'The client gave no answer.' },
    });
  });

  it('is refused for a client that did not declare it, without a record', async () => {
    const client = await connect({ roots: {} }, { 'sampling/createMessage': { result: {} } });
    await client.call();
    expect(answerOf('question')).toMatchObject({
      error: { code: -32601, message: 'The client does not support sampling/createMessage.' },
    });
    expect(client.asked()).toEqual([]);
    expect(await decisions()).toEqual([['tools/call', 'read', 'allow']]);
  });

  it('is denied where policy denies it: the client receives nothing, the server no reason', async () => {
    const reader = plane.addAgent(['up:read']);
    const answers = { 'sampling/createMessage': { result: {} } };
    const client = await connect(ALL, answers, reader);
    await client.call();
    expect(answerOf('question')).toMatchObject({
      error: {
        code: -32003,
        message: 'Denied by policy: The gateway refused the request or its answer.',
      },
    });
    expect(client.asked()).toEqual([]);
    expect(await decisions()).toEqual([
      ['tools/call', 'read', 'allow'],
      ['sampling/createMessage', 'execute', 'deny'],
    ]);
  });
});

describe('a question of its own', () => {
  it('comes on the stream of the client', async () => {
    const result = { roots: [{ uri: 'file:///work' }] };
    await connect(ALL, { 'roots/list': { result } });
    await push('q');
    await expect.poll(() => answerOf('q')).toEqual({ jsonrpc: '2.0', id: 'q', result });
    expect(await decisions()).toEqual([['roots/list', 'read', 'allow']]);
  });

  it('is given up when the client does not answer', async () => {
    const client = await connect(ALL);
    await push('q');
    await expect
      .poll(() => answerOf('q'), { timeout: TIMEOUT_MS * 3 })
      .toMatchObject({ error: { code: -32603, message: 'The client did not answer in time.' } });
    await expect
      .poll(() => client.heard)
      .toContainEqual(
        expect.objectContaining({
          method: 'notifications/cancelled',
          params: expect.objectContaining({ requestId: 'gateway-1' }),
        }),
      );
    // Too late: nobody waits for it any more.
    expect((await client.post({ id: 'gateway-1', result: {} })).status).toBe(202);
    expect((await plane.records()).find((one) => one.type === 'outcome')).toMatchObject({
      outcome: 'upstream_timeout',
    });
  });

  it('is withdrawn by the server', async () => {
    const client = await connect(ALL);
    await push('q');
    await expect.poll(client.asked).toHaveLength(1);
    upstream.push({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'q' },
    });
    const cancelled = () => client.heard.filter((one) => one.method === 'notifications/cancelled');
    await expect.poll(cancelled).toHaveLength(1);
    expect(answerOf('q')).toBeUndefined();
  });

  it('gets nothing from an agent that was suspended in the meantime', async () => {
    const client = await connect(ALL);
    await push('q');
    await expect.poll(client.asked).toHaveLength(1);
    agent.update({ status: 'suspended' });
    await client.post({ id: 'gateway-1', result: { roots: [{ uri: 'file:///secret' }] } });
    await expect.poll(() => answerOf('q')).toMatchObject({ error: { code: -32000 } });
    expect(JSON.stringify(upstream.seen)).not.toContain('secret');
    expect((await plane.records()).find((one) => one.type === 'outcome')).toMatchObject({
      outcome: 'blocked',
    });
  });

  it.each([
    ['its role was removed', () => agent.update({ role_ids: [] })],
    ['the server was removed', () => plane.setServers([HTTP_SERVER('other', upstream.url)])],
  ])('gets nothing where %s in the meantime', async (_what, change) => {
    const client = await connect(ALL);
    upstream.override(({ message }, response) => {
      if (message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        `data: ${JSON.stringify({ jsonrpc: '2.0', id: 'q', method: 'roots/list' })}\n\n`,
      );
      return true;
    });
    const calling = client.call();
    calling.catch(() => undefined);
    await expect.poll(client.asked).toHaveLength(1);
    change();
    await client.post({ id: 'gateway-1', result: { roots: [{ uri: 'file:///secret' }] } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(JSON.stringify(upstream.seen)).not.toContain('secret');
  });

  it('waits among a bounded number of others', async () => {
    const client = await connect(ALL);
    for (let n = 0; n < 17; n++) await push(`q${n}`);
    await expect.poll(() => answerOf('q16')).toMatchObject({ error: { code: -32603 } });
    await expect.poll(client.asked).toHaveLength(16);
  });

  it('ends with the session of the client, and the session with the server too', async () => {
    const client = await connect(ALL);
    await push('q');
    await expect.poll(client.asked).toHaveLength(1);
    await client.end();
    await expect
      .poll(() => upstream.seen.filter((one) => one.httpMethod === 'DELETE'), { timeout: 5_000 })
      .toHaveLength(1);
    expect(answerOf('q') ?? {}).not.toHaveProperty('result');
  });
});

it('news that the roots changed reaches the session of that client', async () => {
  const client = await connect(ALL);
  await connect({});
  await client.post({ method: 'notifications/roots/list_changed' });
  const method = 'notifications/roots/list_changed';
  await expect.poll(() => upstream.messages(method)).toHaveLength(1);
});

it('passes on only the capabilities that servers can use', () => {
  expect(askableCapabilities({})).toBeNull();
  expect(askableCapabilities({ tasks: {}, experimental: { a: {} }, roots: true })).toBeNull();
  expect(
    askableCapabilities({
      roots: { listChanged: 'yes' },
      sampling: { tools: {}, other: {} },
      elicitation: { form: {}, url: {} },
    }),
  ).toEqual({ roots: {}, sampling: { tools: {} }, elicitation: { form: {}, url: {} } });
});
