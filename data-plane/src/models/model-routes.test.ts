/** Each refusal of a request to a model, with its status. */
import { type AddressInfo, createServer } from 'node:net';
import { ERRORS } from '@governance/shared/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestModelRuntime, type TestModelRuntime } from '../testing/test-model-runtime.ts';
import { startTestPlane, type TestAgent, type TestPlane } from '../testing/test-plane.ts';

const CHAT = '/api/v1/localmodel/api/chat';
const OPENAI_CHAT = '/api/v1/localmodel/v1/chat/completions';
const BODY = { model: 'small', messages: [{ role: 'user', content: 'hello' }], stream: false };

let runtime: TestModelRuntime;
let plane: TestPlane;
let agent: TestAgent;

beforeAll(async () => {
  runtime = await startTestModelRuntime();
  plane = await startTestPlane({
    config: {
      localModelUrl: runtime.url,
      messageBytes: 20_000,
      argumentLimits: { bytes: 10_000, nodes: 1000 },
    },
    policies: [
      {
        id: '0190bbbb-0000-7000-8000-000000000001',
        name: 'Models',
        rego: `package models
deny contains "this model is not for this role" if {
	input.context.model == "held"
	input.context.agent_role == "role"
	input.request.tool_name == "localmodel-api"
	input.request.action == "write"
	input.request.resource == "held"
}
escalate contains "a person decides" if input.context.model == "late-error"
`,
      },
    ],
  });
  agent = plane.addAgent(['web:read', 'web:write']);
});
afterAll(async () => {
  await plane.stop();
  await runtime.stop();
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  plane.post(path, body, { authorization: agent.bearer(), ...headers });

describe('who calls', () => {
  it.each([
    ['nobody', () => ({ authorization: '' })],
    ['a client’s secret', () => ({ authorization: agent.basic })],
    ['an expired token', () => ({ authorization: agent.bearer({ exp: 1000, iat: 900 }) })],
    ['no token at all', () => ({ authorization: 'Bearer x' })],
  ])('%s is a 401', async (_who, headers) => {
    const { status, json, headers: answered } = await post(CHAT, BODY, headers());
    expect(status).toBe(401);
    expect(json.detail).toEqual(expect.any(String));
    expect(answered.get('www-authenticate')).toBe('Bearer');
  });

  it('a token for one MCP server is a 403', async () => {
    const authorization = agent.bearer({ aud: `${plane.url}/mcp/v1/files` });
    expect((await post(CHAT, BODY, { authorization })).status).toBe(403);
  });

  it('a suspended agent is a 401, and recorded', async () => {
    const other = plane.addAgent(['web:*']);
    other.update({ status: 'suspended' });
    await plane.records();
    const { status, json } = await post(CHAT, BODY, { authorization: other.bearer() });
    expect({ status, detail: json.detail }).toEqual({
      status: 401,
      detail: 'Unauthorized: the agent is suspended.',
    });
    expect(await plane.records()).toMatchObject([
      { type: 'decision', policy_result: 'deny', decided_by: 'kill-switch', action: 'POST' },
    ]);
  });

  it('a page of another origin is a 403', async () => {
    expect((await post(CHAT, BODY, { origin: 'https://elsewhere.example' })).status).toBe(403);
  });
});

describe('what is asked', () => {
  it.each([
    [
      'a deny of a policy',
      'held',
      403,
      'Denied by policy: Models: this model is not for this role',
    ],
    ['an escalation', 'late-error', 403, 'Escalated: Models: a person decides'],
  ])('%s', async (_what, model, status, detail) => {
    const native = await post(CHAT, { ...BODY, model });
    expect(native.status).toBe(status);
    expect(native.json.detail).toContain(detail);
    expect(native.json).toMatchObject({ error: native.json.detail, event_id: expect.any(String) });
    const openai = await post(OPENAI_CHAT, { ...BODY, model });
    expect(openai.json.error).toMatchObject({ message: openai.json.detail, type: 'governance' });
  });

  it.each([
    ['no JSON', '{', 400],
    ['a key twice', '{"model":"a","model":"b"}', 400],
    ['no body', '', 422],
    ['a list', '[]', 422],
    ['a key in another case', '{"model":"small","Model":"held"}', 422],
    ['larger than arguments may be', { ...BODY, prompt: 'x'.repeat(11_000) }, 413],
    ['larger than a body may be', { ...BODY, prompt: 'x'.repeat(21_000) }, 413],
  ])('%s', async (_what, body, status) => {
    const before = runtime.seen.length;
    const answer = await post(CHAT, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ detail: expect.any(String), error: answer.json.detail });
    expect(runtime.seen).toHaveLength(before);
  });

  it('compressed, or in a charset other than UTF-8', async () => {
    const claims: Record<string, string>[] = [
      { 'content-encoding': 'gzip' },
      { 'content-type': 'application/json; charset=utf-16' },
    ];
    for (const claim of claims) expect((await post(CHAT, BODY, claim)).status).toBe(415);
  });

  it('a body of any type is read as JSON', async () => {
    const { status } = await post(CHAT, BODY, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(status).toBe(200);
  });

  const OPENAI_ERROR = { type: 'governance', param: null };

  it.each([
    '/api',
    '/api/delete',
    '/api/pull?x=1',
    '/%61pi/chat/more',
    '/v1/embeddings',
    '/v1/models/small',
    '/v2',
    '',
  ])('%s is no path', async (path) => {
    const before = runtime.seen.length;
    const { status, json } = await post(`/api/v1/localmodel${path}`, '{');
    const detail = ERRORS.NOT_FOUND[1];
    const openai = { ...OPENAI_ERROR, message: detail, code: 'not_found' };
    const error = path.startsWith('/v1') ? openai : detail;
    expect({ status, json }).toEqual({
      status: 404,
      json: { detail, ...(/^\/(v1|api|%61pi)/.test(path) && { error }) },
    });
    expect(runtime.seen).toHaveLength(before);
  });

  it.each([
    ['/api/chat', 'OPTIONS, POST'],
    ['/api/ch%61t', 'OPTIONS, POST'],
    ['/api/generate', 'OPTIONS, POST'],
    ['/api/tags', 'GET, OPTIONS, POST'],
    ['/v1/chat/completions', 'OPTIONS, POST'],
    ['/v1/models', 'GET, OPTIONS, POST'],
  ])('%s takes no other method than %s', async (path, allow) => {
    const before = runtime.seen.length;
    const detail = ERRORS.METHOD_NOT_ALLOWED[1];
    const openai = { ...OPENAI_ERROR, message: detail, code: 'method_not_allowed' };
    const methods = ['GET', 'PUT', 'PATCH', 'DELETE'];
    for (const method of methods.filter((one) => !allow.includes(one))) {
      const answer = await fetch(`${plane.url}/api/v1/localmodel${path}`, {
        method,
        ...(method !== 'GET' && { body: '{' }),
      });
      expect(answer.status, method).toBe(405);
      expect(answer.headers.get('allow')).toBe(allow);
      const error = path.startsWith('/v1') ? openai : detail;
      expect(await answer.json()).toEqual({ detail, error });
    }
    expect(runtime.seen).toHaveLength(before);
  });

  it('a list by POST and by GET, with its query', async () => {
    const headers = { authorization: agent.bearer() };
    const got = await fetch(`${plane.url}/api/v1/localmodel/api/tags?a=%20b`, { headers });
    expect(await got.json()).toEqual((await post('/api/v1/localmodel/api/tags?a=%20b', {})).json);
    expect(runtime.seen.slice(-2)).toMatchObject([
      { method: 'GET', url: '/api/tags?a=%20b', body: '' },
      { method: 'GET', url: '/api/tags?a=%20b', body: '' },
    ]);
  });
});

describe('the runtime', () => {
  it('that is silent is a 504', async () => {
    const hasty = await startTestPlane({
      config: { localModelUrl: runtime.url, localModelTimeoutMs: 200 },
    });
    const headers = { authorization: hasty.addAgent().bearer() };
    const { status, json } = await hasty.post(CHAT, { ...BODY, model: 'silent' }, headers);
    expect(status).toBe(504);
    expect(json.detail).toBe('The local model runtime did not answer within 300 seconds.');
    const outcome = async () => (await hasty.records()).filter(({ type }) => type === 'outcome');
    await expect
      .poll(outcome, { timeout: 10_000 })
      .toMatchObject([{ outcome: 'upstream_timeout', model_usage: null }]);
    await hasty.stop();
  });

  it('has its other statuses passed on', async () => {
    const answer = await post(CHAT, { ...BODY, model: 'absent' });
    expect(answer.status).toBe(404);
    expect(answer.json).toEqual({ error: "model 'absent' not found" });
  });

  it('that is away, or does not speak HTTP, is a 502', async () => {
    const babble = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.write('SSH-2.0-no\r\n\r\n'));
    });
    await new Promise<void>((resolve) => babble.listen(0, '127.0.0.1', resolve));
    const { port } = babble.address() as AddressInfo;
    for (const [url, detail] of [
      ['http://127.0.0.1:9', 'Cannot reach the local model runtime. Is it running?'],
      [`http://127.0.0.1:${port}`, 'The local model runtime gave an answer that is no HTTP.'],
    ]) {
      const other = await startTestPlane({ config: { localModelUrl: url as string } });
      const headers = { authorization: other.addAgent().bearer() };
      const { status, json } = await other.post(CHAT, BODY, headers);
      expect({ status, detail: json.detail }).toEqual({ status: 502, detail });
      await other.stop();
    }
    await new Promise((resolve) => babble.close(resolve));
  });
});

