/**
 * A server that lies where the gateway names what it said: none of its words reaches the agent unless
 * they were inspected, and none suppresses the record of an outcome, on the real gateway and ledger.
 */
import type { ServerResponse } from 'node:http';
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { toStorable } from '@governance/shared/text';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startHttp } from '../testing/test-modern.ts';
import { postModern } from '../testing/test-modern-client.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';

/** In each hostile text; without it there is nothing to find in an answer. */
const WORD = 'zq7lie';
const SECRET = 'AKIAQ7MZ3HTXW5RBNC2V';

/** With what no store can hold, and what looks like it. */
const hostile = fc
  .tuple(
    ...[0, 1].map(() =>
      fc.string({
        unit: fc.oneof(
          fc.constantFrom('\u0000', '\ud800', '\\u0000', '"', '\n', '/', '~'),
          fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        ),
        maxLength: 6,
      }),
    ),
  )
  .map(([before, after]) => `${before}${WORD}${after}`);

interface Asked {
  method: string;
  id?: number;
  params: { name?: string; protocolVersion?: string; _meta?: { progressToken?: unknown } };
}

/** Answers a request of the gateway; undefined leaves it to the honest server. */
type Lie = (text: string) => (asked: Asked, response: ServerResponse) => unknown;

const answers =
  (method: string, answer: (text: string) => object): Lie =>
  (text) =>
  (asked, response) =>
    asked.method === method &&
    sendJson(response, { jsonrpc: '2.0', id: asked.id, ...answer(text) });

const askedFor = (question: (text: string) => object) =>
  answers('tools/call', (text) => ({
    result: { resultType: 'input_required', inputRequests: { one: question(text) } },
  }));

const elicitation = (message: string, verdict: string) => ({
  method: 'elicitation/create',
  params: { message, verdict, requestedSchema: { type: 'object', properties: {} } },
});

const raw =
  (write: (text: string, response: ServerResponse) => void): Lie =>
  (text) =>
  ({ method }, response) => {
    if (method !== 'tools/call') return false;
    write(text, response);
    return true;
  };

const inHeader = (text: string) => text.replaceAll(/[^!-~]/g, '.');

/** Lies to a modern client, of a modern server. */
const MODERN: Record<string, Lie> = {
  'the method of a question': askedFor((method) => ({ method })),
  'a question that a policy quotes to deny it': askedFor((text) => elicitation(text, 'deny')),
  'a question that a policy quotes to escalate it': askedFor((text) => elicitation(text, 'ask')),
  'the type of a result': answers('tools/call', (resultType) => ({ result: { resultType } })),
  'a task that nobody asked for': answers('tools/call', (taskId) => ({
    result: { resultType: 'task', taskId, status: 'working', ttlMs: null },
  })),
  'the id of an answer': answers('tools/call', (id) => ({ id, result: { content: [] } })),
  'its versions': answers('server/discover', (version) => ({
    result: { supportedVersions: [version], capabilities: {} },
  })),
  'the versions of an error': answers('server/discover', (version) => ({
    error: { code: -32022, message: version, data: { supported: [version] } },
  })),
  'what it can do': answers('server/discover', (text) => ({ result: { capabilities: text } })),
  'a status': raw((text, response) => {
    response.statusMessage = inHeader(text);
    response.writeHead(500, { 'www-authenticate': inHeader(text), 'retry-after': inHeader(text) });
    response.end(text);
  }),
  'a content type': raw((text, response) => {
    response.writeHead(200, { 'content-type': inHeader(text), 'mcp-session-id': inHeader(text) });
    response.end(text);
  }),
  'a body that is no JSON': raw((text, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`{${text}`);
  }),
};

/** Lies to a legacy client, of a legacy server. */
const LEGACY: Record<string, Lie> = {
  'the name of a notification': raw((text, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const method = `notifications/${text}`;
    response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', method })}\n\n`);
  }),
  'its version': answers('initialize', (protocolVersion) => ({
    result: { protocolVersion, capabilities: {}, serverInfo: {} },
  })),
  'the error of its first answer': answers('initialize', (message) => ({
    error: { code: -32000, message, data: { supported: [message] } },
  })),
};

let servers: Awaited<ReturnType<typeof startHttp>>[];
let plane: TestPlane;
let answer: ReturnType<Lie> = () => false;

