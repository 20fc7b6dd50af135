/** The registry moves a server, or changes its credential: who only listens follows it. */

import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openTestPool } from '../../testing/test-modern.ts';
import { HTTP_SERVER } from '../../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { ownExchange } from '../upstream.ts';
import type { UpstreamPool } from './pool.ts';
import { addressOf } from './session-opener.ts';

const TENANT = 'tenant';
const SWEEP_MS = 30_000;
const NEWS = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info' } };

let before: TestUpstream;
let after: TestUpstream;
let pool: UpstreamPool;
let registered: McpServerSetting | undefined;
let sealed: string | undefined;
let received: string[];
let reopened: string[];

beforeEach(async () => {
  // The pool looks at its sessions twice a minute.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  before = await startTestUpstream({ offersStream: true });
  after = await startTestUpstream({ offersStream: true });
  registered = HTTP_SERVER('up', before.url);
  sealed = undefined;
  received = [];
  reopened = [];
  pool = openTestPool({
    isRegistered: (_tenantId, _serverId, at) =>
      registered !== undefined && (at === undefined || at.address === addressOf(registered)),
    findServer: () => registered,
    findSealedCredential: () => sealed,
    onReopened: ({ serverId }) => reopened.push(serverId),
  });
  pool.listen({
    tenantId: TENANT,
    agentId: 'a',
    serverId: 'up',
    onNotification: (_serverId, { method }) => received.push(method),
  });
  await open();
  await expect.poll(before.streams).toBe(1);
});

async function open() {
  if (registered)
    await pool
      .getSession({ tenantId: TENANT, server: registered, agentId: 'a' })
      .open(ownExchange());
}

afterEach(async () => {
  vi.useRealTimers();
  await pool.close();
  await Promise.all([before.stop(), after.stop()]);
});

it('is not heard any more at its old address', async () => {
  before.push(NEWS);
  await expect.poll(() => received.length).toBe(1);
  registered = HTTP_SERVER('up', after.url);
  before.push(NEWS);
  before.push(NEWS);
  await open();
  await expect.poll(after.streams).toBe(1);
  after.push(NEWS);
  await expect.poll(() => received.length).toBe(2);
});

it('is followed without a request, and told again what clients had told it', async () => {
  registered = HTTP_SERVER('up', after.url);
  vi.advanceTimersByTime(SWEEP_MS);
  await expect.poll(after.streams).toBe(1);
  await expect.poll(before.streams).toBe(0);
  expect(reopened).toEqual(['up']);
  vi.advanceTimersByTime(SWEEP_MS);
  expect(after.messages('initialize')).toHaveLength(1);
});

it('is opened anew with another credential', async () => {
  sealed = 'unreadable';
  vi.advanceTimersByTime(SWEEP_MS);
  // This data plane cannot open it, and asks nothing with the old one.
  await expect.poll(before.streams).toBe(0);
  sealed = undefined;
  await open();
  expect(reopened).toEqual(['up']);
  await expect.poll(before.streams).toBe(1);
});

it('is followed when it is enabled again, while somebody listens', async () => {
  const at = registered;
  registered = undefined;
  vi.advanceTimersByTime(SWEEP_MS);
  await expect.poll(before.streams).toBe(0);
  registered = at;
  vi.advanceTimersByTime(SWEEP_MS);
  await expect.poll(before.streams).toBe(1);
  expect(reopened).toEqual(['up']);
  expect(pool.counts().http).toBe(1);
});
