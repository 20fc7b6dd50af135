/**
 * Both planes' clocks are two days ahead for more than ten minutes, so that both hold to that time.
 * Once the clocks are right and the operator has accepted the control plane's, data planes enforce
 * what changes, with no hand on them. What was signed by the clock before counts no more.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { runControlPlaneCommand } from '@governance/control-plane/commands';
import { listeningUrl } from '@governance/shared/http/http-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { aConnectedCore } from './support/a-connected-core.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const { app, call, aTenantAdmin, controlPlane, test } = await testControlPlane();
const dataDir = mkdtempSync(join(tmpdir(), 'clock-generation-'));
const ends: (() => Promise<unknown>)[] = [];

/** What really passed, beside the time that the test takes. */
let passed = 0;
const elapsed = performance.now.bind(performance);
const shift = (ms: number) => vi.setSystemTime(Date.now() + ms);
function pass(ms: number): void {
  passed += ms;
  shift(ms);
}

/** Between the planes: keeps pages of the feed, and answers with one of them where it is given. */
const pages: string[] = [];
const snapshots: string[] = [];
let instead: string | null = null;
let replays = 0;
let cpUrl: string;
const proxy = createServer((request, response) => {
  forward(request, response).catch(() => response.destroy());
});

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '/' } = request;
  const body = await buffer(request);
  const isPage = url.includes('/feed?');
  if (isPage && instead !== null) {
    replays++;
    response.writeHead(200, { 'content-type': 'application/json' }).end(instead);
    return;
  }
  const headers = new Headers();
  for (const name of ['authorization', 'content-type', 'accept', 'if-none-match', 'prefer']) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  const answer = await fetch(`http://127.0.0.1:${new URL(cpUrl).port}${url}`, {
    ...{ method, headers },
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  const text = Buffer.from(await answer.arrayBuffer());
  if (isPage && answer.status === 200) pages.push(text.toString());
  if (url.endsWith('/snapshot')) snapshots.push(text.toString());
  const given = new Map(answer.headers);
  for (const name of ['transfer-encoding', 'content-length', 'connection', 'keep-alive']) {
    given.delete(name);
  }
  response.writeHead(answer.status, Object.fromEntries(given)).end(text);
}

beforeAll(async () => {
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + passed);
  await app.listen({ port: 0, host: '127.0.0.1' });
  cpUrl = listeningUrl(app, { host: '127.0.0.1', port: 0 });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  proxy.closeAllConnections();
  proxy.close();
  rmSync(dataDir, { recursive: true });
  vi.restoreAllMocks();
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  instead = null;
});
afterEach(() => {
  vi.useRealTimers();
});

/** A tenant with an agent, and a data plane of it behind the proxy. */
async function aTenantWithPlane(name: string) {
  const { scope } = await aTenantAdmin();
  const { tenantId } = scope;
  const { id: adminId, username } = scope.actor;
  const account = { role: 'admin', id: adminId, username, tenantId, version: '1' } as const;
  const change = async (url: string, body: object, method: 'POST' | 'PATCH' = 'POST') => {
    // One that was issued before is over two days later.
    const token = await controlPlane.adminTokens.issue(account);
    const answer = await call(url, { token, body, method });
    expect(answer.statusCode, answer.body).toBeLessThan(300);
    return answer.json();
  };
  const { token: root } = await change('/api/v1/admin/data-plane-tokens', {
    ...{ label: 'x', expires_days: 365 },
  });
  const about = { name: 'a', agent_type: 'assistant', owner: 'a@example.com' };
  const { id } = await change('/api/v1/agents', about);
  const folder = join(dataDir, name);
  mkdirSync(folder);
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  let running: Awaited<ReturnType<typeof aConnectedCore>> | undefined;
  const start = async () => {
    running = await aConnectedCore({ dataDir: folder, cpUrl: url, token: root });
  };
  const stop = async () => {
    await running?.stop();
    running = undefined;
  };
  ends.push(stop);
  const setStatus = (status: string) => change(`/api/v1/agents/${id}`, { status }, 'PATCH');
  const enforced = () => [
    running?.core.replica.findAgent(tenantId, id)?.status,
    running?.core.replica.findKillSwitch(tenantId)?.engaged ?? false,
  ];
  const statementMs = () => running?.core.replica.place(tenantId).statementMs ?? 0;
  const failure = () => running?.core.status().tenants[0]?.feed.failure?.code ?? null;
  const denial = () => running?.core.findDenial(tenantId)?.reason ?? null;
  return { tenantId, start, stop, change, setStatus, enforced, statementMs, failure, denial };
}

