/** The arguments of one call are bounded, whatever its method, and the refusal is recorded. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';

const BYTES = 64 * 1024;
const NODES = 500;

let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      {
        name: 'write_file',
        handle: ({ result }) => result({ content: [] }),
      },
    ],
  });
  plane = await startTestPlane({
    servers: [HTTP_SERVER('up', upstream.url)],
    config: { argumentLimits: { bytes: BYTES, nodes: NODES }, messageNodes: 5000 },
  });
  agent = plane.addAgent();
});

beforeEach(async () => {
  upstream.seen.length = 0;
  await plane.records();
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

const post = (params: Record<string, unknown>, method = 'tools/call') =>
  plane.post(
    '/mcp/v1/up',
    { jsonrpc: '2.0', id: 1, method, params },
    { authorization: agent.basic },
  );

const decisions = async () =>
  (await plane.records()).filter((record) => record.type === 'decision');

const wide = (values: number) => Array.from({ length: values }, () => 1);
/** The given number of values, nested 40 deep. */
const deep = (values: number) =>
  Array.from({ length: values / 40 }, () => {
    let value: unknown = 1;
    for (let level = 1; level < 40; level++) value = [value];
    return value;
  });

describe('arguments that are too large', () => {
  it.each<[string, unknown]>([
    ['wide', { list: wide(NODES) }],
    ['nested', { list: deep(NODES + 40) }],
    ['of many keys', Object.fromEntries(wide(NODES).map((_one, i) => [`k${i}`, 1]))],
    ['long', { text: 'a'.repeat(BYTES) }],
    ['long once they are serialised', { text: '\u0000'.repeat(BYTES / 6) }],
    ['long in UTF-8', { text: '€'.repeat(BYTES / 3) }],
  ])('are refused when %s: -32602, one record, and nothing reaches the server', async (_w, args) => {
    const { status, json } = await post({ name: 'write_file', arguments: args });
    expect(status).toBe(200);
    expect(json).toMatchObject({ id: 1, error: { code: -32602 } });
    expect(json.error.message).toMatch(/^The arguments have more than \d+ (bytes|values and keys)/);
    expect(upstream.messages('tools/call')).toEqual([]);
    expect(await decisions()).toMatchObject([
      {
        id: json.error.data.event_id,
        agent_id: agent.id,
        tool_name: 'write_file',
        policy_result: 'deny',
        decided_by: 'arguments',
      },
    ]);
  });

  it.each<[string, Record<string, unknown>]>([
    ['prompts/get', { name: 'p', arguments: { a: 'x'.repeat(BYTES) } }],
    [
      'completion/complete',
      {
        ref: { type: 'ref/prompt', name: 'p' },
        argument: { name: 'a', value: 'x'.repeat(BYTES) },
      },
    ],
  ])('are refused at %s too', async (method, params) => {
    const { json } = await post(params, method);
    expect(json.error.code).toBe(-32602);
    expect(await decisions()).toMatchObject([{ method, decided_by: 'arguments' }]);
  });

  it('are refused in the input that a modern client repeats a request with', async () => {
    const method = 'tools/call';
    const meta = 'io.modelcontextprotocol/';
    const params = {
      name: 'write_file',
      arguments: {},
      inputResponses: { one: { list: wide(NODES) } },
      _meta: { [`${meta}protocolVersion`]: '2026-07-28', [`${meta}clientCapabilities`]: {} },
    };
    const headers = {
      authorization: agent.basic,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': 'write_file',
    };
    const message = { jsonrpc: '2.0', id: 1, method, params };
    const { json } = await plane.post('/mcp/v1/up', message, headers);
    expect(json.error.code).toBe(-32602);
    expect(await decisions()).toMatchObject([{ decided_by: 'arguments' }]);
  });

  it('pass up to the limits', async () => {
    // The object, its key, the list and its values; values are not resources that a call changes.
    const list = await post({ name: 'write_file', arguments: { values: wide(NODES - 3) } });
    expect(list.json.result).toEqual({ content: [] });
    const text = 'a'.repeat(BYTES - '{"text":""}'.length);
    const long = await post({ name: 'write_file', arguments: { text } });
    expect(long.json.result).toEqual({ content: [] });
    expect(await decisions()).toHaveLength(2);
  });
});

describe('a message of too many values', () => {
  it('is refused before it is parsed, and so without a record', async () => {
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":[${'[],'.repeat(5000)}[]]}}`;
    const { status, json } = await plane.post('/mcp/v1/up', body, { authorization: agent.basic });
    expect(status).toBe(400);
    expect(json).toMatchObject({ id: null, error: { code: -32600 } });
    expect(json.error.message).toBe('The text has too many values and keys.');
    expect(await decisions()).toEqual([]);
  });
});
