import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { createAddressPolicy } from '@governance/shared/outbound/address-policy';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  openStdio,
  startTestUpstream,
  type TestUpstream,
  type UpstreamToolCall,
} from '../../testing/test-upstream.ts';
import { createAnswerRoom } from '../shares/answer-room.ts';
import { Cancellation, UpstreamFailure, type UpstreamNotification } from '../upstream.ts';
import { createUpstreamPool, type UpstreamPool, type UpstreamPoolOptions } from './pool.ts';

const TENANT = uuidv7();
const DEPLOYMENT = uuidv7();
const AGENT = uuidv7();
const LIMIT = 64 * 1024;

let upstream: TestUpstream;
let pool: UpstreamPool;
let hanging: UpstreamToolCall[];
const stops: (() => Promise<unknown>)[] = [];

const quiet = { info: () => undefined, warn: () => undefined };

function openPool(over: Partial<UpstreamPoolOptions> = {}): UpstreamPool {
  const created = createUpstreamPool({
    room: createAnswerRoom(LIMIT, () => false),
    limits: { timeoutMs: 2000, messageBytes: LIMIT },
    client: { name: 'test', version: '1' },
    stdio: openStdio(),
    addresses: createAddressPolicy(['*']),
    connections: 8,
    requestsPerAgent: 64,
    requestsPerTenant: 256,
    maxSessions: 10,
    maxProcesses: 2,
    maxOwnProcesses: 8,
    servesSeveral: () => false,
    hasSession: () => false,
    idleMs: 60_000,
    isRegistered: () => true,
    findServer: () => undefined,
    findIneligibility: () => undefined,
    findSealedCredential: () => undefined,
    findDeploymentId: () => DEPLOYMENT,
    openSealed: async (jwe) => Buffer.from(jwe, 'base64url').toString('utf8'),
    onNotification: () => undefined,
    log: quiet,
    ...over,
  });
  stops.push(() => created.close());
  return created;
}

const http = (url: string) => ({
  server_id: 'up',
  transport: 'streamable-http' as const,
  url,
  local_name: null,
});

function exchange() {
  const notifications: UpstreamNotification[] = [];
  return {
    notifications,
    cancellation: new Cancellation(),
    onNotification: (one: UpstreamNotification) => void notifications.push(one),
  };
}

const call = (name: string, args: unknown = {}) => ({
  method: 'tools/call',
  members: `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(args)}`,
  wantsProgress: false,
});

async function failureOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof UpstreamFailure) return error.kind;
    throw error;
  }
  return 'none';
}

beforeEach(async () => {
  hanging = [];
  upstream = await startTestUpstream({
    tools: [
      { name: 'echo' },
      { name: 'hang', handle: (one) => void hanging.push(one) },
      {
        name: 'big',
        handle: ({ result, args }) => result({ text: 'x'.repeat(Number(args.size)) }),
      },
      {
        name: 'big-event',
        handle: ({ id, event, args }) =>
          event({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(Number(args.size)) } }),
      },
    ],
  });
  stops.push(() => upstream.stop());
  pool = openPool();
});

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

