/**
 * What servers, ledgers and steps do at the wrong moment, on the real gateway: the agent gets an
 * answer, nothing goes round the inspection, and nothing goes to a server for an agent that may not
 * act any more.
 */

import { Writable } from 'node:stream';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Ledger } from '../contracts.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';
import { blockSecret, SECRET } from '../testing/trial-steps.ts';
import type { Holds } from './holds/holds.ts';
import { NOBODY_TO_ASK } from './holds/holds.ts';
import { inspection } from './inspection.ts';
import { enforcement } from './pipeline.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let refusesOutcomes = false;
let open: Holds['open'] = NOBODY_TO_ASK.open;
let logged = '';

const wrapLedger = (ledger: Ledger): Ledger => ({
  condition: () => ledger.condition(),
  append: async (tenantId: string, record: UnchainedRecord, salt, holds) => {
    if (refusesOutcomes && record.type === 'outcome') throw new Error('disk I/O error');
    return await ledger.append(tenantId, record, salt, holds);
  },
});

beforeAll(async () => {
  upstream = await startTestUpstream({
    capabilities: { tools: {}, resources: {}, logging: {} },
    tools: [
      {
        name: 'read_thing',
        handle: ({ id, progressToken, event, response }) => {
          const params = { progressToken, progress: 1, message: 'boom' };
          event({ jsonrpc: '2.0', method: 'notifications/progress', params });
          event({ jsonrpc: '2.0', id, result: { content: [] } });
          response.end();
        },
      },
      { name: 'delete_thing' },
      {
        name: 'ask_thing',
        async handle({ id, event, response }) {
          const requestedSchema = { type: 'object', properties: {} };
          const params = { message: SECRET, requestedSchema };
          event({ jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params });
          const isAnswered = () => upstream.seen.some(({ message }) => message?.id === 'q1');
          await expect.poll(isAnswered).toBe(true);
          event({ jsonrpc: '2.0', id, result: { content: [] } });
          response.end();
        },
      },
    ],
    methods: { 'resources/list': () => ({ resources: [{ uri: 'doc://1', name: 'one' }] }) },
  });
  const log = new Writable({
    write(chunk, _encoding, done) {
      logged += chunk;
      done();
    },
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    wrapLedger,
    log: pino({ level: 'warn' }, log),
    lists: {
      enforcement,
      inspection: inspection.step('trial', blockSecret),
      holds: { ...NOBODY_TO_ASK, open: (escalated, exchange) => open(escalated, exchange) },
    },
  });
});

afterAll(async () => {
  await plane?.stop();
  await upstream?.stop();
});

afterEach(async () => {
  refusesOutcomes = false;
  open = NOBODY_TO_ASK.open;
  logged = '';
  await plane.records();
  upstream.seen.length = 0;
});

const ask = (method: string, params: Record<string, unknown>, basic = plane.addAgent().basic) =>
  plane.post('/mcp/v1/up', { jsonrpc: '2.0', id: 1, method, params }, { authorization: basic });
const BEGIN = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {} };

/** Has the server answer `initialize` in its own way. */
function initializing(answer: (result: Record<string, unknown>) => void | Promise<void>) {
  return upstream.override(({ message }, response) => {
    if (message?.method !== 'initialize') return false;
    const result = {
      protocolVersion: '2025-06-18',
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: 'up', version: '1' },
    };
    void Promise.resolve(answer(result)).then(() => {
      const headers = { 'content-type': 'application/json', 'mcp-session-id': 'of-the-test' };
      response.writeHead(200, headers);
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
    });
    return true;
  });
}

it.each(['instructions', 'serverInfo'])('inspects the %s of a server', async (member) => {
  const release = initializing((result) => {
    result[member] = member === 'instructions' ? SECRET : { name: SECRET, version: '1' };
  });
  const { json, text } = await ask('initialize', BEGIN);
  release();
  expect(text).not.toContain(SECRET);
  expect(json.result).toMatchObject({ serverInfo: { name: expect.any(String) } });
  expect(json.result.capabilities).toMatchObject({ resources: {} });
});

it('raises an alert where what a server says of itself cannot be inspected', async () => {
  const release = initializing((result) => {
    result.instructions = 'boom';
  });
  const { text } = await ask('initialize', BEGIN);
  release();
  expect(text).not.toContain('boom');
  expect(await plane.records()).toContainEqual(
    expect.objectContaining({ type: 'alert', alert_type: 'INSPECTION_FAILED' }),
  );
});

