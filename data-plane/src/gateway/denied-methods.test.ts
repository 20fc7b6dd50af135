/**
 * Every method of the protocol, taken from the SDK's schemas, requested by agents that may do
 * nothing: none is forwarded, and what is judged leaves exactly one record.
 */
import { ClientNotificationSchema, ClientRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { JUDGED_READS, TOOL_CALL } from '../enforcement/call/call-kinds.ts';
import { postModern } from '../testing/test-modern-client.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { LIST_MEMBERS } from '../upstream/lists/list-page.ts';

const methodsOf = (schemas: readonly { shape: { method: { value: string } } }[]) =>
  [...new Set(schemas.map((one) => one.shape.method.value))].sort();

const REQUESTS = methodsOf(ClientRequestSchema.options);
const NOTIFICATIONS = methodsOf(ClientNotificationSchema.options);

/** Answered by the gateway itself, or by a list that is empty for such an agent. */
const OWN = ['initialize', 'ping', ...Object.keys(LIST_MEMBERS)];
const JUDGED: readonly string[] = [TOOL_CALL, ...JUDGED_READS];
/** Deliberately not forwarded. A method that the SDK adds fails here until somebody decides. */
const REFUSED = ['tasks/cancel', 'tasks/get', 'tasks/list', 'tasks/result'];
/** Methods of other revisions, or of none. */
const UNKNOWN = ['server/discover', 'subscriptions/listen', 'tasks/update', 'roots/list', 'tools'];

/** Not a client's request in any revision. */
const NO_REQUEST = ['roots/list', 'tools'];

const PATHS = ['/mcp/v1/up', '/mcp/v1'];
const AGENTS = ['without permission', 'suspended'] as const;
type AgentName = (typeof AGENTS)[number];

let upstream: TestUpstream;
let plane: TestPlane;
const agents = new Map<AgentName, TestAgent>();
const sessions = new Map<string, string>();

const BEGIN = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  agents.set('without permission', plane.addAgent([]));
  agents.set('suspended', plane.addAgent(['*:*']));
  for (const name of AGENTS) {
    for (const path of PATHS) {
      const { headers } = await send(name, path, { id: 0, method: 'initialize', params: BEGIN });
      sessions.set(`${name} ${path}`, headers.get('mcp-session-id') ?? '');
    }
  }
  // The gateway lists a server's tools once, to learn their annotations; not during these agents'
  // calls.
  const listing = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  await plane.post('/mcp/v1/up', listing, { authorization: plane.addAgent().basic });
  agents.get('suspended')?.update({ status: 'suspended' });
  await plane.records();
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(() => {
  upstream.seen.length = 0;
});

function send(name: AgentName, path: string, message: Record<string, unknown>) {
  const session = sessions.get(`${name} ${path}`);
  const headers = { authorization: agents.get(name)?.basic ?? '' };
  const inSession = message.method === 'initialize' || session === undefined;
  return plane.post(
    path,
    { jsonrpc: '2.0', ...message },
    inSession ? headers : { ...headers, 'mcp-session-id': session },
  );
}

/** Valid params, so that a refusal has another reason. */
function paramsOf(method: string, path: string): Record<string, unknown> {
  const isUnified = path === '/mcp/v1';
  const name = isUnified ? 'up__one' : 'one';
  const argument = { name: 'a', value: 'b' };
  switch (method) {
    case 'initialize':
      return BEGIN;
    case 'tools/call':
      return { name, arguments: {} };
    case 'prompts/get':
      return { name };
    case 'completion/complete':
      return { ref: { type: 'ref/prompt', name }, argument };
    case 'logging/setLevel':
      return { level: 'info' };
    default:
      return { uri: isUnified ? 'mcp+up+doc://1' : 'doc://1', taskId: 't', requestId: 1 };
  }
}

/** What reached the server, except for the session that the gateway itself opens with it. */
const forwarded = () =>
  upstream.seen
    .filter((one) => one.httpMethod === 'POST')
    .map((one) => one.message?.method)
    .filter((method) => method !== 'initialize' && method !== 'notifications/initialized');

/** A list that shows an agent nothing is empty and allowed: nobody was denied anything. */
const decision = (name: AgentName, method: string) => ({
  type: 'decision',
  method,
  policy_result: name !== 'suspended' && Object.hasOwn(LIST_MEMBERS, method) ? 'allow' : 'deny',
});

/** The outcome of an allowed call may be written after the answer. */
const decisions = async () =>
  (await plane.records()).filter((record) => record.type === 'decision');

/**
 * A judged method or a list leaves one record. For an agent that may do nothing, so does every
 * method of any revision; for another agent, what the gateway answers itself leaves none.
 */
function isRecorded(name: AgentName, judged: readonly string[], method: string): boolean {
  if (judged.includes(method) || Object.hasOwn(LIST_MEMBERS, method)) return true;
  return name === 'suspended' && !NO_REQUEST.includes(method);
}

it('knows every method of the protocol', () => {
  expect([...OWN, ...JUDGED, ...REFUSED].sort()).toEqual(REQUESTS);
});

describe.each(AGENTS)('an agent %s', (name) => {
  describe.each(PATHS)('at %s', (path) => {
    it.each([...REQUESTS, ...UNKNOWN])('%s', async (method) => {
      const params = paramsOf(method, path);
      const { status, json } = await send(name, path, { id: 1, method, params });
      expect(forwarded()).toEqual([]);
      const records = await decisions();
      expect(records).toMatchObject(
        isRecorded(name, JUDGED, method) ? [decision(name, method)] : [],
      );
      if (name === 'suspended') {
        expect([status, json.error.code]).toEqual([401, -32000]);
      } else if (JUDGED.includes(method)) {
        expect([status, json.error.code]).toEqual([200, -32003]);
      } else if (OWN.includes(method)) {
        expect(json.result).toBeDefined();
        const member = LIST_MEMBERS[method as keyof typeof LIST_MEMBERS];
        if (member !== undefined) expect(json.result[member]).toEqual([]);
      } else {
        expect([status, json.error.code]).toEqual([200, -32601]);
      }
    });

    it.each([
      ...NOTIFICATIONS,
      'notifications/message',
      'notifications/none',
    ])('%s', async (method) => {
      const params = { ...paramsOf(method, path), text: 'of the agent' };
      expect((await send(name, path, { method, params })).status).toBe(202);
      // Roots are the one exception: the bare notification, without an agent's text.
      const bare = forwarded().filter((one) => one !== 'notifications/roots/list_changed');
      expect(bare).toEqual([]);
      expect(upstream.seen.map((one) => one.text).join()).not.toContain('of the agent');
      expect(await decisions()).toEqual([]);
    });
  });
});

/**
 * The methods of revision 2026-07-28 and its extension for tasks. Every other is answered with 404.
 */
const MODERN_OWN = ['server/discover', ...Object.keys(LIST_MEMBERS)];
const MODERN_JUDGED = [
  TOOL_CALL,
  'resources/read',
  'prompts/get',
  'completion/complete',
  'tasks/cancel',
  'tasks/get',
  'tasks/update',
];
const MODERN_METHODS = [...new Set([...REQUESTS, ...UNKNOWN])].filter(
  (method) => method !== 'subscriptions/listen',
);

describe.each(AGENTS)('an agent %s, by a modern client', (name) => {
  const ask = (method: string, path: string, more: Record<string, unknown> = {}) =>
    postModern(
      plane,
      method,
      { ...paramsOf(method, path), inputResponses: {}, ...more },
      {
        path,
        authorization: agents.get(name)?.basic ?? '',
        capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } },
      },
    );

  describe.each(PATHS)('at %s', (path) => {
    it.each(MODERN_METHODS)('%s', async (method) => {
      const { status, json } = await ask(method, path);
      expect(forwarded().filter((one) => one !== 'server/discover')).toEqual([]);
      const records = await decisions();
      const isJudged = MODERN_JUDGED.includes(method);
      expect(records).toMatchObject(
        isRecorded(name, MODERN_JUDGED, method) ? [decision(name, method)] : [],
      );
      if (name === 'suspended') {
        expect([status, json.error.code]).toEqual([401, -32000]);
      } else if (isJudged) {
        expect([status, json.error.code]).toEqual([200, -32003]);
      } else if (MODERN_OWN.includes(method)) {
        expect(json.result).toBeDefined();
        const member = LIST_MEMBERS[method as keyof typeof LIST_MEMBERS];
        if (member !== undefined) expect(json.result[member]).toEqual([]);
      } else {
        expect([status, json.error.code]).toEqual([404, -32601]);
      }
    });
  });

  it('subscriptions/listen', async () => {
    const notifications = { resourceSubscriptions: ['doc://1'], toolsListChanged: 'no' };
    const { json } = await ask('subscriptions/listen', '/mcp/v1/up', { notifications });
    expect(json.error.code).toBe(name === 'suspended' ? -32000 : -32602);
    expect(forwarded()).toEqual([]);
    const records = await plane.records();
    expect(records).toMatchObject(
      name === 'suspended' ? [decision(name, 'subscriptions/listen')] : [],
    );
  });
});