describe('a session over HTTP', () => {
  it('is opened once and shared by what an agent asks at the same time', async () => {
    const server = http(upstream.url);
    const session = pool.getSession({ tenantId: TENANT, server, agentId: AGENT });
    await Promise.all([1, 2, 3].map((n) => session.request(call('echo', { n }), exchange())));
    expect(pool.getSession({ tenantId: TENANT, server, agentId: AGENT })).toBe(session);
    expect(pool.getSession({ tenantId: TENANT, server, agentId: uuidv7() })).not.toBe(session);
    expect(upstream.messages('initialize')).toHaveLength(1);
    expect(upstream.messages('notifications/initialized')).toHaveLength(1);
    const [first] = upstream.messages('tools/call');
    expect(first?.headers).toMatchObject({
      'mcp-session-id': 'upstream-session-1',
      'mcp-protocol-version': '2025-06-18',
      accept: 'application/json, text/event-stream',
    });
  });

  it('is reopened when the server has forgotten it, and the call executed once', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    await session.request(call('echo'), exchange());
    upstream.forgetSessions();
    const answer = await session.request(call('echo', { n: 2 }), exchange());
    expect(answer.kind).toBe('result');
    expect(upstream.messages('initialize')).toHaveLength(2);
    const served = upstream.messages('tools/call').map((one) => one.headers['mcp-session-id']);
    expect(served).toEqual(['upstream-session-1', 'upstream-session-1', 'upstream-session-2']);
  });

  it('is left after a 400, and that call is not sent again', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    await session.request(call('echo'), exchange());
    // As the reference server does after a restart.
    const undo = upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ jsonrpc: '2.0', id: one.message.id, error }));
      return true;
    });
    const refused = await session.request(call('echo'), exchange());
    expect([refused.kind, refused.value]).toMatchObject(['error', { code: -32000 }]);
    undo();
    expect((await session.request(call('echo'), exchange())).kind).toBe('result');
    expect(upstream.messages('initialize')).toHaveLength(2);
    expect(upstream.messages('tools/call')).toHaveLength(3);
    // A server that says so of a call, and not of the session, is not left with one for each.
    const ended = upstream.seen.filter(({ httpMethod }) => httpMethod === 'DELETE');
    expect(ended.map(({ headers }) => headers['mcp-session-id'])).toEqual(['upstream-session-1']);
  });

  it('is not ended by a 400 while another call in it is under way', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    await session.request(call('echo'), exchange());
    const other = session.request(call('hang'), exchange());
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      response.writeHead(400).end();
      return true;
    });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe('refused');
    expect(upstream.seen.filter(({ httpMethod }) => httpMethod === 'DELETE')).toEqual([]);
    expect(await failureOf(other)).toBe('timeout');
  });

  it('tries no third time', async () => {
    upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      response.writeHead(404).end();
      return true;
    });
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe('refused');
    expect(upstream.messages('tools/call')).toHaveLength(2);
  });

  it.each([
    [500, 'refused'],
    [401, 'refused'],
    [302, 'refused'],
  ])('takes HTTP %i for no answer', async (status, kind) => {
    upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      response.writeHead(status, { location: 'http://127.0.0.1:1/' }).end('x');
      return true;
    });
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe(kind);
    expect(upstream.messages('tools/call')).toHaveLength(1);
  });

  it.each([
    ['no JSON', 'hello'],
    ['an empty object', '{}'],
    ['neither result nor error', '{"jsonrpc":"2.0","id":ID}'],
    ['both', '{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":""}}'],
    ['a duplicate key', '{"jsonrpc":"2.0","id":ID,"result":{"a":1,"a":2}}'],
    ['a result that is a text', '{"jsonrpc":"2.0","id":ID,"result":"x"}'],
    ['an error without a code', '{"jsonrpc":"2.0","id":ID,"error":{}}'],
    ['another id', '{"jsonrpc":"2.0","id":4711,"result":{}}'],
    ['nothing', ''],
  ])('refuses an answer that is %s', async (_what, body) => {
    upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body.replace('ID', String(one.message.id)));
      return true;
    });
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe('malformed');
  });

  it('says where the response belongs to a server that only accepts the request', async () => {
    upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      response.writeHead(202).end();
      return true;
    });
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    await expect(session.request(call('echo'), exchange())).rejects.toMatchObject({
      kind: 'malformed',
      message: expect.stringMatching(/accepted the request \(202\).*in the answer to its POST/),
    });
  });

  it('hands a result on as it was written', async () => {
    const raw = '{ "n" : 12345678901234567890 , "m":1.50 }';
    upstream.override((one, response) => {
      if (one.message?.method !== 'tools/call') return false;
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
      response.end(`{"result": ${raw} ,"id":${one.message.id},"jsonrpc":"2.0"}`);
      return true;
    });
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    expect((await session.request(call('echo'), exchange())).raw).toBe(raw);
  });

  it('blocks a message over the limit, as JSON and as an event, and continues', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    for (const tool of ['big', 'big-event']) {
      const fits = await session.request(call(tool, { size: LIMIT - 200 }), exchange());
      expect(fits.kind).toBe('result');
      const failed = session.request(call(tool, { size: LIMIT }), exchange());
      expect(await failureOf(failed)).toBe('too_large');
    }
    expect((await session.request(call('echo'), exchange())).kind).toBe('result');
  });

  it('gives up in time, tells the server, and drops what comes later', async () => {
    const slow = openPool({ limits: { timeoutMs: 100, messageBytes: LIMIT } });
    const session = slow.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    expect(await failureOf(session.request(call('hang'), exchange()))).toBe('timeout');
    await vi.waitFor(() => expect(upstream.messages('notifications/cancelled')).toHaveLength(1));
    expect(session.pending).toBe(0);
  });

  it('is not begun for a request that was cancelled before', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    const cancelled = exchange();
    cancelled.cancellation.cancel();
    expect(await failureOf(session.request(call('echo'), cancelled))).toBe('cancelled');
    expect(upstream.seen).toEqual([]);
  });

  it('says that a server is away', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http('http://127.0.0.1:1/mcp'),
      agentId: AGENT,
    });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe('unreachable');
  });

  it('fails what is under way when it is closed, and says goodbye', async () => {
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    const pending = failureOf(session.request(call('hang'), exchange()));
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    await pool.close();
    expect(await pending).toBe('unreachable');
    expect(upstream.seen.some((one) => one.httpMethod === 'DELETE')).toBe(true);
  });
});