/** The operator's command, and what the service does within a minute. */
async function accept(): Promise<void> {
  const said: string[] = [];
  const say = (text: string) => void said.push(text);
  const command = ['accept-clock', '--reason', 'it was two days ahead'];
  const env = { DATABASE_URL: test.url };
  const code = await runControlPlaneCommand(command, env, { log: say, error: say });
  expect(code, said.join()).toBe(0);
  await controlPlane.standingClock?.share();
}

describe('after accept-clock a kill switch is enforced', () => {
  it('where both clocks were ahead for long', { timeout: 60_000 }, async () => {
    const plane = await aTenantWithPlane('long');
    await plane.start();
    await expect.poll(plane.enforced).toEqual(['active', false]);

    const right = Date.now();
    shift(2 * DAY);
    for (const status of ['suspended', 'active', 'suspended', 'active']) {
      await plane.setStatus(status);
      await expect.poll(plane.enforced).toEqual([status, false]);
      pass(4 * MINUTE);
    }
    expect(plane.statementMs()).toBeGreaterThan(right + DAY);
    const ofThen = pages.at(-1) ?? '';
    shift(-2 * DAY);
    await accept();

    await plane.change('/api/v1/admin/killswitch', {});
    await expect.poll(plane.enforced).toEqual(['active', true]);
    expect([plane.failure(), plane.denial()]).toEqual([null, null]);
    expect(plane.statementMs()).toBeLessThan(right + DAY);

    // What was signed by the clock of then is refused, over a restart too.
    for (const isRestarted of [false, true]) {
      instead = ofThen;
      if (isRestarted) {
        await plane.stop();
        await plane.start();
      }
      await plane.setStatus(isRestarted ? 'active' : 'suspended');
      await expect.poll(plane.failure).toBe('statement_stale');
      instead = null;
      await expect.poll(plane.enforced).toEqual([isRestarted ? 'active' : 'suspended', true]);
      await expect.poll(plane.failure).toBe(null);
    }
    expect(replays).toBeGreaterThan(1);
    await plane.change('/api/v1/admin/killswitch', { lift: true });
    await expect.poll(plane.enforced).toEqual(['active', false]);
  });

  it('where it has to read a snapshot', { timeout: 60_000 }, async () => {
    const plane = await aTenantWithPlane('snapshot');
    shift(2 * DAY);
    await plane.start();
    await expect.poll(plane.enforced).toEqual(['active', false]);
    await plane.stop();
    shift(-2 * DAY);
    await accept();
    await plane.change('/api/v1/admin/killswitch', {});
    await plane.setStatus('suspended');
    await test.superuser.query(
      'UPDATE tenant_heads SET compacted_seq = feed_seq, compacted_digest = feed_digest WHERE tenant_id = $1',
      [plane.tenantId],
    );
    await plane.start();
    await expect.poll(plane.enforced).toEqual(['suspended', true]);
    expect(snapshots.at(-1)).toContain('"type":"clock"');
    await expect.poll(() => [plane.failure(), plane.denial()]).toEqual([null, null]);
  });

  it('where it registered while both were ahead', { timeout: 60_000 }, async () => {
    const plane = await aTenantWithPlane('new');
    const right = Date.now();
    shift(2 * DAY);
    await plane.start();
    await expect.poll(plane.enforced).toEqual(['active', false]);
    expect(plane.statementMs()).toBeGreaterThan(right + DAY);
    shift(-2 * DAY);
    // The control plane has forgotten it; this data plane has not.
    await plane.setStatus('suspended');
    await expect.poll(plane.failure).toBe('statement_stale');
    await accept();
    await plane.change('/api/v1/admin/killswitch', {});
    await expect.poll(plane.enforced).toEqual(['suspended', true]);
    await expect.poll(plane.failure).toBe(null);
    expect(plane.denial()).toBe(null);
  });
});
