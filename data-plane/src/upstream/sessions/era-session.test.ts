/** Servers of both eras as clients of both eras find them, over HTTP and stdio. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  ask,
  call,
  failureOf,
  openTestPool,
  type SeenPost,
  startHttp,
  startSdkServer,
  stdioCommand,
  TENANT,
  testExchange,
} from '../../testing/test-modern.ts';
import { HTTP_SERVER, STDIO_SERVER } from '../../testing/test-plane.ts';
import { openStdio, startTestUpstream } from '../../testing/test-upstream.ts';
import { createEraMemory } from '../era.ts';
import { type Era, ownExchange, type UpstreamFailure } from '../upstream.ts';
import type { UpstreamPool } from './pool.ts';

const stops: (() => Promise<unknown>)[] = [];

function openPool(over: Parameters<typeof openTestPool>[0] = {}): UpstreamPool {
  const pool = openTestPool(over);
  stops.push(() => pool.close());
  return pool;
}

afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

type Kind = 'legacy' | 'modern' | 'dual';

/** A server, and the methods that it was sent in their order. */
async function startServer(kind: Kind): Promise<{ url: string; methods(): unknown[] }> {
  if (kind === 'legacy') {
    const legacy = await startTestUpstream();
    stops.push(() => legacy.stop());
    return { url: legacy.url, methods: () => legacy.seen.map(({ message }) => message?.method) };
  }
  const server = await startSdkServer({ legacy: kind === 'modern' ? 'reject' : 'stateless' });
  stops.push(() => server.stop());
  return { url: server.url, methods: () => server.seen.map(({ message }) => message.method) };
}

const MATRIX: [Era, Kind, Era][] = [
  ['legacy', 'legacy', 'legacy'],
  ['legacy', 'modern', 'modern'],
  ['legacy', 'dual', 'legacy'],
  ['modern', 'legacy', 'legacy'],
  ['modern', 'modern', 'modern'],
  ['modern', 'dual', 'modern'],
];