describe('addresses', () => {
  it('refuses one that is not allowed, by number and by name', async () => {
    const port = new URL(upstream.url).port;
    const strict = openPool({ addresses: createAddressPolicy(['global', '10.0.0.0/8']) });
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '0x7f.1']) {
      const server = { ...http(`http://${host}:${port}/mcp`), server_id: host };
      const session = strict.getSession({ tenantId: TENANT, server, agentId: AGENT });
      expect(['refused', 'unreachable']).toContain(
        await failureOf(session.request(call('echo'), exchange())),
      );
    }
    expect(upstream.seen).toEqual([]);
  });

  it('asks a server with an @ in its path, and none whose address names a user', async () => {
    const [host] = upstream.url.split('/mcp');
    const ask = async (url: string) =>
      await failureOf(
        (async () => {
          const session = pool.getSession({ tenantId: TENANT, server: http(url), agentId: AGENT });
          await session.request(call('echo'), exchange());
        })(),
      );
    expect(await ask(`${host}/@scope/tools/mcp?to=a@b`)).toBe('none');
    expect(await ask(`${host}/mcp`.replace('http', 'HTTP'))).toBe('none');
    for (const user of ['user@', 'user:secret@', '@', ':@']) {
      expect(await ask(`${host}/mcp`.replace('//', `//${user}`))).toBe('refused');
    }
  });

  it('allows what is named', async () => {
    const port = new URL(upstream.url).port;
    for (const allow of ['localhost', '127.0.0.0/8', '127.0.0.1', '*']) {
      const some = openPool({ addresses: createAddressPolicy([allow, '::1']) });
      const session = some.getSession({
        tenantId: TENANT,
        server: http(`http://localhost:${port}/mcp`),
        agentId: AGENT,
      });
      expect((await session.request(call('echo'), exchange())).kind).toBe('result');
    }
  });
});

describe('a credential', () => {
  const seal = (over: object, credential: object) =>
    Buffer.from(
      JSON.stringify({
        tenant_id: TENANT,
        deployment_id: DEPLOYMENT,
        server_id: 'up',
        credential,
        ...over,
      }),
    ).toString('base64url');

  it('is shown to the server, and a new one opens a new session', async () => {
    let sealed = seal({}, { type: 'bearer', token: 'first' });
    const own = openPool({ findSealedCredential: () => sealed });
    await own
      .getSession({ tenantId: TENANT, server: http(upstream.url), agentId: AGENT })
      .request(call('echo'), exchange());
    sealed = seal({}, { type: 'header', name: 'X-Api-Key', value: 'second' });
    await own
      .getSession({ tenantId: TENANT, server: http(upstream.url), agentId: AGENT })
      .request(call('echo'), exchange());
    const [first, second] = upstream.messages('tools/call').map((one) => one.headers);
    expect(first?.authorization).toBe('Bearer first');
    expect([second?.authorization, second?.['x-api-key']]).toEqual([undefined, 'second']);
  });

  it.each([
    ['another tenant', seal({ tenant_id: uuidv7() }, { type: 'bearer', token: 'x' })],
    ['another data plane', seal({ deployment_id: uuidv7() }, { type: 'bearer', token: 'x' })],
    ['another server', seal({ server_id: 'other' }, { type: 'bearer', token: 'x' })],
    [
      'another origin',
      seal({ origin: 'https://elsewhere.example' }, { type: 'bearer', token: 'x' }),
    ],
    ['a reserved header', seal({}, { type: 'header', name: 'Mcp-Session-Id', value: 'x' })],
    ['a line break', seal({}, { type: 'header', name: 'X-A', value: 'a\r\nb: c' })],
    ['nothing that can be opened', 'e30'],
  ])('for %s is not used', async (_what, sealed) => {
    const own = openPool({ findSealedCredential: () => sealed });
    const session = own.getSession({
      tenantId: TENANT,
      server: http(upstream.url),
      agentId: AGENT,
    });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe('refused');
    expect(upstream.seen).toEqual([]);
  });
});

