/**
 * A server that an agent may not use at all: whatever the agent asks for, the server is not
 * contacted, and the answer is the same as if the server did not exist.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { listenModern, postModern } from '../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: {
      tools: { listChanged: true },
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      logging: {},
    },
    methods: { 'resources/subscribe': () => ({}) },
    offersStream: true,
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('hidden', upstream.url), HTTP_SERVER('other', upstream.url)],
    keepAliveMs: 50,
  });
  agent = plane.addAgent(['other:*', 'mail/echo:read', 'hidden:fly']);
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(() => {
  upstream.seen.length = 0;
});

const PATH = '/mcp/v1/hidden';
const BEGIN = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };
const CASES: [string, Record<string, unknown>][] = [
  ['initialize', BEGIN],
  ['ping', {}],
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/templates/list', {}],
  ['prompts/list', {}],
  ['tools/call', { name: 'echo', arguments: {} }],
  // Called like a server that the agent may use, and like a tool that it may call elsewhere.
  ['tools/call', { name: 'other', arguments: {} }],
  ['tools/call', { name: 'mail/echo', arguments: {} }],
  ['resources/read', { uri: 'doc://1' }],
  ['resources/subscribe', { uri: 'doc://1' }],
  ['resources/unsubscribe', { uri: 'doc://1' }],
  ['prompts/get', { name: 'one' }],
  [
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'one' }, argument: { name: 'a', value: 'b' } },
  ],
  ['logging/setLevel', { level: 'info' }],
];
const MODERN = CASES.filter(
  ([method]) => !/^(?:initialize|ping|logging|resources\/(?:un)?subscribe)/.test(method),
);

/** The answer without what differs by server: the ids, and the name, which the agent gave. */
function plain(value: unknown, serverId: string): string {
  return JSON.stringify(value)
    .replaceAll(/"event_id":"[^"]+"/g, '')
    .replaceAll(serverId, 'SERVER');
}

async function initialize(serverId: string) {
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: BEGIN };
  const headers = { authorization: agent.basic };
  const answer = await plane.post(`/mcp/v1/${serverId}`, message, headers);
  const session = answer.headers.get('mcp-session-id') ?? '';
  return { ...answer, headers: { ...headers, 'mcp-session-id': session } };
}

describe.each(['legacy', 'modern'] as const)('to a %s client', (era) => {
  it.each([
    ...(era === 'legacy' ? CASES : MODERN),
    ...(era === 'legacy' ? [] : [['server/discover', {}] as (typeof CASES)[number]]),
  ])('%s is answered as if the server did not exist', async (method, params) => {
    const answers = [];
    for (const serverId of ['hidden', 'nothing-here']) {
      let answer: { status: number; json: unknown };
      if (era === 'modern') {
        const path = `/mcp/v1/${serverId}`;
        answer = await postModern(plane, method, params, { authorization: agent.basic, path });
      } else {
        const { headers } = await initialize(serverId);
        const message = { jsonrpc: '2.0', id: 2, method, params };
        answer = await plane.post(`/mcp/v1/${serverId}`, message, headers);
      }
      answers.push([answer.status, plain(answer.json, serverId)]);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(upstream.seen).toEqual([]);
  });
});

it('is announced by the gateway alone', async () => {
  const { json } = await initialize('hidden');
  expect(json.result).toMatchObject({
    capabilities: { tools: {} },
    serverInfo: { name: 'agent-governance-gateway' },
  });
  expect(json.result.instructions).toBeUndefined();
  expect(JSON.stringify(json)).not.toContain('test-upstream');
  const { authorization } = { authorization: agent.basic };
  const { last } = await postModern(plane, 'server/discover', {}, { authorization, path: PATH });
  expect(last.result.capabilities).toEqual({ tools: {} });
  expect(JSON.stringify(last)).not.toContain('test-upstream');
  expect(upstream.seen).toEqual([]);
});

it.each([
  ['tools/call', { name: 'SERVER__echo', arguments: {} }],
  ['resources/read', { uri: 'mcp+SERVER+doc://1' }],
  ['prompts/get', { name: 'SERVER__one' }],
])('%s at the unified gateway is answered as if the server did not exist, and recorded', async (method, params) => {
  const answers = [];
  await plane.records();
  for (const serverId of ['hidden', 'nothing-here']) {
    const own = JSON.parse(JSON.stringify(params).replaceAll('SERVER', serverId));
    const message = { jsonrpc: '2.0', id: 2, method, params: own };
    const answer = await plane.post('/mcp/v1', message, { authorization: agent.basic });
    expect(answer.json.error.code).toBe(-32003);
    answers.push([answer.status, plain(answer.json, serverId)]);
    const records = (await plane.records()).filter(({ type }) => type === 'decision');
    expect(records).toMatchObject([{ mcp_server: serverId, policy_result: 'deny' }]);
  }
  expect(answers[0]).toEqual(answers[1]);
  expect(upstream.seen).toEqual([]);
});

it('is not listened to', async () => {
  const { headers } = await initialize('hidden');
  const response = await fetch(`${plane.url}/mcp/v1/hidden`, {
    headers: { ...headers, accept: 'text/event-stream' },
  });
  expect(response.status).toBe(200);
  const filter = { toolsListChanged: true, resourceSubscriptions: ['doc://1'] };
  const stream = listenModern(plane, filter, { authorization: agent.basic, path: PATH });
  await stream.acknowledged;
  expect(stream.received).toMatchObject([{ params: { notifications: {} } }]);
  await sleep(120);
  expect(upstream.seen).toEqual([]);
  await stream.close();
  await response.body?.cancel();
});

it('reports a server that is away to an agent that may use it', async () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: BEGIN };
  const { basic: authorization } = plane.addAgent(['*:*']);
  expect((await plane.post('/mcp/v1/nothing-here', message, { authorization })).status).toBe(404);
});