it('what cannot be recorded is a 503, and the runtime is not asked', async () => {
  const other = await startTestPlane({
    config: { localModelUrl: runtime.url },
    wrapLedger: (ledger) => ({ ...ledger, condition: () => 'full' }),
  });
  const before = runtime.seen.length;
  const answer = await other.post(CHAT, BODY, { authorization: other.addAgent().bearer() });
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('2');
  expect(runtime.seen).toHaveLength(before);
  await other.stop();
});

it('a secret in a prompt is blocked before any policy, and kept nowhere', async () => {
  await plane.records();
  const before = runtime.seen.length;
  const secret = `AKIA${'QYZ7WN4KLMBRTJ2D'}`;
  for (const [path, body] of [
    [CHAT, { ...BODY, messages: [{ role: 'user', content: `use ${secret} for it` }] }],
    [
      OPENAI_CHAT,
      { ...BODY, messages: [{ role: 'user', content: [{ type: 'text', text: secret }] }] },
    ],
    ['/api/v1/localmodel/api/generate', { model: 'small', prompt: secret }],
  ] as const) {
    const { status, json, text } = await post(path, body);
    expect(status, path).toBe(403);
    expect(json.detail).toMatch(/^Denied by policy: dlp: .*aws/i);
    expect(text).not.toContain(secret);
  }
  expect(runtime.seen).toHaveLength(before);
  const records = await plane.records();
  const decisions = records.filter(({ type }) => type === 'decision');
  expect(decisions).toMatchObject(
    Array(3).fill({ decided_by: 'dlp', policy_result: 'deny', dlp_action: 'blocked' }),
  );
  expect(JSON.stringify(records)).not.toContain(secret);
});