beforeAll(async () => {
  const serve = (isModern: boolean) =>
    startHttp((_request, response, body) => {
      if (body === '') return void response.writeHead(405).end();
      const asked = JSON.parse(body) as Asked;
      if (!answer(asked, response)) answerHonestly(asked, response, isModern);
    });
  servers = [await serve(true), await serve(false)];
  const [modern, legacy] = servers.map(({ url }) => url);
  plane = await startTestPlane({
    servers: [HTTP_SERVER('new', modern ?? ''), HTTP_SERVER('old', legacy ?? '')],
    policies: [
      {
        id: '0190aaaa-0000-7000-8000-0000000000fe',
        name: 'quotes',
        rego: `package quotes
import rego.v1
said := sprintf("asked for %v", [input.request.parameters])
deny contains said if input.request.parameters.verdict == "deny"
escalate contains said if input.request.parameters.verdict == "ask"`,
      },
    ],
  });
});

afterAll(async () => {
  await plane?.stop();
  for (const server of servers ?? []) await server.stop();
});

function sendJson(response: ServerResponse, value: unknown): true {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
  return true;
}

function answerHonestly({ id, method }: Asked, response: ServerResponse, isModern: boolean): void {
  const region = { type: 'string', 'x-mcp-header': WORD };
  const tool = { name: 'read', inputSchema: { type: 'object', properties: { region } } };
  const results: Record<string, object> = {
    'server/discover': { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: {} },
    'tools/list': { tools: [tool] },
    'tools/call': { content: [] },
  };
  const result = method === (isModern ? 'initialize' : 'server/discover') ? null : results[method];
  const error = { code: -32601, message: 'Method not found' };
  sendJson(response, { jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
}

/** Calls the tool as a new agent, whose sessions with the servers are opened for it. */
async function callTool(era: 'new' | 'old', args: object = {}) {
  const authorization = plane.addAgent().basic;
  const params = { name: 'read', arguments: args };
  const path = `/mcp/v1/${era}`;
  if (era === 'new') {
    const capabilities = { elicitation: {} };
    return postModern(plane, 'tools/call', params, { authorization, path, capabilities });
  }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
  return plane.post(path, message, { authorization });
}

/** All that an agent receives. */
const received = ({ text, headers }: { text: string; headers: Headers }) =>
  `${JSON.stringify([...headers])} ${text}`;

/** The records of a call, once each allowed decision has its one outcome. */
async function settled(): Promise<LedgerRecord[]> {
  const records: LedgerRecord[] = [];
  await vi.waitFor(async () => {
    records.push(...(await plane.records()));
    const events = records.flatMap((one) =>
      one.type === 'decision' && one.policy_result === 'allow' ? [one.id] : [],
    );
    const ended = records.flatMap((one) => (one.type === 'outcome' ? [one.event_id] : []));
    expect(ended.sort()).toEqual(events.sort());
    expect(events).not.toEqual([]);
  });
  return records;
}

const lies = [
  ...Object.entries(MODERN).map(([what, lie]) => [what, 'new', lie] as const),
  ...Object.entries(LEGACY).map(([what, lie]) => [what, 'old', lie] as const),
];

it.each(lies)('%s reaches no agent, and suppresses no record', async (_what, era, lie) => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      answer = lie(text);
      const answered = await callTool(era);
      expect(received(answered)).toContain('error');
      expect(received(answered)).not.toContain(WORD);
      const records = await settled();
      expect(toStorable(records)).toBe(records);
    }),
    { numRuns: 15, examples: [[`\u0000${WORD}`], [`\ud800${WORD}`]] },
  );
});

it.each([
  ['deny', -32003, 'Denied by policy: the MCP server asks for elicitation/create (quotes).'],
  ['ask', -32004, 'Escalated: the MCP server asks for elicitation/create (quotes).'],
])('a question that policy would %s is refused as the policy says', async (verdict, code, message) => {
  answer = askedFor((text) => elicitation(text, verdict))(WORD);
  const { last } = (await callTool('new')) as Awaited<ReturnType<typeof postModern>>;
  expect(last.error).toMatchObject({ code, message });
});

it('the header that a tool wants is not named to a client that did not send it', async () => {
  answer = () => false;
  const answered = await callTool('new', { region: 'eu' });
  expect(answered.status).toBe(400);
  expect(received(answered)).toContain('region');
  expect(received(answered)).not.toContain(WORD);
});

it.each(['new', 'old'] as const)('the place of a finding is recorded: %s', async (era) => {
  await fc.assert(
    fc.asyncProperty(hostile, async (text) => {
      const result = { content: [], structuredContent: { [text]: SECRET } };
      answer = answers('tools/call', () => ({ result }))(text);
      await callTool(era);
      const records = await settled();
      expect(toStorable(records)).toBe(records);
    }),
    { numRuns: 15, examples: [[`\u0000${WORD}`]] },
  );
});
