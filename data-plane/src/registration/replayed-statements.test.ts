/**
 * Somebody between the planes replays what the control plane tells another data plane of the tenant,
 * which is honest and fresh, to one that it revoked.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedPage } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createDataPlaneCore, type DataPlaneCore } from '../core/data-plane-core.ts';
import { until } from '../testing/test-control-plane.ts';
import {
  type HttpControlPlane,
  startHttpControlPlane,
} from '../testing/test-http-control-plane.ts';
import { lendTokenKey } from '../testing/test-token-keys.ts';
import { type Connections, connectControlPlane } from './connect.ts';

const MINUTE = 60_000;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let dataDir: string;
let server: HttpControlPlane;
let core: DataPlaneCore;
let connections: Connections;
let time: number;
let pages: number;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'replayed-'));
  lendTokenKey(dataDir);
  time = Date.now();
  pages = 0;
  server = await startHttpControlPlane({ now: () => time });
  core = await createDataPlaneCore({
    dataDir,
    version: '1.0.0',
    log,
    onFatal: (error) => {
      throw error;
    },
    now: () => time,
    readUsedShare: async () => 0,
    loadPolicy: async () => ({ evaluate: () => ({ ok: false, fault: 'trap', message: '' }) }),
    backoffLimits: { first: 10, longest: 40 },
  });
  connections = await connectControlPlane({
    ...{ core, dataDir, cpUrl: server.url, tokens: ['root-token'], log },
    ...{ region: 'eu', version: '1.0.0', label: 'here' },
    backoffLimits: { first: 10, longest: 40 },
    askAgainMs: 30,
    lookMs: 20,
  });
});

afterEach(async () => {
  await connections.stop();
  await core.stop(50);
  await server.stop();
  rmSync(dataDir, { recursive: true });
});

const denial = () => core.findDenial(server.tenantId)?.reason ?? null;
const state = () => core.status().tenants[0]?.control_plane.state;

async function connected(): Promise<void> {
  await until(() => state() === 'connected' && denial() === null);
}

/** Answers polls of the feed in the control plane's place, with pages of now. */
function serve(of: () => Partial<FeedPage>): void {
  server.intercept((request, response) => {
    if (!request.url?.includes('/feed?')) return false;
    const { feed } = server.plane();
    const [cursor, head] = [feed.head(), feed.head()];
    const page = { entries: [], cursor, head, statement: feed.statement(), ...of() };
    // Not at once: a page without news is asked for again and again.
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(page), () => pages++);
    }, 10);
    return true;
  });
  core.kick(server.tenantId);
}

async function served(some = 5): Promise<void> {
  const before = pages;
  await until(() => pages > before + some);
}

const recognition = (of: string) => ({ recognition: server.plane().feed.recognition(of) });

async function revoked(): Promise<void> {
  await connected();
  serve(() => recognition(server.deploymentId));
  await served();
  server.intercept(null);
  core.kick(server.tenantId);
  server.revokeAll();
  await until(() => denial() === 'tenant_revoked');
}

it.each([
  ['with what it says to that one', () => recognition(uuidv7())],
  ['without that', () => ({})],
])('%s, which lifts no revocation', async (_, of) => {
  await revoked();
  time += MINUTE;
  serve(of);
  await served();
  expect(denial()).toBe('tenant_revoked');
  serve(() => recognition(server.deploymentId));
  await until(() => denial() === null);
});

it('without the refusal of the token: the revoked one ends with its time', async () => {
  await connected();
  serve(() => recognition(server.deploymentId));
  await served();
  serve(() => ({}));
  for (let hours = 0; hours < 26; hours++) {
    time += 60 * MINUTE;
    await served(2);
  }
  expect(denial()).toBe('offline_max_age');
});

it('of an older control plane a page says nothing of the data plane, and counts as before', async () => {
  await connected();
  server.revokeAll();
  await until(() => denial() === 'tenant_revoked');
  time += MINUTE;
  serve(() => ({}));
  await until(() => denial() === null);
});