it('a rate limit is a 429 that says when to come again', async () => {
  const other = await startTestPlane({ config: { localModelUrl: runtime.url } });
  const once = { requests: 1, window_seconds: 600 };
  const limits = { low: once, medium: once, high: once, critical: once };
  other.setSettings({ rate_limits: { enabled: true, limits } });
  const headers = { authorization: other.addAgent().bearer() };
  expect((await other.post(CHAT, BODY, headers)).status).toBe(200);
  const refused = await other.post(OPENAI_CHAT, BODY, headers);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.json.error).toMatchObject({ code: 'rate_limited', message: refused.json.detail });
  await other.stop();
});

it('a data plane that may let nobody act is a 403 that says so, and recorded', async () => {
  const other = await startTestPlane({
    config: { localModelUrl: runtime.url },
    findDenial: () => ({ reason: 'offline_max_age', message: 'The rules are too old.' }),
  });
  const before = runtime.seen.length;
  const answer = await other.post(CHAT, BODY, { authorization: other.addAgent().bearer() });
  expect(answer.status).toBe(403);
  expect(answer.json).toMatchObject({
    detail: 'Denied by policy: The rules are too old.',
    reason: 'offline_max_age',
  });
  expect(await other.records()).toMatchObject([
    { type: 'epoch_start' },
    { type: 'decision', policy_result: 'deny', decided_by: 'standing', action: 'POST' },
  ]);
  expect(runtime.seen).toHaveLength(before);
  await other.stop();
});

it('a stream ends when its agent may not act any more', async () => {
  const other = await startTestPlane({ config: { localModelUrl: runtime.url }, keepAliveMs: 20 });
  const caught = other.addAgent();
  const response = await fetch(`${other.url}${CHAT}`, {
    method: 'POST',
    headers: { authorization: caught.bearer() },
    body: JSON.stringify({ ...BODY, model: 'held', stream: true }),
  });
  const read = response.text();
  other.engageKillSwitch(true);
  await expect(read).rejects.toThrow();
  const outcome = async () => (await other.records()).filter(({ type }) => type === 'outcome');
  await expect
    .poll(outcome, { timeout: 10_000 })
    .toMatchObject([{ outcome: 'blocked', model_usage: { status: 200 } }]);
  runtime.release();
  await other.stop();
});
