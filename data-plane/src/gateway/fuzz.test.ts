/** Whatever is sent: no 5xx, no crash, and nothing reaches a tool without its decision. */
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JUDGED_READS } from '../enforcement/call/call-kinds.ts';
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
  upstream = await startTestUpstream();
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)] });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(...['', '2.0', 'tools/call', 'echo', 'up__echo', '__proto__', '\u0000']),
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, [], {}, [[]], { name: 'echo' }),
);
const member = <T>(good: T) =>
  fc.option(fc.oneof(fc.constant<unknown>(good), odd), { nil: undefined });
const message = fc.record({
  jsonrpc: fc.oneof({ weight: 4, arbitrary: fc.constant<unknown>('2.0') }, member('2.0')),
  id: fc.oneof({ weight: 4, arbitrary: fc.constant<unknown>(1) }, member(1)),
  method: fc.oneof(
    { weight: 3, arbitrary: fc.constant<unknown>('tools/call') },
    fc.constantFrom<unknown>(
      ...['initialize', 'ping', 'tools/list', 'prompts/get', 'notifications/cancelled'],
      ...['notifications/progress', 'notifications/roots/list_changed', 'sampling/createMessage'],
    ),
    odd,
  ),
  params: fc.oneof(
    fc.record({
      name: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom<unknown>('echo', 'echo', 'up__echo') },
        odd,
      ),
      arguments: fc.oneof(fc.constant<unknown>({ path: 'x' }), odd),
      _meta: fc.oneof(fc.constant(undefined), odd, fc.record({ progressToken: odd })),
      requestId: odd,
      cursor: odd,
      protocolVersion: odd,
    }),
    odd,
  ),
  result: fc.option(odd, { nil: undefined, freq: 9 }),
});
const body = fc.oneof(
  { weight: 6, arbitrary: message.map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.array(message, { maxLength: 4 }).map((list) => JSON.stringify(list)) },
  {
    weight: 2,
    // A message with a piece cut out or doubled somewhere.
    arbitrary: fc
      .tuple(message, fc.nat(200), fc.nat(20), fc.boolean())
      .map(([value, at, length, isCut]) => {
        const text = JSON.stringify(value);
        const piece = text.slice(at, at + length);
        return text.slice(0, at) + (isCut ? '' : piece + piece) + text.slice(at + length);
      }),
  },
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const oddHeaders = fc.record(
  {
    accept: fc.constantFrom('*/*', 'application/json', 'text/event-stream', 'text/html', ',,;', ''),
    'mcp-session-id': fc.constantFrom('', 'x', 'ä', '../..'),
    'mcp-protocol-version': fc.constantFrom('2025-03-26', '2025-06-18', '2026-07-28', '', 'x'),
    'x-requester-id': fc.constantFrom('', 'someone', 'x'.repeat(300)),
    'x-workflow-session': fc.constantFrom('', 'x', 'a.b.c', 'ä', 'x'.repeat(5_000)),
    'x-delegation-token': fc.constantFrom('', 'e30.e30.e30'),
    'x-parent-event-id': fc.constantFrom('', 'x', '0190aaaa-0000-7000-8000-000000000000'),
    'content-type': fc.constantFrom(
      'application/json',
      'application/json; charset=x',
      'text/plain',
      '',
    ),
    origin: fc.constantFrom('null', 'http://localhost', 'x'),
  },
  { requiredKeys: [] },
);
const headers = fc.oneof({ weight: 4, arbitrary: fc.constant({}) }, oddHeaders);

/** The gateway composes a list from several servers: it has a record, but not one request. */
const isCall = (record: LedgerRecord) =>
  record.type === 'decision' && !record.method.endsWith('/list');

it('is answered below 500, and forwarded only with its decision', async () => {
  let decisions = 0;
  const forwarded = () =>
    ['tools/call', ...JUDGED_READS].flatMap((method) => upstream.messages(method)).length;
  await fc.assert(
    fc.asyncProperty(
      body,
      headers,
      fc.constantFrom(
        '/mcp/v1/up',
        '/mcp/v1/up',
        '/mcp/v1',
        '/mcp/v1/none',
        '/mcp/v1/%00',
        '/mcp/v1/%ff',
      ),
      fc.constantFrom<'POST' | 'DELETE' | 'PUT' | 'OPTIONS'>(
        'POST',
        'POST',
        'POST',
        'DELETE',
        'PUT',
        'OPTIONS',
      ),
      async (payload, extra, url, method) => {
        const answer = await plane.app.inject({
          method,
          url,
          payload,
          headers: { 'content-type': 'application/json', ...extra, authorization: agent.basic },
        });
        expect([answer.statusCode, answer.body]).toEqual([expect.any(Number), expect.any(String)]);
        expect(answer.statusCode).toBeLessThan(500);
        const records = await plane.records();
        decisions += records.filter(isCall).length;
        expect(forwarded()).toBeLessThanOrEqual(decisions);
      },
    ),
    { numRuns: 1500 },
  );
  // The generator must reach the tool, or this test would prove nothing.
  expect(upstream.messages('tools/call').length).toBeGreaterThan(5);
  expect(forwarded()).toBe(decisions);
}, 60_000);
