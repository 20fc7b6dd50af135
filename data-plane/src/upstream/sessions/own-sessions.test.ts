/** Clients that servers may ask something: their sessions with servers are theirs, and bounded. */

import { createAddressPolicy } from '@governance/shared/outbound/address-policy';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HTTP_SERVER, STDIO_SERVER } from '../../testing/test-plane.ts';
import { openStdio, startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { createAnswerRoom } from '../shares/answer-room.ts';
import { Cancellation, ownExchange, type UpstreamPeer } from '../upstream.ts';
import { createUpstreamPool, type UpstreamPool, type UpstreamPoolOptions } from './pool.ts';

const TENANT = 'tenant';
let upstream: TestUpstream;
let pool: UpstreamPool;

beforeEach(async () => {
  upstream = await startTestUpstream({
    offersStream: true,
    tools: [{ name: 'hang', handle: () => undefined }],
  });
  pool = openPool();
});

const node = (code: string) => ({
  command: process.execPath,
  args: ['-e', code],
  env: {},
  cwd: undefined,
});

function openPool(over: Partial<UpstreamPoolOptions> = {}): UpstreamPool {
  return createUpstreamPool({
    room: createAnswerRoom(1_000_000, () => false),
    limits: { timeoutMs: 5_000, messageBytes: 1_000_000 },
    client: { name: 'test', version: '1' },
    stdio: openStdio([['local', node('')]]),
    addresses: createAddressPolicy(['*']),
    connections: 100,
    requestsPerAgent: 64,
    requestsPerTenant: 256,
    maxSessions: 200,
    maxProcesses: 20,
    maxOwnProcesses: 8,
    servesSeveral: () => false,
    hasSession: () => false,
    idleMs: 60_000,
    findSealedCredential: () => undefined,
    isRegistered: () => true,
    findServer: () => undefined,
    findIneligibility: () => undefined,
    findDeploymentId: () => 'deployment',
    openSealed: async (sealed) => sealed,
    onNotification: () => undefined,
    log: pino({ level: 'silent' }),
    ...over,
  });
}

afterEach(async () => {
  await pool.close();
  await upstream.stop();
});

const peer = (id: string): UpstreamPeer => ({
  id,
  hasSession: true,
  bind: () => ({
    capabilities: { roots: {} },
    ask: async () => null,
    withdraw: () => undefined,
    abandon: () => undefined,
  }),
});

const stdio = STDIO_SERVER('local');
const http = () => HTTP_SERVER('up', upstream.url);

it('are apart from the session that the agent shares, and from each other', async () => {
  const shared = pool.getSession({ tenantId: TENANT, server: http(), agentId: 'a' });
  const [one, two] = [peer('1'), peer('2')].map((own) =>
    pool.getSession({ tenantId: TENANT, server: http(), agentId: 'a', peer: own }),
  );
  expect(new Set([shared, one, two]).size).toBe(3);
  expect(pool.getSession({ tenantId: TENANT, server: http(), agentId: 'a', peer: peer('1') })).toBe(
    one,
  );
  await Promise.all([shared.open(ownExchange()), one?.open(ownExchange())]);
  const declared = upstream.messages('initialize').map(({ message }) => message?.params);
  expect(declared).toContainEqual(expect.objectContaining({ capabilities: {} }));
  expect(declared).toContainEqual(expect.objectContaining({ capabilities: { roots: {} } }));
});

it('tell what their server sends to their own client', async () => {
  const received: string[] = [];
  pool.listen({
    tenantId: TENANT,
    agentId: 'a',
    serverId: null,
    onNotification: () => received.push('shared'),
  });
  pool.listen({
    tenantId: TENANT,
    agentId: 'a',
    serverId: null,
    onNotification: () => received.push('own'),
    peerId: '1',
  });
  await pool
    .getSession({ tenantId: TENANT, server: http(), agentId: 'a', peer: peer('1') })
    .open(ownExchange());
  await expect.poll(upstream.streams).toBe(1);
  upstream.push({ jsonrpc: '2.0', method: 'notifications/message' });
  await expect.poll(() => received).toEqual(['own']);
});

it('keep their processes until their client ends, and take none from other agents', async () => {
  const shared = pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'a' });
  const other = pool.getSession({
    tenantId: TENANT,
    server: stdio,
    agentId: 'b',
    peer: peer('of b'),
  });
  const own = Array.from({ length: 8 }, (_, n) =>
    pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'a', peer: peer(String(n)) }),
  );
  for (let n = 8; n < 12; n++) {
    expect(() =>
      pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'a', peer: peer(String(n)) }),
    ).toThrow("Busy: the 8 processes that an agent's clients may have of their own");
  }
  expect(pool.counts().stdio).toBe(10);
  expect(pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'a' })).toBe(shared);
  expect(
    pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'b', peer: peer('of b') }),
  ).toBe(other);
  for (const [n, session] of own.entries()) {
    expect(
      pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'a', peer: peer(String(n)) }),
    ).toBe(session);
  }
  pool.endPeer('3');
  expect(
    pool.getSession({ tenantId: TENANT, server: stdio, agentId: 'a', peer: peer('8') }),
  ).toBeDefined();
});

