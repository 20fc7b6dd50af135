/** What only the gateway may say, and what it owes to a refused client: codes, words and ids. */
import { request as httpRequest } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  HTTP_SERVER,
  startTestPlane,
  type TestAgent,
  type TestPlane,
} from '../testing/test-plane.ts';
import {
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '../testing/test-upstream.ts';

const SECRET_ARGUMENT = 'an argument that nobody may read';
const logged: string[] = [];
const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) });
let upstream: TestUpstream;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  const saying =
    (code: number, message: string) =>
    ({ id, event, response }: UpstreamToolCall) => {
      event({ jsonrpc: '2.0', id, error: { code, message, data: { reasons: ['mine'] } } });
      response.end();
    };
  upstream = await startTestUpstream({
    tools: [
      { name: 'read_echo', annotations: { readOnlyHint: true } },
      { name: 'read_denied', handle: saying(-32003, 'Denied by policy: says the server') },
      { name: 'read_escalated', handle: saying(-32004, 'Escalated') },
      { name: 'read_own', handle: saying(-32050, 'my own') },
      { name: 'read_credential', handle: saying(-32000, ' unauthorized: your token expired') },
      { name: 'read_busy', handle: saying(-32000, 'Busy') },
      { name: 'mcp:prompts/get', annotations: { readOnlyHint: true } },
    ],
  });
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)], log });
  agent = plane.addAgent();
});
afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

const call = (name: string, id: unknown = 1, args = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});
const auth = () => ({ authorization: agent.basic });

// Before the others: only the first refusals of a minute are logged.
describe('the log', () => {
  it('names the request whose credential was refused', async () => {
    const before = logged.length;
    const headers = { authorization: 'Bearer of nobody' };
    await plane.post('/mcp/v1/up', call('read_echo'), headers);
    expect(logged.slice(before).map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        msg: 'a credential was refused',
        ...{ reqId: expect.stringMatching(/./), reason: 'malformed' },
      }),
    );
  });
});

describe('a server', () => {
  it.each([
    ['read_denied', -32003, 'Denied by policy: says the server'],
    ['read_escalated', -32004, 'Escalated'],
    ['read_credential', -32000, ' unauthorized: your token expired'],
  ])('does not decide in place of the gateway: %s', async (tool, code, message) => {
    const { status, json } = await plane.post('/mcp/v1/up', call(tool, 'x'), auth());
    expect(status).toBe(200);
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: {
        code: -32603,
        message: `The MCP server answered with an error: ${message}`,
        data: { upstream_code: code, upstream_data: { reasons: ['mine'] } },
      },
    });
  });

  it('passes everything else on unchanged', async () => {
    const { json } = await plane.post('/mcp/v1/up', call('read_own'), auth());
    expect(json.error).toEqual({ code: -32050, message: 'my own', data: { reasons: ['mine'] } });
    const busy = await plane.post('/mcp/v1/up', call('read_busy'), auth());
    expect(busy.json.error).toMatchObject({ code: -32000, message: 'Busy' });
  });

  it('has no tool with the name of a method', async () => {
    const reader = plane.addAgent(['mcp:prompts/get:read', 'up:read']);
    const headers = { authorization: reader.basic };
    for (const [path, prefix] of [
      ['/mcp/v1/up', ''],
      ['/mcp/v1', 'up__'],
    ]) {
      const listed = await plane.post(`${path}`, { ...call('x'), method: 'tools/list' }, headers);
      const names = listed.json.result.tools.map(({ name }: { name: string }) => name);
      expect(names).toContain(`${prefix}read_echo`);
      expect(names).not.toContain(`${prefix}mcp:prompts/get`);
      const before = upstream.seen.length;
      const { json } = await plane.post(`${path}`, call(`${prefix}mcp:prompts/get`), headers);
      expect(json.error.code).toBe(-32602);
      expect(upstream.seen.slice(before)).toEqual([]);
    }
  });
});

