import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
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

const call = (name: string, args: unknown = {}, id: unknown = 1, extra = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, ...extra },
});

beforeAll(async () => {
  upstream = await startTestUpstream({
    tools: [
      { name: 'echo', annotations: { readOnlyHint: true } },
      { name: 'delete_thing' },
      { name: 'fails', handle: ({ result }) => result({ content: [], isError: true }) },
      {
        name: 'streams',
        handle: ({ id, progressToken, event, response }) => {
          if (progressToken !== undefined) {
            const params = { progressToken, progress: 1, total: 2 };
            event({ jsonrpc: '2.0', method: 'notifications/progress', params });
          }
          event({ jsonrpc: '2.0', id: 99, method: 'sampling/createMessage', params: {} });
          event({ jsonrpc: '2.0', id, result: { content: [] } });
          response.end();
        },
      },
    ],
  });
  const config = { holdWaitMs: 0 };
  plane = await startTestPlane({ servers: [HTTP_SERVER('up', upstream.url)], config });
  agent = plane.addAgent();
});

afterAll(async () => {
  await plane.stop();
  await upstream.stop();
});

afterEach(async () => {
  upstream.seen.length = 0;
  await plane.records();
});

describe('POST of a tool call', () => {
  it('forwards what a policy allows, and records decision and outcome', async () => {
    const auth = { authorization: agent.basic, 'x-requester-id': 'user-7' };
    const { status, json } = await plane.post(
      '/mcp/v1/up',
      call('echo', { path: '/a' }, 'x-1'),
      auth,
    );
    expect(status).toBe(200);
    expect(json).toEqual({
      jsonrpc: '2.0',
      id: 'x-1',
      result: { content: [{ type: 'text', text: '{"path":"/a"}' }] },
    });
    const [forwarded] = upstream.messages('tools/call');
    expect(forwarded?.message?.params).toEqual({ name: 'echo', arguments: { path: '/a' } });
    expect(forwarded?.headers.authorization).toBeUndefined();
    const records = await plane.records();
    const decision = records.find((record) => record.type === 'decision');
    const outcome = records.find((record) => record.type === 'outcome');
    expect(decision).toMatchObject({
      agent_id: agent.id,
      action: 'read',
      target: '/a',
      tool_name: 'echo',
      mcp_server: 'up',
      policy_result: 'allow',
      decided_by: 'policy',
      requester_id: 'user-7',
      requester_verified: false,
      session_id: null,
      region: 'eu-test',
    });
    expect(outcome).toMatchObject({ event_id: decision?.id, outcome: 'forwarded' });
  });

  it('reads a requester in UTF-8, and in Latin-1 what is no UTF-8', async () => {
    for (const [sent, requester] of [
      [Buffer.from('Zoë 东').toString('latin1'), 'Zoë 东'],
      ['Zo\u00eb', 'Zoë'],
    ]) {
      const headers = { authorization: agent.basic, 'x-requester-id': sent as string };
      await plane.post('/mcp/v1/up', call('echo', {}), headers);
      const decision = (await plane.records()).find(({ type }) => type === 'decision');
      expect(decision).toMatchObject({ requester_id: requester });
    }
  });

  it.each([
    ['\ufeffann', 'a byte order mark'],
    ['ann\u200b', 'a space of no width'],
    ['\u202enna', 'a mark of direction'],
    ['ann\u0085', 'a control character'],
    ['an\u061cn', 'a mark of direction for Arabic'],
    ['ann\u3164', 'a letter that is not drawn'],
    ['ann\u00a0', 'a blank at its end'],
    ['\u00a0', 'nothing but blanks'],
  ])('refuses a requester with what nobody sees: %j (%s)', async (requester) => {
    const sent = Buffer.from(requester).toString('latin1');
    const headers = { authorization: agent.basic, 'x-requester-id': sent };
    const { status } = await plane.post('/mcp/v1/up', call('echo', {}), headers);
    expect(status).toBe(400);
    expect(await plane.records()).toEqual([]);
  });

  it('answers a denial with -32003, records it and forwards nothing', async () => {
    const reader = plane.addAgent(['up:read']);
    const message = call('delete_thing', { id: 1 });
    const { status, json } = await plane.post('/mcp/v1/up', message, {
      authorization: reader.bearer(),
    });
    expect(status).toBe(200);
    expect(json.error.code).toBe(-32003);
    expect(json.error.message).toMatch(/^Denied by policy: /);
    expect(upstream.messages('tools/call')).toHaveLength(0);
    const [decision, ...more] = await plane.records();
    expect(decision).toMatchObject({
      type: 'decision',
      id: json.error.data.event_id,
      policy_result: 'deny',
      action: 'delete',
      decided_by: 'policy',
    });
    expect(more).toEqual([]);
  });

  it('answers an escalation with -32004 and a resolution, and forwards nothing', async () => {
    const risky = plane.addAgent(['*:*'], { risk_tier: 'high', risk_score: 70 });
    const message = call('delete_thing', {});
    const { status, json } = await plane.post('/mcp/v1/up', message, {
      authorization: risky.basic,
    });
    expect(status).toBe(200);
    expect(json.error.code).toBe(-32004);
    expect(json.error.data.resolution).toBe('pending');
    expect(json.error.data.reasons[0]).toMatchObject({ rule: 'escalate' });
    expect(upstream.messages('tools/call')).toHaveLength(0);
    expect(await plane.records()).toMatchObject([
      { policy_result: 'escalate', decided_by: 'policy' },
      { type: 'hold_opened', escalation_id: json.error.data.escalation_id },
    ]);
  });

  it.each([
    ['no credential', {}, /^Bearer resource_metadata="[^"]+\/mcp\/v1\/up"$/],
    ['a wrong secret', { authorization: 'Basic bm9ib2R5Om5v' }, /^Basic realm=/],
    ['a wrong token', { authorization: 'Bearer x.y.z' }, /^Bearer .*error="invalid_token"$/],
    ['another scheme', { authorization: 'Digest x' }, /^Bearer /],
  ])('answers %s with 401 and -32000, and leaves no record', async (_what, headers, challenge) => {
    const answer = await plane.post('/mcp/v1/up', call('echo'), headers as Record<string, string>);
    expect(answer.status).toBe(401);
    expect(answer.json.error.code).toBe(-32000);
    expect(answer.headers.get('www-authenticate')).toMatch(challenge);
    expect(await plane.records()).toEqual([]);
    expect(upstream.seen).toEqual([]);
  });

  it('answers a suspended agent with 401 and -32000, and records the attempt', async () => {
    const suspended = plane.addAgent();
    const authorization = suspended.bearer();
    const before = await plane.post('/mcp/v1/up', call('echo'), { authorization });
    expect(before.json.result).toBeDefined();
    await plane.records();
    suspended.update({ status: 'suspended' });
    const after = await plane.post('/mcp/v1/up', call('echo', {}, 5), { authorization });
    expect(after.status).toBe(401);
    expect(after.json).toMatchObject({ id: 5, error: { code: -32000 } });
    expect(after.headers.get('www-authenticate')).toMatch(/^Bearer /);
    expect(await plane.records()).toMatchObject([
      { type: 'decision', policy_result: 'deny', decided_by: 'kill-switch' },
    ]);
    const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    expect((await plane.post('/mcp/v1/up', list, { authorization })).status).toBe(401);
  });

  it('obeys the kill switch, and its release, at the very next call', async () => {
    const caught = plane.addAgent();
    const post = () => plane.post('/mcp/v1/up', call('echo'), { authorization: caught.basic });
    expect((await post()).status).toBe(200);
    plane.engageKillSwitch(true, 3);
    expect((await post()).status).toBe(401);
    caught.update({ kill_released_generation: 3 });
    expect((await post()).status).toBe(200);
    plane.engageKillSwitch(false, 3);
    expect(
      (await plane.post('/mcp/v1/up', call('echo'), { authorization: agent.basic })).status,
    ).toBe(200);
  });

  it('passes on the error and the failure of a tool', async () => {
    const auth = { authorization: agent.basic };
    const unknown = await plane.post('/mcp/v1/up', call('nothing'), auth);
    expect(unknown.json.error).toEqual({ code: -32602, message: 'Unknown tool' });
    const failed = await plane.post('/mcp/v1/up', call('fails'), auth);
    expect(failed.json.result.isError).toBe(true);
    const outcomes = (await plane.records()).filter((record) => record.type === 'outcome');
    expect(outcomes.map((record) => record.outcome)).toEqual(['tool_error', 'tool_error']);
  });

  it('streams progress under the token of the client, and refuses questions of the server', async () => {
    const message = call('streams', {}, 'p', {
      _meta: { progressToken: 'mine', other: 'dropped' },
    });
    const { headers, text } = await plane.post('/mcp/v1/up', message, {
      authorization: agent.basic,
    });
    expect(headers.get('content-type')).toBe('text/event-stream');
    const events = text
      .trim()
      .split('\n\n')
      .map((event) => JSON.parse(event.split('data: ')[1] ?? ''));
    expect(events).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'mine', progress: 1, total: 2 },
      },
      { jsonrpc: '2.0', id: 'p', result: { content: [] } },
    ]);
    const [forwarded] = upstream.messages('tools/call');
    const params = forwarded?.message?.params as { _meta: Record<string, unknown> };
    expect(Object.keys(params._meta)).toEqual(['progressToken']);
    expect(params._meta.progressToken).not.toBe('mine');
    await vi.waitFor(() => {
      const refusal = upstream.seen.find((one) => one.message?.id === 99);
      expect(refusal?.message?.error).toMatchObject({ code: -32601 });
    });
  });

  it('answers with JSON when the client accepts no stream', async () => {
    const message = call('streams', {}, 1, { _meta: { progressToken: 1 } });
    const headers = { authorization: agent.basic, accept: 'application/json' };
    const { json } = await plane.post('/mcp/v1/up', message, headers);
    expect(json.result).toEqual({ content: [] });
  });

  it('routes unified names to their servers', async () => {
    const auth = { authorization: agent.bearer() };
    const good = await plane.post('/mcp/v1', call('up__echo', { a: 1 }), auth);
    expect(good.json.result.content[0].text).toBe('{"a":1}');
    for (const name of ['echo', 'nowhere__echo', 'up__', '__proto__', '__echo']) {
      const { json } = await plane.post('/mcp/v1', call(name), auth);
      expect(json.error.code).toBe(-32602);
    }
    expect(upstream.messages('tools/call')).toHaveLength(1);
  });

  it('denies everything without rules, and records it', async () => {
    const bare = await startTestPlane();
    try {
      const one = bare.addAgent();
      bare.clearRules();
      for (const path of ['/mcp/v1/up', '/mcp/v1']) {
        const { json } = await bare.post(path, call('up__echo'), { authorization: one.basic });
        expect(json.error).toMatchObject({ code: -32003 });
        expect(json.error.message).toBe('Denied by policy: no policy bundle is active');
      }
      const records = await bare.records();
      expect(records.filter((record) => record.type === 'decision')).toHaveLength(2);
      const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
      const { json } = await bare.post('/mcp/v1', list, { authorization: one.basic });
      expect(json.error.code).toBe(-32003);
      expect(await bare.records()).toMatchObject([{ method: 'tools/list', policy_result: 'deny' }]);
    } finally {
      await bare.stop();
    }
  });

  it('takes a token that is narrowed to the server, there and nowhere else', async () => {
    const narrowed = { authorization: agent.bearer({ aud: `${plane.url}/mcp/v1/up` }) };
    expect((await plane.post('/mcp/v1/up', call('echo'), narrowed)).status).toBe(200);
    expect((await plane.post('/mcp/v1', call('up__echo'), narrowed)).status).toBe(403);
    expect((await plane.post('/mcp/v1/other', call('echo'), narrowed)).status).toBe(403);
  });

  it('waits briefly for a replica that is behind the token', async () => {
    const soon = { authorization: agent.bearer({ feed_seq: plane.cursor() + 1 }) };
    const waiting = plane.post('/mcp/v1/up', call('echo'), soon);
    await new Promise((resolve) => setTimeout(resolve, 50));
    plane.engageKillSwitch(false, 3);
    expect((await waiting).status).toBe(200);
    const never = { authorization: agent.bearer({ feed_seq: plane.cursor() + 1 }) };
    expect((await plane.post('/mcp/v1/up', call('echo'), never)).status).toBe(401);
  });
});

