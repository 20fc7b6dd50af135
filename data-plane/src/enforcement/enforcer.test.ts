/**
 * The invariants of the governed path, on the real parts: gateway, pipeline, ledger, replica,
 * policy engine and an MCP server over HTTP. Only the ledger is wrapped, to see and to break it.
 */

import { parseStrictJson, StrictJsonError } from '@governance/shared/json/strict-json';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Ledger } from '../contracts.ts';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

const TOOLS = ['read_thing', 'write_thing', 'delete_thing', 'run_thing', 'missing_tool'];

/** What happened, in its order. */
type Happened =
  | { what: 'append' | 'appended' | 'append-failed'; type: string; id: string }
  | { what: 'forwarded' };

let upstream: TestUpstream;
let plane: TestPlane;
let agents: { agent: TestAgent; status: number }[];
let happened: Happened[] = [];
/** How the ledger behaves: takes records, refuses decisions, or says that it is full. */
let ledgerMode: 'good' | 'slow' | 'refusing' | 'full' | 'failed' = 'good';

const wrapLedger = (ledger: Ledger): Ledger => ({
  condition: () =>
    ledgerMode === 'full' || ledgerMode === 'failed' ? ledgerMode : ledger.condition(),
  append: async (tenantId: string, record: UnchainedRecord, salt, holds) => {
    const { type, id } = record;
    happened.push({ what: 'append', type, id });
    if (ledgerMode === 'refusing' && type === 'decision') {
      happened.push({ what: 'append-failed', type, id });
      throw new Error('disk I/O error');
    }
    const appended = await ledger.append(tenantId, record, salt, holds);
    if (ledgerMode === 'slow') await new Promise((resolve) => setTimeout(resolve, 5));
    happened.push({ what: 'appended', type, id });
    return appended;
  },
});

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: TOOLS.slice(0, 4).map((name) => ({
      name,
      handle: ({ result }) => {
        happened.push({ what: 'forwarded' });
        result({ content: [] });
      },
    })),
  });
  // What is escalated is not waited for here.
  const config = { holdWaitMs: 0 };
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)], wrapLedger, config });
  agents = [
    { agent: plane.addAgent(['*:*']), status: 200 },
    { agent: plane.addAgent(['up:read', 'up/write_thing:*']), status: 200 },
    { agent: plane.addAgent([]), status: 200 },
    { agent: plane.addAgent(['*:*'], { risk_tier: 'high' }), status: 200 },
    { agent: plane.addAgent(['*:*'], { risk_tier: 'critical' }), status: 200 },
    { agent: plane.addAgent(['*:*'], { status: 'suspended' }), status: 401 },
  ];
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

afterEach(async () => {
  ledgerMode = 'good';
  happened = [];
  upstream.seen.length = 0;
  await plane.records();
});

