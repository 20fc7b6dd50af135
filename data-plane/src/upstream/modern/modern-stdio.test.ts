/** A modern server of the MCP SDK over stdio, and processes that do what no good one does. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  ask,
  call,
  failureOf,
  openTestPool,
  stdioCommand,
  TENANT,
  testExchange,
  testPeer,
  textOf,
} from '../../testing/test-modern.ts';
import { STDIO_SERVER } from '../../testing/test-plane.ts';
import { openStdio } from '../../testing/test-upstream.ts';
import type { UpstreamPool } from '../sessions/pool.ts';
import { ownExchange, type UpstreamSession } from '../upstream.ts';

/** Written by hand: it tells what it was sent, and obeys. */
const OBEDIENT = `
  const ID = 'io.modelcontextprotocol/subscriptionId';
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
  const reader = require('node:readline').createInterface({ input: process.stdin });
  const seen = [];
  let listen;
  const acknowledge = (id, notifications) => send({
    method: 'notifications/subscriptions/acknowledged',
    params: { _meta: { [ID]: id }, notifications },
  });
  reader.on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    seen.push(id === undefined ? [method, params.requestId] : [method, id]);
    if (method === 'server/discover') {
      const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };
      send({ id, result: { supportedVersions: ['2026-07-28'], capabilities } });
    } else if (method === 'subscriptions/listen') {
      listen = id;
      acknowledge(id, params.notifications);
    } else if (method === 'tools/call') {
      if (params.name === 'hang') return;
      if (params.name === 'die') process.exit(1);
      for (const message of params.arguments.say ?? []) {
        send(JSON.parse(JSON.stringify(message).replaceAll('"LISTEN"', listen)));
      }
      send({ id, result: { resultType: 'complete', seen, pid: process.pid } });
    }
  });`;

let pool: UpstreamPool;
let session: UpstreamSession;
let received: unknown[];

beforeEach(() => {
  received = [];
  const obedient = { command: process.execPath, args: ['-e', OBEDIENT], env: {}, cwd: '/' };
  pool = openTestPool({
    stdio: openStdio([
      ['sdk', stdioCommand('modern')],
      ['obedient', obedient],
    ]),
    limits: { timeoutMs: 10_000, messageBytes: 64 * 1024 },
    onNotification: (_tenant, _server, notification) => void received.push(notification),
  });
  session = pool.getSession({
    tenantId: TENANT,
    server: STDIO_SERVER('obedient'),
    agentId: 'agent',
    era: 'modern',
  });
});

afterEach(() => pool.close());

const seenBy = async () => {
  const { value } = await call(session, 'look');
  return (value as { seen: [string, unknown][] }).seen;
};
const changed = (id: unknown, method = 'notifications/tools/list_changed') => ({
  method,
  params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id } },
});

it('has tools, resources, prompts, progress and rounds of input', async () => {
  const { peer, asked } = testPeer({ elicitation: { form: {} }, roots: {} }, ({ method }) =>
    method === 'roots/list'
      ? { result: { roots: [] } }
      : { result: { action: 'accept', content: { name: 'x' } } },
  );
  const sdk = pool.getSession({
    tenantId: TENANT,
    server: STDIO_SERVER('sdk'),
    agentId: 'agent',
    peer,
  });
  expect(await sdk.open(ownExchange())).toMatchObject({
    era: 'modern',
    serverInfo: { name: 'modern-test' },
  });
  expect(textOf(await call(sdk, 'echo', { a: 1 }))).toBe('{"a":1}');
  expect((await ask(sdk, 'tools/list')).raw).toContain('by-region');
  expect((await call(sdk, 'by-region', { region: 'ä' })).kind).toBe('result');
  expect((await ask(sdk, 'resources/read', { uri: 'test://note' })).raw).toContain('a note');
  const prompt = await ask(sdk, 'prompts/get', { name: 'tell', arguments: { subject: 'x' } });
  expect(prompt.raw).toContain('Tell of x');
  const exchange = testExchange({ logLevel: 'info' });
  await call(sdk, 'progress', {}, exchange);
  expect(exchange.notifications.map(({ method }) => method)).toEqual([
    'notifications/progress',
    'notifications/message',
  ]);
  expect((await call(sdk, 'ask')).raw).toContain('two');
  expect(asked).toHaveLength(3);
  expect((await ask(sdk, 'resources/subscribe', { uri: 'test://note' })).value).toEqual({});
  expect(await ask(sdk, 'tasks/get', { taskId: 't' })).toMatchObject({ value: { code: -32601 } });
});

it('receives a cancellation', async () => {
  const exchange = testExchange();
  const failed = failureOf(call(session, 'hang', {}, exchange));
  await expect.poll(seenBy).toContainEqual(['tools/call', expect.any(Number)]);
  exchange.cancellation.cancel();
  expect(await failed).toBe('cancelled');
  const [id] = (await seenBy()).filter(([method]) => method === 'tools/call')[0]?.slice(1) ?? [];
  expect(await seenBy()).toContainEqual(['notifications/cancelled', id]);
});

it('is listened to by its subscription, and by nothing else', async () => {
  await session.open(ownExchange());
  await expect.poll(seenBy).toContainEqual(['subscriptions/listen', expect.any(Number)]);
  const say = [
    changed('LISTEN'),
    changed(4711),
    { method: 'notifications/tools/list_changed' },
    changed('LISTEN', 'notifications/surprise'),
    { id: 1, method: 'elicitation/create', params: {} },
  ];
  expect((await call(session, 'say', { say })).kind).toBe('result');
  expect(received).toEqual([{ method: 'notifications/tools/list_changed', params: undefined }]);
  expect(session.pending).toBe(0);
});

it('is listened to again when it ended that, and when it was started again', async () => {
  await session.open(ownExchange());
  const listens = async () =>
    (await seenBy()).filter(([method]) => method === 'subscriptions/listen').length;
  await expect.poll(listens).toBe(1);
  const end = { method: 'notifications/cancelled', params: { requestId: 'LISTEN' } };
  await call(session, 'say', { say: [end, changed('LISTEN')] });
  expect(received).toEqual([]);
  await expect.poll(listens, { timeout: 4000 }).toBe(2);
  expect(await failureOf(call(session, 'die'))).toBe('unreachable');
  await expect.poll(listens, { timeout: 4000 }).toBe(1);
  await call(session, 'say', { say: [changed('LISTEN')] });
  await expect.poll(() => received).toHaveLength(1);
});