describe('what is malformed', () => {
  const good = JSON.stringify(call('echo', { a: 1 }));
  it.each<[string, string, number, number]>([
    ['nothing', '', 400, -32700],
    ['half a message', good.slice(0, -3), 400, -32700],
    ['no JSON', 'hello', 400, -32700],
    ['a duplicate key', good.replace('"a":1', '"a":1,"a":2'), 400, -32600],
    ['__proto__', good.replace('"a":1', '"__proto__":{"x":1}'), 400, -32600],
    ['a number too large', good.replace('"a":1', '"a":9007199254740993'), 400, -32600],
    ['an overflowing number', good.replace('"a":1', '"a":1e400'), 400, -32600],
    ['a lone surrogate', good.replace('"a":1', '"a":"\\ud800"'), 400, -32600],
    [
      'deep nesting',
      good.replace('"a":1', `"a":${'['.repeat(9000)}${']'.repeat(9000)}`),
      400,
      -32600,
    ],
    ['a text', '"hello"', 400, -32600],
    ['null', 'null', 400, -32600],
    ['an empty batch', '[]', 400, -32600],
    ['a wrong version', good.replace('"2.0"', '"1.0"'), 400, -32600],
    ['a null id', good.replace('"id":1', '"id":null'), 400, -32600],
    ['a fractional id', good.replace('"id":1', '"id":1.5'), 400, -32600],
    ['a method that is a number', good.replace('"tools/call"', '7'), 400, -32600],
    [
      'params that are a list',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
      400,
      -32600,
    ],
    ['no tool name', '{"jsonrpc":"2.0","id":1,"method":"tools/call"}', 200, -32602],
    ['a tool name with NUL', good.replace('"echo"', '"ec\\u0000ho"'), 200, -32602],
    ['arguments that are a text', good.replace('{"a":1}', '"x"'), 200, -32602],
    ['an unknown method', good.replace('tools/call', 'tasks/list'), 200, -32601],
    ['a method of its own', good.replace('tools/call', 'tools/call2'), 200, -32601],
  ])('%s is refused and reaches no server', async (_what, body, status, code) => {
    const answer = await plane.post('/mcp/v1/up', body, { authorization: agent.basic });
    expect(answer.status).toBe(status);
    expect(answer.json.error.code).toBe(code);
    expect(answer.json.jsonrpc).toBe('2.0');
    expect(upstream.seen).toEqual([]);
    expect(await plane.records()).toEqual([]);
  });

  it('NUL in an argument reaches the server and does not break the ledger', async () => {
    const message = call('echo', { path: 'a\u0000b' });
    const { json } = await plane.post('/mcp/v1/up', message, { authorization: agent.basic });
    expect(json.result.content[0].text).toBe('{"path":"a\\u0000b"}');
    expect(await plane.records()).toMatchObject([{ target: 'a\ufffdb' }, { type: 'outcome' }]);
  });

  it('refuses by its headers before it reads a body', async () => {
    const auth = { authorization: agent.basic };
    const cases: [Record<string, string>, number][] = [
      [{ 'content-type': 'text/plain' }, 415],
      [{ accept: 'text/html' }, 406],
      [{ origin: 'https://evil.example' }, 403],
      [{ 'mcp-protocol-version': '1999-01-01' }, 400],
      [{ 'mcp-session-id': 'nothing' }, 404],
      [{ 'x-requester-id': 'x'.repeat(300) }, 400],
    ];
    for (const [headers, status] of cases) {
      const answer = await plane.post('/mcp/v1/up', good, { ...auth, ...headers });
      expect([headers, answer.status]).toEqual([headers, status]);
      expect(answer.json.error.code).toBe(-32600);
    }
    const own = { ...auth, origin: plane.url.replace('127.0.0.1', 'localhost') };
    const page = await plane.post('/mcp/v1/up', good, own);
    expect(page.status).toBe(200);
    expect(page.headers.get('access-control-allow-origin')).toBe(own.origin);
    const huge = `{"x":"${'x'.repeat(5 * 1024 * 1024)}"}`;
    expect((await plane.post('/mcp/v1/up', huge, auth)).status).toBe(413);
    for (const path of ['/mcp/v1/none', '/mcp/v1/', '/mcp/v1/up/']) {
      expect((await plane.post(path, good, auth)).status, path).toBe(404);
    }
    for (const method of ['PUT', 'PATCH']) {
      const answer = await fetch(`${plane.url}/mcp/v1/up`, { method, headers: auth });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toContain('POST');
    }
  });
});

describe('protected-resource metadata', () => {
  it('names the resource and its authorization server', async () => {
    const base = `${plane.url}/.well-known/oauth-protected-resource/mcp/v1`;
    expect(await (await fetch(base)).json()).toMatchObject({
      resource: `${plane.url}/mcp/v1`,
      authorization_servers: [plane.url],
    });
    expect(await (await fetch(`${base}/up`)).json()).toMatchObject({
      resource: `${plane.url}/mcp/v1/up`,
    });
  });
});