it('asks a server that has a credential only once that has come', async () => {
  let sealed: string | undefined;
  const own = openPool({ findSealedCredential: () => sealed });
  const server = { ...http(upstream.url), has_credential: true };
  expect(() => own.getSession({ tenantId: TENANT, server, agentId: AGENT })).toThrow(
    'has not reached this data plane yet',
  );
  expect(upstream.seen).toEqual([]);
  sealed = Buffer.from(
    JSON.stringify({
      tenant_id: TENANT,
      deployment_id: DEPLOYMENT,
      server_id: 'up',
      origin: new URL(upstream.url).origin,
      credential: { type: 'bearer', token: 'come' },
    }),
  ).toString('base64url');
  await own
    .getSession({ tenantId: TENANT, server, agentId: AGENT })
    .request(call('echo'), exchange());
  expect(upstream.messages('tools/call').at(-1)?.headers.authorization).toBe('Bearer come');
});

describe('the pool', () => {
  it('makes room by closing what was idle the longest, and never what is in use', async () => {
    const small = openPool({ maxSessions: 2 });
    const server = http(upstream.url);
    const busy = small
      .getSession({ tenantId: TENANT, server, agentId: 'a' })
      .request(call('hang'), exchange());
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    await small
      .getSession({ tenantId: TENANT, server, agentId: 'b' })
      .request(call('echo'), exchange());
    await small
      .getSession({ tenantId: TENANT, server, agentId: 'c' })
      .request(call('echo'), exchange());
    expect(small.counts()).toEqual({ http: 2, stdio: 0 });
    hanging[0]?.result({ content: [] });
    expect((await busy).kind).toBe('result');
  });

  it('follows the registry when a server gets another address', async () => {
    const first = pool.getSession({ tenantId: TENANT, server: http(upstream.url), agentId: AGENT });
    const second = pool.getSession({
      tenantId: TENANT,
      server: http(`${upstream.url}?2`),
      agentId: AGENT,
    });
    expect(second).not.toBe(first);
    expect(pool.counts().http).toBe(1);
  });

  it('lets a call finish that was sent before the server got another address', async () => {
    const small = openPool({ maxSessions: 1 });
    const busy = small
      .getSession({ tenantId: TENANT, server: http(upstream.url), agentId: AGENT })
      .request(call('hang'), exchange());
    await vi.waitFor(() => expect(hanging).toHaveLength(1));
    const moved = http(`${upstream.url}?2`);
    // The session that ends counts still: what is open stays bounded.
    expect(() => small.getSession({ tenantId: TENANT, server: moved, agentId: AGENT })).toThrow(
      /too many sessions/,
    );
    hanging[0]?.result({ content: [] });
    expect((await busy).kind).toBe('result');
    small.getSession({ tenantId: TENANT, server: moved, agentId: AGENT });
    const hasEnded = () => upstream.seen.some(({ httpMethod }) => httpMethod === 'DELETE');
    await vi.waitFor(() => expect(hasEnded()).toBe(true), { timeout: 5_000 });
  });
});