it('asks no server for a list once the agent was suspended while its session was opened', async () => {
  const agent = plane.addAgent();
  const release = initializing(() => agent.update({ status: 'suspended' }));
  const { status, json } = await ask('resources/list', {}, agent.basic);
  release();
  expect(upstream.messages('resources/list')).toEqual([]);
  expect(status).toBe(401);
  expect(json.error.code).toBe(-32000);
  const outcomes = (await plane.records()).filter(({ type }) => type === 'outcome');
  expect(outcomes).toMatchObject([{ outcome: 'blocked' }]);
});

it('does not pass on what inspection replaced where that cannot be recorded', async () => {
  const release = upstream.override(({ message }, response) => {
    if (message?.method !== 'tools/call') return false;
    const error = { code: -32003, message: 'of the server' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    return true;
  });
  refusesOutcomes = true;
  const { json, text } = await ask('tools/call', { name: 'delete_thing', arguments: {} });
  release();
  expect(text).not.toContain('of the server');
  expect(json.error).toMatchObject({ code: -32603, data: { failure: 'unrecorded' } });
});

it('logs what an inspection threw at what came before the answer', async () => {
  const params = { name: 'read_thing', arguments: {}, _meta: { progressToken: 1 } };
  const { text } = await ask('tools/call', params);
  expect(text).toContain('"failure":"blocked"');
  expect(logged).toContain('an inspection threw');
  expect(logged).toContain('the detector failed');
});

it('inspects what a server asks of a client', async () => {
  const { basic: authorization } = plane.addAgent();
  const begin = await plane.post(
    '/mcp/v1/up',
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { ...BEGIN, capabilities: { elicitation: {} } },
    },
    { authorization },
  );
  const session = { authorization, 'mcp-session-id': begin.headers.get('mcp-session-id') ?? '' };
  const params = { name: 'ask_thing', arguments: {} };
  const message = { jsonrpc: '2.0', id: 2, method: 'tools/call', params };
  const { text } = await plane.post('/mcp/v1/up', message, session);
  expect(text).not.toContain(SECRET);
  expect(text).toContain('"result"');
  const answered = upstream.seen.flatMap(({ message }) => (message?.id === 'q1' ? [message] : []));
  expect(answered).toMatchObject([{ error: { code: -32603 } }]);
});

/** Asks as a modern client that servers may ask something. */
function askModern(method: string, params: Record<string, unknown>, authorization: string) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const headers = {
    authorization,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(typeof params.name === 'string' && { 'mcp-name': params.name }),
  };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } };
  return plane.post('/mcp/v1/up', message, headers);
}

it('answers a list with the list, whatever its server asks in the meantime', async () => {
  const release = upstream.override(({ message }, response) => {
    if (message?.method !== 'resources/list') return false;
    const event = (value: unknown) => response.write(`data: ${JSON.stringify(value)}\n\n`);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const params = { message: 'who?', requestedSchema: { type: 'object', properties: {} } };
    event({ jsonrpc: '2.0', id: 'q1', method: 'elicitation/create', params });
    const isAnswered = () => upstream.seen.some(({ message }) => message?.id === 'q1');
    void expect
      .poll(isAnswered)
      .toBe(true)
      .then(() => {
        event({ jsonrpc: '2.0', id: message.id, result: { resources: [] } });
        response.end();
      });
    return true;
  });
  const { json } = await askModern('resources/list', {}, plane.addAgent().basic);
  release();
  expect(json.result).toMatchObject({ resources: [] });
  expect(json.result.inputRequests).toBeUndefined();
});

const ESCALATED = { name: 'delete_thing', arguments: {} };

it.each<[string, Holds['open'], number]>([
  [
    'cannot be opened',
    () => {
      throw new Error('nobody is there');
    },
    -32004,
  ],
  [
    'fails',
    () => ({
      escalationId: '01890000-0000-7000-8000-000000000001',
      open: () => null,
      drop: () => undefined,
      wait: () => Promise.reject(new Error('nobody is there')),
    }),
    -32603,
  ],
])('answers a call whose hold %s, and does not send it', async (_what, failing, code) => {
  open = failing;
  const { basic } = plane.addAgent(['*:*'], { risk_tier: 'high' });
  const { status, json } = await askModern('tools/call', ESCALATED, basic);
  expect(status).toBe(200);
  expect(json.error).toMatchObject({ code });
  expect(upstream.messages('tools/call')).toEqual([]);
  expect(logged).toContain('nobody is there');
  const decisions = (await plane.records()).filter(({ type }) => type === 'decision');
  expect(decisions).toMatchObject([{ policy_result: 'escalate' }]);
});