describe('over HTTP', () => {
  const find = (pool: UpstreamPool, url: string, era: Era, agent = 'agent') =>
    pool.getSession({ tenantId: TENANT, server: HTTP_SERVER('up', url), agentId: agent, era });

  it.each(MATRIX)('for a %s client a %s server is a %s one', async (preferred, kind, era) => {
    const { url } = await startServer(kind);
    const session = find(openPool(), url, preferred);
    expect(session.isOpen).toBe(false);
    expect((await session.open(ownExchange())).era).toBe(era);
    expect(session.isOpen).toBe(true);
    expect((await call(session, 'echo', { a: 1 })).kind).toBe('result');
    const list = await ask(session, 'tools/list');
    expect(list.raw).toContain('"echo"');
  });

  it('is asked only once for what it does not speak', async () => {
    const modern = await startServer('modern');
    const legacy = await startServer('legacy');
    const pool = openPool();
    for (const agent of ['a', 'b']) {
      await find(pool, modern.url, 'legacy', agent).open(ownExchange());
      await find(pool, legacy.url, 'modern', agent).open(ownExchange());
    }
    expect(modern.methods()).toEqual(['initialize', 'server/discover', 'server/discover']);
    const handshake = ['initialize', 'notifications/initialized', 'ping'];
    expect(legacy.methods()).toEqual(['server/discover', ...handshake, ...handshake]);
  });

  it('is not asked in the other era for an agent that was suspended meanwhile', async () => {
    const { url, methods } = await startServer('modern');
    const findIneligibility = () => (methods().length > 0 ? 'it is suspended' : undefined);
    const pool = openPool({ findIneligibility });
    const opening = find(pool, url, 'legacy').open(ownExchange());
    await expect(opening).rejects.toMatchObject({ kind: 'ineligible' });
    expect(methods()).toEqual(['initialize']);
    // Whatever it is opened for.
    await expect(call(find(pool, url, 'legacy'), 'echo')).rejects.toMatchObject({
      kind: 'ineligible',
    });
    expect(methods()).toEqual(['initialize']);
  });

  it('is opened once by what is asked at the same time', async () => {
    const { url, methods } = await startServer('modern');
    const session = find(openPool(), url, 'legacy');
    const all = Promise.all([1, 2, 3].map((n) => call(session, 'echo', { n })));
    expect(session.pending).toBe(3);
    await all;
    expect(session.pending).toBe(0);
    expect(methods().slice(0, 2)).toEqual(['initialize', 'server/discover']);
    expect(methods()).toHaveLength(5);
  });

  it('is detected again when it changes its era', async () => {
    const [legacy, modern] = [await startTestUpstream(), await startSdkServer()];
    stops.push(
      () => legacy.stop(),
      () => modern.stop(),
    );
    let target = modern.url;
    const front = await startHttp((request, response, body) => {
      const own = ['host', 'connection', 'content-length', 'transfer-encoding'];
      const passed = Object.entries(request.headers).filter(([name]) => !own.includes(name));
      const headers = Object.fromEntries(passed);
      const init = { method: 'POST', headers: headers as Record<string, string>, body };
      void fetch(target, init).then(async (answer) => {
        const { status } = answer;
        const type = answer.headers.get('content-type') ?? 'text/plain';
        const session = answer.headers.get('mcp-session-id');
        const given = { 'content-type': type, ...(session && { 'mcp-session-id': session }) };
        response.writeHead(status, given).end(Buffer.from(await answer.arrayBuffer()));
      });
    });
    stops.push(() => front.stop());
    const reopened: unknown[] = [];
    const pool = openPool({ onReopened: (place) => reopened.push(place.serverId) });
    const session = find(pool, front.url, 'legacy');
    expect((await session.open(ownExchange())).era).toBe('modern');
    target = legacy.url;
    // A call of the other era is refused as a whole: nobody executes it.
    await failureOf(call(session, 'echo'));
    expect((await call(session, 'echo')).kind).toBe('result');
    expect((await session.open(ownExchange())).era).toBe('legacy');
    expect(reopened).toEqual(['up']);
    target = modern.url;
    for (let attempt = 0; attempt < 2; attempt++) await failureOf(call(session, 'echo'));
    expect((await call(session, 'echo')).kind).toBe('result');
    expect((await session.open(ownExchange())).era).toBe('modern');
  });

  describe('says why there is no session', () => {
    const start = async (handle: (post: SeenPost['message']) => [number, unknown]) => {
      const server = await startHttp((_request, response, body) => {
        const message = JSON.parse(body);
        const [status, answer] = handle(message);
        response.writeHead(status, { 'content-type': 'application/json' });
        const part = answer === null ? {} : { error: answer };
        response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...part }));
      });
      stops.push(() => server.stop());
      return server;
    };
    const reasonOf = async (url: string, era: Era) => {
      const session = find(openPool(), url, era);
      const failure = await session.open(ownExchange()).catch((error: UpstreamFailure) => error);
      return `${(failure as UpstreamFailure).kind}: ${(failure as UpstreamFailure).message}`;
    };

    it.each(['legacy', 'modern'] as const)('with the versions of both (%s)', async (era) => {
      const data = { supported: ['2031-01-01'] };
      const server = await start(({ method }) =>
        method === 'server/discover'
          ? [400, { code: -32022, message: 'No.', data }]
          : [400, { code: -32601, message: 'What?' }],
      );
      expect(await reasonOf(server.url, era)).toMatch(
        /^refused: .*speaks MCP 2031-01-01, the gateway 2026-07-28, 2025-11-25/,
      );
    });

    it.each(['legacy', 'modern'] as const)('with what the server said (%s)', async (era) => {
      const server = await start(({ method }) =>
        method === 'initialize'
          ? [200, { code: -32000, message: 'No licence.' }]
          : [404, { code: -32601, message: 'What?' }],
      );
      expect(await reasonOf(server.url, era)).toMatch(/^refused: initialize .*No licence/);
    });

    it.each(['legacy', 'modern'] as const)('and asks no other way for a 401 (%s)', async (era) => {
      const server = await start(() => [401, null]);
      expect(await reasonOf(server.url, era)).toBe('refused: the server answered HTTP 401');
      expect(server.seen).toHaveLength(1);
    });

    it.each(['legacy', 'modern'] as const)('and asks no other way for a 503 (%s)', async (era) => {
      const server = await start(() => [503, null]);
      expect(await reasonOf(server.url, era)).toMatch(/^unreachable/);
      expect(server.seen).toHaveLength(1);
    });

    it.each(['legacy', 'modern'] as const)('where there is nothing (%s)', async (era) => {
      const server = await start(() => [404, null]);
      expect(await reasonOf(server.url, era)).toBe('refused: no MCP server is there (404)');
    });
  });

  it('is asked nothing that only modern servers know, if it is not one', async () => {
    const { url, methods } = await startServer('legacy');
    const session = find(openPool(), url, 'modern');
    const failed = async (promise: Promise<unknown>) =>
      promise.catch(({ kind, message }: UpstreamFailure) => `${kind}: ${message}`);
    const retry = '"requestState":"x"';
    expect(await failed(call(session, 'echo', {}, testExchange(), retry))).toBe(
      'unsupported: The server speaks MCP 2025-06-18, which has no input_required: it waits for no input. Make the request without requestState.',
    );
    for (const method of ['tasks/get', 'tasks/cancel', 'server/discover', 'subscriptions/listen']) {
      expect(await failed(ask(session, method))).toBe(
        `unsupported: ${method} is not in MCP 2025-06-18, which the server speaks.`,
      );
    }
    expect(methods()).toEqual([
      ...['server/discover', 'initialize', 'notifications/initialized', 'ping'],
    ]);
  });
});