describe('a session over stdio', () => {
  const SERVER = `
    let buffered = '';
    const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
    process.stdin.on('data', (chunk) => {
      buffered += chunk;
      const lines = buffered.split('\\n');
      buffered = lines.pop();
      for (const line of lines) {
        const { id, method, params } = JSON.parse(line);
        if (method === 'initialize') send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } } });
        else if (method === 'tools/call') {
          const { name, arguments: args, _meta } = params;
          if (name === 'die') process.exit(3);
          if (name === 'deaf') { process.stdin.pause(); send({ id, result: {} }); continue; }
          if (name === 'hang') { process.stderr.write('hanging\\n'); continue; }
          if (name === 'noise') { process.stdout.write('this is no JSON\\n\\n'); send({ id: 1, method: 'sampling/createMessage' }); }
          if (name === 'big') { send({ id, result: { text: 'x'.repeat(args.size) } }); continue; }
          if (_meta) send({ method: 'notifications/progress', params: { progressToken: _meta.progressToken, progress: 1 } });
          send({ id, result: { pid: process.pid, env: process.env, args } });
        } else if (id === undefined && method === 'notifications/cancelled') send({ method: 'notifications/message', params: { cancelled: params.requestId } });
      }
    });
    require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  `;
  let folder: string;
  const stdio = {
    server_id: 'local',
    transport: 'stdio' as const,
    url: null,
    local_name: 'mine',
  };

  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'governance-stdio-')));
    writeFileSync(join(folder, 'server.cjs'), SERVER);
    stops.push(async () => rmSync(folder, { recursive: true, force: true }));
    const server = {
      command: process.execPath,
      args: ['server.cjs'],
      env: { GIVEN: '1' },
      cwd: folder,
    };
    process.env.SERVICE_TEST_SECRET = 'must not be passed on';
    pool = openPool({
      stdio: openStdio([['mine', server]]),
      limits: { timeoutMs: 5000, messageBytes: LIMIT },
    });
  });

  const askFor = async (agentId: string, name = 'echo', args = {}) => {
    const answer = await pool
      .getSession({ tenantId: TENANT, server: stdio, agentId })
      .request(call(name, args), exchange());
    return answer.value as { pid: number; env: Record<string, string>; args: unknown };
  };

  it('is restarted when its process does not read what it is sent', async () => {
    await askFor(AGENT, 'deaf');
    const text = 'x'.repeat(LIMIT / 2);
    const session = pool.getSession({ tenantId: TENANT, server: stdio, agentId: AGENT });
    const calls = Array.from({ length: 16 }, () =>
      failureOf(session.request(call('echo', { text }), exchange())),
    );
    expect(await Promise.all(calls)).toContain('unreachable');
    await vi.waitFor(async () => expect(await askFor(AGENT)).toMatchObject({ args: {} }), {
      timeout: 5000,
    });
  });

  it('is one process for each agent, without the environment of the service', async () => {
    const [one, again, other] = [await askFor('a'), await askFor('a'), await askFor('b')];
    expect(again.pid).toBe(one.pid);
    expect(other.pid).not.toBe(one.pid);
    expect(one.env.GIVEN).toBe('1');
    expect(one.env.SERVICE_TEST_SECRET).toBeUndefined();
    expect(pool.counts()).toEqual({ http: 0, stdio: 2 });
  });

  it('survives noise, and passes progress to the request that it belongs to', async () => {
    const own = exchange();
    const request = { ...call('noise', { a: 1 }), wantsProgress: true };
    const answer = await pool
      .getSession({ tenantId: TENANT, server: stdio, agentId: AGENT })
      .request(request, own);
    expect(answer.value).toMatchObject({ args: { a: 1 } });
    expect(own.notifications).toMatchObject([{ method: 'notifications/progress' }]);
  });

  it('fails the call in which the process dies, and starts another for the next', async () => {
    const { pid } = await askFor(AGENT);
    const session = pool.getSession({ tenantId: TENANT, server: stdio, agentId: AGENT });
    expect(await failureOf(session.request(call('die'), exchange()))).toBe('unreachable');
    expect((await askFor(AGENT)).pid).not.toBe(pid);
  });

  it('blocks a message over the limit and continues', async () => {
    const session = pool.getSession({ tenantId: TENANT, server: stdio, agentId: AGENT });
    const { pid } = await askFor(AGENT);
    const big = session.request(call('big', { size: LIMIT }), exchange());
    expect(await failureOf(big)).toBe('too_large');
    expect((await askFor(AGENT)).pid).toBe(pid);
  });

  it('tells the process of a cancellation', async () => {
    const received: unknown[] = [];
    pool.listen({
      tenantId: TENANT,
      agentId: AGENT,
      serverId: null,
      onNotification: (from, { params }) => received.push([from, params]),
    });
    const own = exchange();
    const pending = pool
      .getSession({ tenantId: TENANT, server: stdio, agentId: AGENT })
      .request(call('hang'), own);
    const failed = failureOf(pending);
    await askFor(AGENT);
    own.cancellation.cancel();
    expect(await failed).toBe('cancelled');
    await vi.waitFor(() => expect(received).toHaveLength(1));
    expect(received).toEqual([['local', { cancelled: expect.any(Number) }]]);
  });

  it('ends with everything that the process started', async () => {
    const { pid } = await askFor(AGENT);
    await pool.close();
    await vi.waitFor(() => {
      const all = execFileSync('ps', ['-eo', 'pgid=,stat='], { encoding: 'utf8' }).split('\n');
      const alive = all.map((line) => line.trim()).filter((line) => !line.includes('Z'));
      expect(alive.filter((line) => line.startsWith(`${pid} `))).toEqual([]);
    });
  });

  it('is refused for a command that the operator did not define', () => {
    expect(() =>
      pool.getSession({
        tenantId: TENANT,
        server: { ...stdio, local_name: 'other' },
        agentId: AGENT,
      }),
    ).toThrow(UpstreamFailure);
  });

  it('fails for a command that does not exist', async () => {
    const none = { command: join(folder, 'nothing'), args: [], env: {}, cwd: folder };
    const broken = openPool({ stdio: openStdio([['mine', none]]) });
    const session = broken.getSession({ tenantId: TENANT, server: stdio, agentId: AGENT });
    expect(await failureOf(session.request(call('echo'), exchange()))).toBe('unreachable');
  });
});