describe('a client that is refused for its credential', () => {
  const ask = (body: unknown, headers: Record<string, string> = {}) =>
    plane.post('/mcp/v1/up', body, { authorization: 'Bearer wrong', ...headers });

  it.each([
    ['a number', 7],
    ['a text', 'request-7'],
  ])('learns from the id which request it was: %s', async (_, id) => {
    const { status, json } = await ask(call('read_echo', id));
    expect([status, json.id, json.error.code]).toEqual([401, id, -32000]);
    const none = await plane.post('/mcp/v1', call('read_echo', id));
    expect([none.status, none.json.id]).toEqual([401, id]);
  });

  it('learns the same of the token for another path', async () => {
    const narrow = agent.bearer({ aud: `${plane.url}/mcp/v1/other` });
    const { status, json } = await ask(call('read_echo', 'n'), { authorization: narrow });
    expect([status, json.id, json.error.code]).toEqual([403, 'n', -32000]);
  });

  it.each<[string, unknown, Record<string, string>]>([
    ['more than 16 KiB', call('read_echo', 1, { text: 'x'.repeat(20_000) }), {}],
    ['a batch', [call('read_echo', 1)], {}],
    ['no JSON', '{"id":1', {}],
    ['a key twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', {}],
    ['an id that is none', call('read_echo', { id: 1 }), {}],
    ['another content type', call('read_echo', 1), { 'content-type': 'text/plain' }],
  ])('gets null for %s, and the connection lives on', async (_, body, headers) => {
    const { status, json } = await ask(body, headers);
    expect([status, json.id, json.error.code]).toEqual([401, null, -32000]);
    const next = await plane.post('/mcp/v1/up', call('read_echo', 2), auth());
    expect([next.status, next.json.id]).toEqual([200, 2]);
  });

  it('is read within limits: no chunks beyond 16 KiB, no wait for a body that does not come', async () => {
    const send = (write: (request: ReturnType<typeof httpRequest>) => void) =>
      new Promise<{ status: number | undefined; id: unknown }>((resolve, reject) => {
        const headers = { 'content-type': 'application/json' };
        const request = httpRequest(`${plane.url}/mcp/v1`, { method: 'POST', headers });
        request.on('error', reject);
        request.on('response', async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          request.destroy();
          resolve({ status: response.statusCode, id: JSON.parse(text).id });
        });
        write(request);
      });
    const long = await send((request) => {
      for (let i = 0; i < 40; i++) request.write(' '.repeat(1024));
    });
    expect(long).toEqual({ status: 401, id: null });
    expect(await send((request) => request.flushHeaders())).toEqual({ status: 401, id: null });
  });
});

describe('a request that is refused by its path or headers', () => {
  it.each<[number, string, Record<string, string>]>([
    [404, '/mcp/v1/none', {}],
    [404, '/mcp/v1/up', { 'mcp-session-id': 'none' }],
    [400, '/mcp/v1/up', { 'mcp-protocol-version': '1999-01-01' }],
    [406, '/mcp/v1/up', { accept: 'text/html' }],
  ])('is named by its id: %i at %s with %j', async (expected, path, headers) => {
    const all = plane.addAgent(['*:*']);
    const sent = { authorization: all.basic, ...headers };
    const { status, json } = await plane.post(path, call('read_echo', 'mine'), sent);
    expect([status, json.id, json.error.code]).toEqual([expected, 'mine', -32600]);
  });
});

describe('SERVICE_DEBUG', () => {
  it('logs how a decision came about, and no argument', async () => {
    const reader = plane.addAgent(['up:read']);
    const lines = () =>
      logged
        .map((line) => JSON.parse(line))
        .filter(({ msg, agent_id }) => msg === 'a call was judged' && agent_id === reader.id);
    const headers = { authorization: reader.basic };
    await plane.post('/mcp/v1/up', call('read_echo', 1, { path: SECRET_ARGUMENT }), headers);
    await plane.post('/mcp/v1/up', call('delete_it', 2, { path: SECRET_ARGUMENT }), headers);
    const [allowed, denied] = lines();
    expect(allowed).toMatchObject({
      tenantId: plane.tenantId,
      server: 'up',
      tool: 'read_echo',
      action: 'read',
      verdict: 'allow',
      decided_by: 'policy',
      policies: [{ policy_id: expect.any(String), policy: expect.any(String), rule: 'allow' }],
    });
    expect(allowed.steps.map(({ step }: { step: string }) => step)).toEqual([
      'authenticate',
      'standing',
      'kill-switch',
      'rate-limit',
      'workflow-session',
      'delegation',
      'causal-depth',
      'hops',
      'arguments',
      'classify',
      'workflow-actions',
      'pinned-tools',
      'dlp',
      'scope-probe',
      'blast-radius',
      'policy',
    ]);
    expect(allowed.steps.every(({ ms }: { ms: number }) => ms >= 0)).toBe(true);
    expect(denied).toMatchObject({ verdict: 'deny', decided_by: 'policy', cause: 'policy' });
    const all = logged.join('');
    expect(all).not.toContain(SECRET_ARGUMENT);
    expect(all).not.toContain(reader.secret);
    expect(all).not.toContain(reader.basic);
  });
});
