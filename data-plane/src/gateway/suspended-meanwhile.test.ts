/**
 * An agent that is suspended while the gateway waits for it, whatever for, gets its refusal, and
 * nothing more of its request goes out.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { proceed } from '../enforcement/call/pipeline-builder.ts';
import type { ReceivedMessage } from '../enforcement/call/received-message.ts';
import { inspection } from '../enforcement/inspection.ts';
import { enforcement } from '../enforcement/pipeline.ts';
import { postModern } from '../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import {
  type SeenRequest,
  startTestUpstream,
  type TestUpstream,
} from '../testing/test-upstream.ts';

const BEGIN = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
const OPENED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {}, resources: { subscribe: true } },
  serverInfo: { name: 'slow', version: '1' },
};

let upstream: TestUpstream;
let fresh: TestUpstream;
let plane: TestPlane;
let servers = 0;
/** While set, the inspection waits for it. */
let gate: Promise<void> | null = null;
let inspected = 0;
let goOn: () => void = () => undefined;
/** Ends the tool `read_and_hang`. */
let endCall: () => void = () => undefined;

const slow = (received: ReceivedMessage) => {
  inspected++;
  return gate === null ? proceed(received) : gate.then(() => proceed(received));
};

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: OPENED.capabilities,
    tools: [
      { name: 'read_it', annotations: { readOnlyHint: true } },
      {
        name: 'read_and_hang',
        handle: ({ result }) => {
          endCall = () => result({ content: [] });
        },
      },
      {
        name: 'read_slowly',
        handle: ({ id, progressToken, event, response }) => {
          event({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: 1, message: 'half' },
          });
          endCall = () => {
            event({ jsonrpc: '2.0', id, result: { content: [] } });
            response.end();
          };
        },
      },
    ],
    methods: { 'resources/list': () => ({ resources: [{ uri: 'doc://1', name: 'one' }] }) },
  });
  fresh = await startTestUpstream();
  plane = await startTestPlane({
    config: { upstreamRequestsPerAgent: 1, upstreamTimeoutMs: 2_000 },
    lists: { enforcement, inspection: inspection.step('slow', slow) },
  });
  await plane.records();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
  await fresh?.stop();
});

afterEach(async () => {
  goOn();
  gate = null;
  upstream.seen.length = 0;
  await plane.records();
});

const rpc = (method: string, params: object = {}) => ({ jsonrpc: '2.0', id: 1, method, params });
const call = (name: string) => rpc('tools/call', { name, arguments: {} });
const suspend = (agent: TestAgent) => agent.update({ status: 'suspended' });

/** The path of a server that is new to the plane. */
function newServer(at = upstream): string {
  const serverId = `server-${++servers}`;
  plane.setServers([HTTP_SERVER(serverId, at.url), HTTP_SERVER('known', upstream.url)]);
  return `/mcp/v1/${serverId}`;
}

/** Keeps the answers to a method back until `answer`. */
function holdBack(method: string) {
  const kept: { request: SeenRequest; response: ServerResponse }[] = [];
  const release = upstream.override((request, response) => {
    if (request.message?.method !== method) return false;
    kept.push({ request, response });
    return true;
  });
  return {
    arrived: () => vi.waitFor(() => expect(kept).toHaveLength(1)),
    answer(result: object, status = 200) {
      release();
      for (const { request, response } of kept) {
        response.writeHead(status, {
          'content-type': 'application/json',
          'mcp-session-id': upstream.openSession(),
        });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: request.message?.id, result }));
      }
    },
  };
}

function closeGate(): void {
  inspected = 0;
  gate = new Promise((resolve) => {
    goOn = resolve;
  });
}

const METHODS = ['initialize', 'server/discover', 'subscriptions/listen'];

describe.each(METHODS)('%s', (method) => {
  const send = (agent: TestAgent, path: string) => {
    const authorization = agent.basic;
    if (method === 'initialize') return plane.post(path, rpc(method, BEGIN), { authorization });
    const params = method === 'server/discover' ? {} : { notifications: {} };
    return postModern(plane, method, params, { path, authorization });
  };

  it.each([
    ['announces nothing', 200],
    ['does not say what is wrong with the server', 500],
  ])('%s to an agent that was suspended while the server opened (%i)', async (_what, status) => {
    const agent = plane.addAgent();
    const opening = holdBack('initialize');
    const answer = send(agent, newServer());
    await opening.arrived();
    suspend(agent);
    opening.answer(OPENED, status);
    const { json, ...http } = await answer;
    expect([http.status, json.error.code]).toEqual([401, -32000]);
    expect(http.headers.get('mcp-session-id')).toBeNull();
    expect(await plane.records()).toMatchObject([
      { type: 'decision', method, policy_result: 'deny' },
    ]);
  });

  it('opens no server for an agent that was suspended while it waited for its share', async () => {
    const agent = plane.addAgent();
    const path = newServer(fresh);
    const hanging = plane.post('/mcp/v1/known', call('read_and_hang'), {
      authorization: agent.basic,
    });
    await vi.waitFor(() => expect(upstream.messages('tools/call')).toHaveLength(1));
    const answer = send(agent, path);
    await sleep(100);
    suspend(agent);
    endCall();
    const { status, json } = await answer;
    expect([status, json.error.code]).toEqual([401, -32000]);
    expect(fresh.seen).toEqual([]);
    await hanging;
  });
});