it('are refused where all of an agent are in use', async () => {
  const request = { method: 'tools/call', members: '"name":"hang"', wantsProgress: false };
  for (let n = 0; n < 64; n++) {
    const exchange = { onNotification: () => undefined, cancellation: new Cancellation() };
    const session = pool.getSession({
      tenantId: TENANT,
      server: http(),
      agentId: 'a',
      peer: peer(String(n)),
    });
    session.request(request, exchange).catch(() => undefined);
  }
  expect(() =>
    pool.getSession({ tenantId: TENANT, server: http(), agentId: 'a', peer: peer('more') }),
  ).toThrow('in use');
  expect(
    pool.getSession({ tenantId: TENANT, server: http(), agentId: 'b', peer: peer('of b') }),
  ).toBeDefined();
  // One that ends while its call is under way counts until the call has ended.
  pool.endPeer('0');
  expect(() =>
    pool.getSession({ tenantId: TENANT, server: http(), agentId: 'a', peer: peer('more') }),
  ).toThrow('in use');
});

it('end with their client', async () => {
  await pool
    .getSession({ tenantId: TENANT, server: http(), agentId: 'a', peer: peer('1') })
    .open(ownExchange());
  await pool.getSession({ tenantId: TENANT, server: http(), agentId: 'a' }).open(ownExchange());
  pool.endPeer('1');
  const ended = () => upstream.seen.filter((one) => one.httpMethod === 'DELETE');
  await expect.poll(ended).toHaveLength(1);
  expect(pool.counts().http).toBe(1);
});

/** Tells its process id as its version. */
const SPEAKER = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method } = JSON.parse(line);
    if (method !== 'initialize') return;
    const serverInfo = { name: 's', version: String(process.pid) };
    const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo };
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  });`;
const STUBBORN = `process.on('SIGTERM', () => undefined); setInterval(() => undefined, 1000);`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it.each([
  ['ends when it is told to', SPEAKER],
  ['ignores SIGTERM', STUBBORN + SPEAKER],
])('have one process at a time in one place, also where it %s', async (_, code) => {
  const stdioServers = openStdio([['local', node(code)]]);
  const small = openPool({ stdio: stdioServers, maxProcesses: 1, maxOwnProcesses: 1 });
  const open = async (own: UpstreamPeer) => {
    const { serverInfo } = await small
      .getSession({ tenantId: TENANT, server: stdio, agentId: 'a', peer: own })
      .open(ownExchange());
    return Number(serverInfo.version);
  };
  try {
    const first = await open(peer('1'));
    small.endPeer('1');
    // A client that ends a session and opens another is not refused.
    const second = await open({ ...peer('2'), isAway: () => true });
    expect([first, second].map(isRunning)).toEqual([false, true]);
    // It makes room for another one, and is waited for when the service stops.
    small.getSession({ tenantId: TENANT, server: stdio, agentId: 'a', peer: peer('3') });
    await small.close();
    expect(isRunning(second)).toBe(false);
  } finally {
    await small.close();
  }
});