describe('over stdio', () => {
  const server = STDIO_SERVER('local');
  const openWith = (command: ReturnType<typeof stdioCommand>, timeoutMs = 10_000) =>
    openPool({
      stdio: openStdio([['local', command]]),
      limits: { timeoutMs, messageBytes: 64 * 1024 },
    });
  const script = (text: string) => {
    const lines = `
      const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
      const initialized = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} };
      const discovered = { supportedVersions: ['2026-07-28'], capabilities: {} };
      const reader = require('node:readline').createInterface({ input: process.stdin });
      reader.on('line', (line) => { const { id, method } = JSON.parse(line); ${text} });`;
    return { command: process.execPath, args: ['-e', lines], env: {}, cwd: process.cwd() };
  };

  it.each(MATRIX)('for a %s client a %s server is a %s one', async (preferred, kind, era) => {
    const pool = openWith(stdioCommand(kind));
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'agent', era: preferred });
    expect((await session.open(ownExchange())).era).toBe(era);
    expect((await call(session, 'echo', { a: 1 })).kind).toBe('result');
    expect(pool.counts().stdio).toBe(1);
  });

  it('starts no process for an agent that may not act', async () => {
    const marker = join(mkdtempSync(join(tmpdir(), 'eras-')), 'started');
    const lines = `require('node:fs').writeFileSync('${marker}', '')`;
    const command = { command: process.execPath, args: ['-e', lines], env: {}, cwd: process.cwd() };
    const pool = openPool({
      stdio: openStdio([['local', command]]),
      findIneligibility: () => 'it is suspended',
    });
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'agent', era: 'legacy' });
    await expect(session.open(ownExchange())).rejects.toMatchObject({ kind: 'ineligible' });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(existsSync(marker)).toBe(false);
  });

  it.each([
    ['legacy', 'before it is asked', ['initialize'], 1],
    ['modern', 'before it is asked', ['server/discover'], 1],
    ['legacy', 'while it answers', ['initialize', 'notifications/initialized'], 2],
  ] as const)('is ended for an agent that was suspended meanwhile (%s, %s)', async (era, _when, methods, checks) => {
    const folder = mkdtempSync(join(tmpdir(), 'eras-'));
    const seen = join(folder, 'seen');
    const both = script(`
      require('node:fs').appendFileSync('${seen}', method + '\\n');
      if (method === 'initialize') send({ id, result: initialized });
      if (method === 'server/discover') send({ id, result: discovered });`);
    let eligible = checks as number;
    const findIneligibility = () => (eligible-- > 0 ? undefined : 'it is suspended');
    const pool = openPool({ stdio: openStdio([['local', both]]), findIneligibility });
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'agent', era });
    await expect(session.open(ownExchange())).rejects.toMatchObject({ kind: 'ineligible' });
    const running = () =>
      execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes(seen) && !line.startsWith('Z'));
    await expect.poll(running).toEqual([]);
    const sent = existsSync(seen) ? readFileSync(seen, 'utf8').trim().split('\n') : [];
    expect(sent).toEqual(methods.slice(0, checks - 1));
    // A later session has a process of its own.
    eligible = Number.POSITIVE_INFINITY;
    expect((await session.open(ownExchange())).era).toBe(era);
    expect(running()).toHaveLength(1);
    rmSync(folder, { recursive: true, force: true });
  });

  it('of both eras that is slow once is not remembered as lacking one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eras-'));
    const seen = join(folder, 'seen');
    const dual = script(`
      const fs = require('node:fs');
      const isFirst = !fs.existsSync('${seen}');
      if (id !== undefined) fs.appendFileSync('${seen}', process.pid + ' ' + method + '\\n');
      if (method === 'initialize') send({ id, result: initialized });
      if (method === 'server/discover' && !isFirst) send({ id, result: discovered });`);
    const pool = openWith(dual);
    const eraFor = async (agent: string, era: Era) =>
      (await pool.getSession({ tenantId: TENANT, server, agentId: agent, era }).open(ownExchange()))
        .era;
    // It is not waited for without end.
    expect(await eraFor('a', 'modern')).toBe('legacy');
    expect(await eraFor('b', 'modern')).toBe('modern');
    expect(await eraFor('c', 'legacy')).toBe('legacy');
    const methodsOf = new Map<string, string[]>();
    for (const line of readFileSync(seen, 'utf8').trim().split('\n')) {
      const [pid = '', method = ''] = line.split(' ');
      methodsOf.set(pid, [...(methodsOf.get(pid) ?? []), method]);
    }
    expect([...methodsOf.values()]).toEqual([
      ['server/discover'],
      ['initialize'],
      ['server/discover'],
      ['initialize'],
    ]);
    rmSync(folder, { recursive: true, force: true });
  });

  it('that refuses one era is asked in the other as another process', async () => {
    const pool = openWith(
      script(`
        const known = globalThis.asked ??= method;
        if (known !== method && id !== undefined) send({ id, error: { code: -1, message: 'confused' } });
        else if (method === 'initialize') send({ id, result: initialized });
        else if (method === 'server/discover') send({ id, error: { code: -32601, message: 'What?' } });`),
    );
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'a', era: 'modern' });
    expect((await session.open(ownExchange())).era).toBe('legacy');
    expect(pool.counts().stdio).toBe(1);
  });

  it('is a modern one that took long to start, where it has no initialize', async () => {
    const pool = openWith(
      script(`
        if (method === 'server/discover') setTimeout(() => send({ id, result: discovered }), 3500);
        else send({ id, error: { code: -32601, message: 'What?' } });`),
    );
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'a', era: 'modern' });
    expect((await session.open(ownExchange())).era).toBe('modern');
  });

  it('is started again where it ends at what it does not know', async () => {
    const pool = openWith(
      script(`
        if (method === 'server/discover') process.exit(1);
        if (method === 'initialize') send({ id, result: initialized });`),
    );
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'a', era: 'modern' });
    expect((await session.open(ownExchange())).era).toBe('legacy');
  });

  it('is a legacy one where it answers the other first request with no MCP, and is not waited for', async () => {
    const pool = openWith(
      script(`
        if (method === 'server/discover') send({ id, error: 'What?' });
        if (method === 'initialize') send({ id, result: initialized });`),
    );
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'a', era: 'modern' });
    const begun = performance.now();
    expect((await session.open(ownExchange())).era).toBe('legacy');
    expect(performance.now() - begun).toBeLessThan(2_500);
  });

  it.each([
    'legacy',
    'modern',
  ] as const)('is refused at once where it answers nothing with MCP (%s)', async (era) => {
    const pool = openWith(script(`send({ id, error: 'What?' });`), 60_000);
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'a', era });
    expect(await failureOf(session.open(ownExchange()))).toBe('malformed');
  });

  it('is unreachable where there is no such command', async () => {
    const none = { command: '/nowhere/at/all', args: [], env: {}, cwd: process.cwd() };
    const session = openWith(none).getSession({
      tenantId: TENANT,
      server,
      agentId: 'a',
      era: 'modern',
    });
    expect(await failureOf(session.open(ownExchange()))).toBe('unreachable');
  });

  it.each(['legacy', 'modern'] as const)('is ended where it never answers (%s)', async (era) => {
    const marker = `silent-${era}-${process.pid}`;
    const silent = script(`/* ${marker} */`);
    const pool = openPool({
      stdio: openStdio([['local', silent]]),
      limits: { timeoutMs: 300, messageBytes: 10_000 },
    });
    const session = pool.getSession({ tenantId: TENANT, server, agentId: 'a', era });
    expect(await failureOf(session.open(ownExchange()))).toBe('timeout');
    const running = () =>
      execFileSync('ps', ['-eo', 'stat=,args='], { encoding: 'utf8' })
        .split('\n')
        .filter((line) => line.includes(marker) && !line.startsWith('Z'));
    await expect.poll(running).toEqual([]);
  });
});

it('remembers what servers lack for an hour, for a bounded number of servers', () => {
  let now = 1;
  const memory = createEraMemory(2, () => now);
  memory.keepLack('a', 'modern');
  memory.keepLack('b', 'legacy');
  expect(memory.findLack('a')).toBe('modern');
  memory.keepLack('c', 'modern');
  expect(['a', 'b', 'c'].map((key) => memory.findLack(key))).toEqual([
    'modern',
    undefined,
    'modern',
  ]);
  memory.keepLack('c', undefined);
  expect(memory.findLack('c')).toBeUndefined();
  now = 3_600_002;
  expect(memory.findLack('a')).toBeUndefined();
});
