import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedEntry } from '@governance/shared/facts';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReplica, type LocalReplica } from '../replica/replica.ts';
import { type FeedFollower, startFeedFollower } from './feed-follower.ts';
import { startHeartbeat } from './heartbeat.ts';
import { createTestControlPlane, type TestControlPlane, until } from './test-control-plane.ts';

const tenantId = uuidv7();
const deploymentId = uuidv7();
const { publicKey } = generateKeyPairSync('ed25519');
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let dataDir: string;
let replica: LocalReplica;
let plane: TestControlPlane;
let follower: FeedFollower | null;
let applied: FeedEntry[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'feed-'));
  replica = createReplica({ dataDir, onRefused: () => undefined });
  replica.addTenant(tenantId, deploymentId);
  plane = createTestControlPlane({ tenantId, deploymentId, publicKey });
  follower = null;
  applied = [];
});

afterEach(async () => {
  await follower?.stop();
  replica.close();
  rmSync(dataDir, { recursive: true });
});

function follow(link = plane.link): FeedFollower {
  follower = startFeedFollower({
    tenantId,
    link,
    replica,
    onApplied: (entries) => applied.push(...entries),
    log,
    now: Date.now,
  });
  return follower;
}

const role = (name: string) => {
  const id = uuidv7();
  return { kind: 'role', key: id, value: { id, name, permissions: [], resource_scopes: [] } };
};

describe('the feed follower', () => {
  it('applies what is there, page by page, and what comes', async () => {
    plane.publish(...Array.from({ length: 1_200 }, (_, i) => role(`role ${i}`)));
    follow();
    await until(() => replica.cursor(tenantId) === 1_200);
    plane.publish(role('one more'));
    await until(() => replica.cursor(tenantId) === 1_201);
    expect(applied.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_201 }, (_, i) => i + 1));
    expect(follower?.status()).toMatchObject({ cursor: 1_201, head: 1_201, failure: null });
  });

  it('goes on after an outage by itself, at once when it is kicked', async () => {
    const following = follow();
    plane.setAway(true);
    await until(() => following.status().failure?.code === 'UNAVAILABLE');
    plane.setAway(false);
    plane.publish(role('later'));
    following.kick();
    await until(() => replica.cursor(tenantId) === 1);
    expect(following.status().failure).toBeNull();
  });

  it('keeps what it knows when the control plane went back in time, and says so', async () => {
    replica.apply(tenantId, [], 50);
    const backInTime = {
      ...plane.link,
      readFeed: async () => ({
        entries: [],
        cursor: 50,
        head: 7,
        statement: plane.feed.statement(),
      }),
    };
    const following = follow(backInTime);
    await until(() => following.status().failure !== null);
    expect(following.status().failure?.message).toContain('ends at 7');
    expect(replica.cursor(tenantId)).toBe(50);
  });

  it('stands still before a page that it cannot apply', async () => {
    let page = [{ seq: -1, kind: 'role', key: 'x', value: null }];
    const link = {
      ...plane.link,
      readFeed: async () => ({
        entries: page,
        cursor: 1,
        head: 1,
        statement: plane.feed.statement(),
      }),
    };
    const following = follow(link);
    await until(() => following.status().failure?.stage === 'apply');
    expect(replica.cursor(tenantId)).toBe(0);
    page = [{ seq: 1, kind: 'role', key: 'x', value: null }];
    following.kick();
    await until(() => replica.cursor(tenantId) === 1);
  });
});

describe('the heartbeat', () => {
  const body = () => ({
    deployment_id: deploymentId,
    active_agent_count: 1,
    proxy_rpm_1m: 2,
    escalations_pending: 0,
    opa_bundle_version: '3',
    uptime_seconds: 4,
  });

  it('beats at the start and at its interval, one at a time, and outlives a lost one', async () => {
    const beat = startHeartbeat({ link: plane.link, body, log, now: Date.now, intervalMs: 5 });
    await until(() => plane.heartbeats.length >= 2);
    expect(plane.heartbeats[0]).toEqual(body());
    plane.setAway(true);
    await until(() => beat.status().failure !== null);
    plane.setAway(false);
    await until(() => beat.status().failure === null);
    beat.stop();

    let hanging = 0;
    const hung = { heartbeat: () => new Promise<never>(() => hanging++) };
    const stuck = startHeartbeat({ link: hung, body, log, now: Date.now, intervalMs: 1 });
    await new Promise((resolve) => setTimeout(resolve, 30));
    stuck.stop();
    expect(hanging).toBe(1);
  });
});