it("a server's tools are not read further for an agent that was suspended, and by the next one anew", async () => {
  const path = newServer();
  const agent = plane.addAgent();
  const listing = holdBack('tools/list');
  const answer = plane.post(path, call('read_it'), { authorization: agent.basic });
  await listing.arrived();
  suspend(agent);
  listing.answer({ tools: [{ name: 'other', inputSchema: {} }], nextCursor: 'two' });
  expect((await answer).status).toBe(401);
  expect(upstream.messages('tools/list')).toHaveLength(1);
  // Half a list would have been kept as the whole: the tool's hint shows that it was read.
  const reader = { authorization: plane.addAgent().basic };
  expect((await plane.post(path, call('read_it'), reader)).json.result).toBeDefined();
  expect(upstream.messages('tools/list')).toHaveLength(2);
});

it('a stream is refused to an agent that was suspended while its subscriptions were made', async () => {
  const agent = plane.addAgent();
  const path = newServer();
  const subscribing = holdBack('resources/subscribe');
  const notifications = { resourceSubscriptions: ['doc://1'] };
  const options = { path, authorization: agent.basic };
  const answer = postModern(plane, 'subscriptions/listen', { notifications }, options);
  await subscribing.arrived();
  suspend(agent);
  subscribing.answer({});
  const { status, json } = await answer;
  expect([status, json.error.code]).toEqual([401, -32000]);
});

it('a notification of a client that waited for its share is not sent', async () => {
  plane.setServers([HTTP_SERVER('known', upstream.url)]);
  const agent = plane.addAgent();
  const headers = { authorization: agent.basic };
  await plane.post('/mcp/v1/known', call('read_it'), headers);
  const method = 'notifications/roots/list_changed';
  const first = holdBack(method);
  const notify = () => plane.post('/mcp/v1/known', { jsonrpc: '2.0', method }, headers);
  await notify();
  await first.arrived();
  await notify();
  suspend(agent);
  first.answer({}, 202);
  await sleep(200);
  expect(upstream.messages(method)).toHaveLength(1);
  // Proof that the second was waiting: of an agent that may act it arrives.
  agent.update({ status: 'active' });
  await notify();
  await vi.waitFor(() => expect(upstream.messages(method)).toHaveLength(2));
});

describe('what a server answered', () => {
  const ANSWERS: [string, object][] = [
    ['a result', call('read_it')],
    ['a list of tools', rpc('tools/list')],
    ['a list of resources', rpc('resources/list')],
  ];

  it.each(ANSWERS)('%s, is withheld after its inspection waited', async (_what, message) => {
    plane.setServers([HTTP_SERVER('known', upstream.url)]);
    const agent = plane.addAgent();
    const authorization = agent.basic;
    await plane.post('/mcp/v1/known', call('read_it'), { authorization });
    closeGate();
    const answer = plane.post('/mcp/v1/known', message, { authorization });
    await vi.waitFor(() => expect(inspected).toBe(1));
    await plane.records();
    suspend(agent);
    goOn();
    const { status, json } = await answer;
    expect([status, json.error.code]).toEqual([401, -32000]);
    expect(await outcome()).toMatchObject({
      outcome: 'blocked',
      result_action: 'blocked',
      detail: expect.stringMatching(/^eligibility: /),
    });
  });

  it('is withheld after the server itself took its time, and progress with it', async () => {
    plane.setServers([HTTP_SERVER('known', upstream.url)]);
    const agent = plane.addAgent();
    const authorization = agent.basic;
    await plane.post('/mcp/v1/known', call('read_it'), { authorization });
    await plane.records();
    closeGate();
    const slowly = {
      name: 'read_slowly',
      arguments: {},
      _meta: { progressToken: 'p' },
    };
    const answer = plane.post('/mcp/v1/known', rpc('tools/call', slowly), { authorization });
    await vi.waitFor(() => expect(inspected).toBe(1));
    suspend(agent);
    goOn();
    endCall();
    const { status, text } = await answer;
    expect([status, JSON.parse(text).error.code]).toEqual([401, -32000]);
    expect(text).not.toContain('half');
    expect(await outcome()).toMatchObject({ outcome: 'blocked' });
  });
});

describe('what a server did not answer', () => {
  it.each([
    ['an error', 500, 'upstream_error'],
    ['nothing in time', null, 'upstream_timeout'],
  ])('%s: the agent learns only that it may not act; the record says both', async (_what, status, recorded) => {
    plane.setServers([HTTP_SERVER('known', upstream.url)]);
    const agent = plane.addAgent();
    const authorization = agent.basic;
    await plane.post('/mcp/v1/known', call('read_it'), { authorization });
    await plane.records();
    const calling = holdBack('tools/call');
    const answer = plane.post('/mcp/v1/known', call('read_it'), { authorization });
    await calling.arrived();
    suspend(agent);
    if (status !== null) calling.answer({}, status);
    const { json, ...http } = await answer;
    expect([http.status, json.error.code]).toEqual([401, -32000]);
    expect(await outcome()).toMatchObject({ outcome: recorded });
    if (status === null) calling.answer({});
  });
});

/** The outcome may be written after the answer. */
async function outcome() {
  const found = await vi.waitFor(async () => {
    const one = (await plane.records()).find(({ type }) => type === 'outcome');
    expect(one).toBeDefined();
    return one;
  });
  return found;
}