const call = (name: string, args: unknown, id: unknown = 1) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** The outcome's append may end after the answer. */
async function allAppendsEnded(): Promise<void> {
  for (;;) {
    const begun = happened.filter(({ what }) => what === 'append').length;
    const settled = happened.filter(
      ({ what }) => what.startsWith('append-') || what === 'appended',
    );
    if (settled.length === begun) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

describe('every call', () => {
  it('leaves exactly one decision, and is forwarded only after that one is on disk', async () => {
    const targets = fc.record({
      path: fc.string({ unit: 'binary', maxLength: 20 }),
      n: fc.integer(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(5),
        fc.constantFrom(...TOOLS),
        targets,
        fc.boolean(),
        fc.boolean(),
        fc.constantFrom<typeof ledgerMode>(
          'good',
          'good',
          'good',
          'slow',
          'refusing',
          'full',
          'failed',
        ),
        async (who, tool, args, isBearer, isUnified, mode) => {
          happened = [];
          ledgerMode = mode;
          const { agent, status } = agents[who] ?? { agent: undefined, status: 0 };
          const authorization = (isBearer ? agent?.bearer() : agent?.basic) ?? '';
          const [path, name] = isUnified ? ['/mcp/v1', `up__${tool}`] : ['/mcp/v1/up', tool];
          const answer = await plane.post(path, call(name, args), { authorization });
          await allAppendsEnded();

          const isGood = mode === 'good' || mode === 'slow';
          const records = await plane.records();
          const decisions = records.filter((record) => record.type === 'decision');
          const outcomes = records.filter((record) => record.type === 'outcome');
          const forwards = happened.filter(({ what }) => what === 'forwarded').length;
          expect(decisions).toHaveLength(isGood ? 1 : 0);
          const isAllowed = decisions[0]?.policy_result === 'allow';
          expect(forwards).toBe(isAllowed && tool !== 'missing_tool' ? 1 : 0);
          expect(outcomes).toHaveLength(isAllowed ? 1 : 0);
          if (forwards > 0) {
            const order = happened.map((one) =>
              'type' in one ? `${one.what} ${one.type}` : one.what,
            );
            expect(order.indexOf('appended decision')).toBeGreaterThanOrEqual(0);
            expect(order.indexOf('appended decision')).toBeLessThan(order.indexOf('forwarded'));
          }
          if (isGood) {
            expect(answer.status).toBe(status);
            expect(decisions[0]).toMatchObject({ agent_id: agent?.id, tool_name: tool });
          } else {
            expect(answer).toMatchObject({ status: 200, json: { error: { code: -32603 } } });
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('is forwarded as the value that was judged, or not at all', async () => {
    const { agent } = agents[0] ?? {};
    const authorization = agent?.basic ?? '';
    const hostile = fc.constantFrom(
      ...['"a":1,"a":2', '"__proto__":{"admin":true}', '"n":9007199254740993', '"n":1e400'],
      ...['"s":"\\ud800"', `"d":${'['.repeat(70)}${']'.repeat(70)}`, '"n":0.1000000000000000055'],
      ...[
        '"n":-0',
        '"n":1.50',
        '"s":"\\u0041"',
        '"constructor":{"prototype":1}',
        '"ok":[1,{"b":null}]',
      ],
      ...['"s":"\\u0000"', '"s":"\\ud83d\\ude00"', '"n":1e-400', '"":""', '"x":01', '"x":tru'],
    );
    const member = fc.oneof(
      hostile,
      fc
        .tuple(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 3 }))
        .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(member, { maxLength: 4 }), async (members) => {
        upstream.seen.length = 0;
        const args = `{${members.join(',')}}`;
        const text = JSON.stringify(call('read_thing', 'ARGS')).replace('"ARGS"', () => args);
        const answer = await plane.post('/mcp/v1/up', text, { authorization });
        const sent = upstream.messages('tools/call');
        let judged: unknown;
        try {
          judged = parseStrictJson(args, { maxDepth: 62, maxNodes: 1000 });
        } catch (error) {
          expect(error).toBeInstanceOf(StrictJsonError);
          expect(answer.status).toBe(400);
          expect(sent).toHaveLength(0);
          return;
        }
        expect(sent).toHaveLength(1);
        const forwarded = JSON.parse(sent[0]?.text ?? '') as { params: { arguments: unknown } };
        expect(forwarded.params.arguments).toEqual(judged);
        // What the server reads is what any other reader of the client's text would have read.
        expect(JSON.stringify(forwarded.params.arguments)).toBe(JSON.stringify(JSON.parse(args)));
      }),
      { numRuns: 200 },
    );
  });
});

describe('what fails on the way', () => {
  it.each(['refusing', 'full', 'failed'] as const)('a ledger that is %s denies', async (mode) => {
    ledgerMode = mode;
    const authorization = agents[0]?.agent.basic ?? '';
    const { json } = await plane.post('/mcp/v1/up', call('read_thing', {}), { authorization });
    expect(json.error).toMatchObject({ code: -32603 });
    expect(json.error.message).toContain('not forwarded');
    expect(upstream.messages('tools/call')).toEqual([]);
    ledgerMode = 'good';
    const again = await plane.post('/mcp/v1/up', call('read_thing', {}), { authorization });
    expect(again.json.result).toBeDefined();
  });

  it('a server that is away is an outcome, and its address stays inside', async () => {
    plane.setServers([
      HTTP_SERVER('up', upstream.url),
      HTTP_SERVER('away', 'http://127.0.0.1:1/secret'),
    ]);
    const authorization = agents[0]?.agent.basic ?? '';
    const { json } = await plane.post('/mcp/v1/away', call('read_thing', {}), { authorization });
    expect(json.error).toMatchObject({ code: -32603, data: { failure: 'unreachable' } });
    expect(JSON.stringify(json)).not.toContain('127.0.0.1');
    await vi.waitFor(async () =>
      expect(await plane.records()).toContainEqual(
        expect.objectContaining({
          type: 'outcome',
          outcome: 'upstream_error',
          result_digest: null,
        }),
      ),
    );
  });

  it('a policy that never ends is denied, and raises one alert', async () => {
    const endless = await startTestPlane({
      servers: [HTTP_SERVER('up', upstream.url)],
      policies: [
        {
          id: '0190aaaa-0000-7000-8000-00000000000f',
          name: 'Endless',
          rego: 'package endless\n\ndeny contains "x" if count([1 | some a in numbers.range(1, 100000); some b in numbers.range(1, 100000)]) > 0\n',
        },
      ],
    });
    try {
      const authorization = endless.addAgent().basic;
      for (let i = 0; i < 3; i++) {
        const { json } = await endless.post('/mcp/v1/up', call('read_thing', {}), {
          authorization,
        });
        expect(json.error.code).toBe(-32003);
        expect(json.error.message).toContain('too long');
      }
      await vi.waitFor(async () => {
        const records = await endless.records();
        expect(records.filter((record) => record.type === 'alert')).toMatchObject([
          { alert_type: 'POLICY_OUT_OF_FUEL', severity: 'high' },
        ]);
        expect(records.filter((record) => record.type === 'decision')).toHaveLength(3);
      });
    } finally {
      await endless.stop();
    }
  });

  it('a policy of two minds is denied, and raises an alert', async () => {
    const torn = await startTestPlane({
      servers: [HTTP_SERVER('up', upstream.url)],
      policies: [
        {
          id: '0190aaaa-0000-7000-8000-00000000000f',
          name: 'Torn',
          rego: 'package torn\n\nallow := true if input.request.action == "read"\n\nallow := false if input.request.action == "read"\n',
        },
      ],
    });
    try {
      const authorization = torn.addAgent().basic;
      const ask = (tool: string) => torn.post('/mcp/v1/up', call(tool, {}), { authorization });
      expect((await ask('read_thing')).json.error.code).toBe(-32003);
      expect((await ask('write_thing')).json.result).toBeDefined();
      const alerts: unknown[] = [];
      await vi.waitFor(async () => {
        alerts.push(...(await torn.records()).filter(({ type }) => type === 'alert'));
        expect(alerts).toMatchObject([{ alert_type: 'POLICY_FAILED', details: { fault: 'trap' } }]);
      });
    } finally {
      await torn.stop();
    }
  });

  it('leaves nothing behind at a stop: the outcome of a call under way is written', async () => {
    const records: UnchainedRecord[] = [];
    const slow = await startTestUpstream({
      tools: [{ name: 'read_thing', handle: () => undefined }],
    });
    const stopping = await startTestPlane({
      servers: [HTTP_SERVER('up', slow.url)],
      wrapLedger: (ledger) => ({
        condition: () => ledger.condition(),
        append: async (tenantId, record, salt) => {
          const appended = await ledger.append(tenantId, record, salt);
          records.push(record);
          return appended;
        },
      }),
    });
    const { basic } = stopping.addAgent();
    const pending = stopping
      .post('/mcp/v1/up', call('read_thing', {}), { authorization: basic })
      .catch(() => null);
    await vi.waitFor(() => expect(slow.messages('tools/call')).toHaveLength(1));
    await stopping.plane.stop();
    expect(records.map((record) => record.type)).toEqual(['decision', 'outcome']);
    expect((await pending)?.json.error.code).toBe(-32603);
    await stopping.stop();
    await slow.stop();
  });
});

it('counts calls for Prometheus and for the heartbeat', async () => {
  const authorization = agents[0]?.agent.basic ?? '';
  const before = plane.plane.callsPerMinute(plane.tenantId);
  await plane.post('/mcp/v1/up', call('read_thing', {}), { authorization });
  await plane.post('/mcp/v1/up', call('read_thing', {}), { authorization: 'Bearer x' });
  expect(plane.plane.callsPerMinute(plane.tenantId)).toBe(before + 1);
  expect(plane.plane.callsPerMinute('another')).toBe(0);
  const text = await plane.registry.metrics();
  expect(text).toMatch(/governance_tool_calls_total\{verdict="allow"\} \d+/);
  expect(text).toMatch(/governance_unauthenticated_requests_total\{reason="malformed"\} 1/);
  expect(text).toMatch(/governance_upstream_sessions\{transport="streamable-http"\} \d+/);
});