describe('a stream whose agent loses its role', () => {
  function addRole(permissions: string[]): string {
    const id = uuidv7();
    plane.apply('role', id, { id, name: id, permissions, resource_scopes: [] });
    return id;
  }

  const changed = (marker: string) => ({
    jsonrpc: '2.0',
    method: 'notifications/tools/list_changed',
    params: { marker },
  });
  const updated = (marker: string) => ({
    jsonrpc: '2.0',
    method: 'notifications/resources/updated',
    params: { uri: 'doc://1', marker },
  });

  async function openLegacy(one: TestAgent, path: string) {
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params: BEGIN };
    const begun = await plane.post(path, message, { authorization: one.basic });
    const session = begun.headers.get('mcp-session-id') ?? '';
    const headers = { authorization: one.basic, 'mcp-session-id': session };
    const uri = path === '/mcp/v1' ? 'mcp+hidden+doc://1' : 'doc://1';
    const subscribe = { jsonrpc: '2.0', id: 2, method: 'resources/subscribe', params: { uri } };
    expect((await plane.post(path, subscribe, headers)).json.result).toEqual({});
    const abort = new AbortController();
    const response = await fetch(`${plane.url}${path}`, {
      headers: { ...headers, accept: 'text/event-stream' },
      signal: abort.signal,
    });
    let text = '';
    const done = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    return {
      text: () => text,
      close: async () => {
        abort.abort();
        await done;
        // Until then it could be resumed.
        await fetch(`${plane.url}${path}`, { method: 'DELETE', headers });
        await vi.waitFor(() => expect(upstream.streams()).toBe(0));
      },
    };
  }

  it.each(['/mcp/v1/hidden', '/mcp/v1'])('receives nothing more at %s', async (path) => {
    const role = addRole(['hidden:read']);
    const listsOnly = addRole(['hidden/nothing:read']);
    const one = plane.addAgent([]);
    one.update({ role_ids: [role] });
    const stream = await openLegacy(one, path);
    await vi.waitFor(() => expect(upstream.streams()).toBeGreaterThan(0));
    upstream.push(changed('first'));
    upstream.push(updated('first'));
    await vi.waitFor(() => expect(stream.text().match(/first/g) ?? []).toHaveLength(2));
    // The agent keeps some permission for the server, but not for that resource.
    one.update({ role_ids: [listsOnly] });
    upstream.push(updated('second'));
    upstream.push(changed('third'));
    await vi.waitFor(() => expect(stream.text()).toContain('third'));
    one.update({ role_ids: [] });
    upstream.push(changed('fourth'));
    upstream.push(updated('fifth'));
    if (path !== '/mcp/v1') await vi.waitFor(() => expect(upstream.streams()).toBe(0));
    else await sleep(100);
    one.update({ role_ids: [role] });
    await vi.waitFor(() => expect(upstream.streams()).toBeGreaterThan(0));
    upstream.push(changed('sixth'));
    await vi.waitFor(() => expect(stream.text()).toContain('sixth'));
    expect(stream.text()).not.toMatch(/second|fourth|fifth/);
    await stream.close();
  });

  it('receives nothing more of subscriptions/listen', async () => {
    const role = addRole(['hidden:read']);
    const one = plane.addAgent([]);
    one.update({ role_ids: [role] });
    const filter = { toolsListChanged: true, resourceSubscriptions: ['doc://1'] };
    const stream = listenModern(plane, filter, { authorization: one.basic, path: PATH });
    await stream.acknowledged;
    await vi.waitFor(() => expect(upstream.streams()).toBeGreaterThan(0));
    upstream.push(changed('first'));
    await vi.waitFor(() => expect(JSON.stringify(stream.received)).toContain('first'));
    one.update({ role_ids: [] });
    upstream.push(changed('second'));
    upstream.push(updated('third'));
    await sleep(120);
    one.update({ role_ids: [role] });
    await vi.waitFor(() => {
      upstream.push(changed('fourth'));
      expect(JSON.stringify(stream.received)).toContain('fourth');
    });
    expect(JSON.stringify(stream.received)).not.toMatch(/second|third/);
    await stream.close();
  });
});
