import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedPage, FeedRequest } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import { type SignedSnapshotEnd, signStatement } from '@governance/shared/channel/signed-statement';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReplica, type LocalReplica } from '../../replica/replica.ts';
import {
  createTestControlPlane,
  type TestControlPlane,
  until,
} from '../../testing/test-control-plane.ts';
import { createTestFeed, createTestFeedSigner } from '../../testing/test-feed.ts';
import { readStoredFacts } from '../../testing/test-stored-facts.ts';
import { startHeartbeat } from '../link/heartbeat.ts';
import { type FeedFollower, type FeedFollowerOptions, startFeedFollower } from './feed-follower.ts';
import { createFreshness, type Freshness } from './freshness.ts';
import { createPlaneClock, type PlaneClock } from './plane-clock.ts';
import { loadRecognitions } from './recognitions.ts';

const tenantId = uuidv7();
const deploymentId = uuidv7();
const { publicKey } = generateKeyPairSync('ed25519');
const feedSigner = createTestFeedSigner();
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let dataDir: string;
let replica: LocalReplica;
let plane: TestControlPlane;
let clock: PlaneClock;
let freshness: Freshness;
let follower: FeedFollower | null;
let applied: (FeedEntry[] | 'snapshot')[];
let rewound: [number, number][];
let frozen: number;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'feed-'));
  replica = createReplica({ dataDir, onRefused: () => undefined });
  replica.addTenant(tenantId, deploymentId);
  plane = createTestControlPlane({ tenantId, deploymentId, publicKey, feedSigner });
  clock = createPlaneClock({ path: join(dataDir, 'clock'), now: Date.now });
  frozen = 0;
  freshness = createFreshness({
    clock,
    maxAgeMs: 60_000,
    keptMs: 0,
    onFrozen: () => frozen++,
  });
  follower = null;
  applied = [];
  rewound = [];
});

afterEach(async () => {
  await follower?.stop();
  clock.stop();
  replica.close();
  rmSync(dataDir, { recursive: true });
});

function follow(
  link: FeedFollowerOptions['link'] = plane.link,
  more: Pick<FeedFollowerOptions, 'tailLimits' | 'snapshotLimits' | 'onFailure'> = {},
  into: FeedFollowerOptions['replica'] = replica,
): FeedFollower {
  follower = startFeedFollower({
    tenantId,
    link,
    replica: into,
    freshness,
    recognitions: loadRecognitions({
      path: join(dataDir, 'recognitions', tenantId),
      ...{ deploymentId, keptMs: replica.place(tenantId).statementMs, log },
    }),
    keys: () => [feedSigner.public],
    backlog: () => 7,
    onApplied: (entries) => applied.push(entries),
    onRewound: (from, to) => rewound.push([from, to]),
    log,
    now: Date.now,
    backoffLimits: { first: 5, longest: 20 },
    ...more,
  });
  return follower;
}

const role = (name: string) => {
  const id = uuidv7();
  return { kind: 'role', key: id, value: { id, name, permissions: [], resource_scopes: [] } };
};

const facts = (count: number) => Array.from({ length: count }, (_, i) => role(`role ${i}`));

const stored = () => readStoredFacts(dataDir);

const expected = () =>
  plane.feed.valid().map(({ kind, key, value }) => `${kind} ${key} ${JSON.stringify(value)}`);

describe('the feed follower', () => {
  it('applies what is there, page by page, and what comes', async () => {
    plane.publish(...facts(1_200));
    follow();
    await until(() => replica.cursor(tenantId) === 1_200);
    plane.publish(role('one more'));
    await until(() => replica.cursor(tenantId) === 1_201);
    expect(
      applied.flat().map((entry) => (entry === 'snapshot' ? 0 : (entry as FeedEntry).seq)),
    ).toEqual(Array.from({ length: 1_201 }, (_, i) => i + 1));
    expect(replica.place(tenantId).digest).toBe(plane.feed.digestAt(1_201));
    expect(follower?.status()).toMatchObject({ cursor: 1_201, head: 1_201, failure: null });
    expect(freshness.status().state).toBe('fresh');
  });

  it('asks for an answer at once when it starts, and waits from then on', async () => {
    const asked: FeedRequest[] = [];
    follow({
      ...plane.link,
      readFeed: (request) => {
        asked.push(request);
        return plane.link.readFeed(request);
      },
    });
    await until(() => asked.length === 2);
    expect(asked.map(({ waitMs }) => waitMs)).toEqual([0, 25_000]);
    expect(asked[0]).toMatchObject({ cursor: 0, digest: '0'.repeat(64), backlog: 7 });
    expect(freshness.status().state).toBe('fresh');
  });

  it('reads at once on request, and leaves alone a read that does not wait', async () => {
    const asked: FeedRequest[] = [];
    const following = follow({
      ...plane.link,
      readFeed: (request) => {
        asked.push(request);
        return plane.link.readFeed(request);
      },
    });
    await until(() => asked.length === 2);
    expect(following.isCatchingUp()).toBe(false);
    const news = await Promise.all([following.askForNews('a'), following.askForNews(null)]);
    expect(news).toEqual(['current', 'current']);
    await until(() => asked.length === 4);
    expect(asked.map(({ waitMs }) => waitMs)).toEqual([0, 25_000, 0, 25_000]);
    expect(asked[1]?.signal.aborted).toBe(true);
    expect(asked[2]?.signal.aborted).toBe(false);
  });

  it('reports on news that nobody answered', async () => {
    plane.setAway(true);
    const following = follow();
    await until(() => following.status().failure !== null);
    expect(await following.askForNews(null)).toBe('unreachable');
    expect(following.isCatchingUp()).toBe(false);
  });

  it('catches up from its start on, as long as something comes', async () => {
    plane.publish(...facts(600));
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let pages = 0;
    const following = follow({
      ...plane.link,
      readFeed: async (request) => {
        if (pages++ === 1) await held;
        return plane.link.readFeed(request);
      },
    });
    expect(following.isCatchingUp()).toBe(true);
    await until(() => pages === 2);
    expect(following.isCatchingUp()).toBe(true);
    expect(replica.cursor(tenantId)).toBe(0);
    release();
    await until(() => replica.cursor(tenantId) === 600);
    expect(following.isCatchingUp()).toBe(false);
  });

  it('recovers from an outage by itself, at once when it is kicked', async () => {
    const following = follow();
    plane.setAway(true);
    await until(() => following.status().failure?.code === 'UNAVAILABLE');
    plane.setAway(false);
    plane.publish(role('later'));
    following.kick();
    await until(() => replica.cursor(tenantId) === 1);
    expect(following.status().failure).toBeNull();
  });

  it('keeps the time of the newest statement', async () => {
    follow();
    await until(() => replica.place(tenantId).statementMs > 0);
    const { statementMs } = replica.place(tenantId);
    expect(Date.now() - statementMs).toBeLessThan(15_000);
    await follower?.stop();
    replica.close();
    replica = createReplica({ dataDir, onRefused: () => undefined });
    replica.addTenant(tenantId, deploymentId);
    expect(replica.place(tenantId).statementMs).toBe(statementMs);
  });
});

describe('what is refused', () => {
  const signed = () => plane.feed.statement();
  const other = createTestFeedSigner('feed-1');
  const unknown = createTestFeedSigner('feed-9');
  const foreign = createTestFeed({ tenantId: uuidv7(), signer: feedSigner });
  type Spoil = (page: FeedPage) => FeedPage;
  const cases: [string, string, Spoil][] = [
    [
      'without a signature',
      'statement_unsigned',
      (page) => ({
        ...page,
        statement: { ...page.statement, signature: '' },
      }),
    ],
    [
      'signed by another key of the same name',
      'statement_bad_signature',
      (page) => ({
        ...page,
        statement: signStatement(other, page.statement.statement),
      }),
    ],
    [
      'signed by a key that is not known',
      'statement_unknown_key',
      (page) => ({
        ...page,
        statement: signStatement(unknown, page.statement.statement),
      }),
    ],
    [
      'for another tenant',
      'statement_wrong_tenant',
      (page) => ({
        ...page,
        statement: foreign.statement(),
      }),
    ],
    [
      'for another data plane of the tenant',
      'statement_wrong_deployment',
      (page) => ({
        ...page,
        recognition: plane.feed.recognition(uuidv7()),
      }),
    ],
    [
      'that recognises this one in the name of another tenant',
      'statement_wrong_tenant',
      (page) => ({
        ...page,
        recognition: foreign.recognition(deploymentId),
      }),
    ],
    [
      'that is replayed',
      'statement_stale',
      (page) => ({
        ...page,
        statement: plane.feed.statement(Date.now() - 4 * 60_000),
      }),
    ],
    [
      'whose entry was changed',
      'digest_mismatch',
      (page) => ({
        ...page,
        entries: page.entries.map((entry) => ({ ...entry, value: role('evil').value })),
      }),
    ],
    [
      'that leaves out an entry',
      'page_incomplete',
      (page) => ({
        ...page,
        entries: page.entries.slice(1),
      }),
    ],
    [
      'that claims to be further than its entries',
      'page_incomplete',
      (page) => ({
        ...page,
        cursor: page.cursor + 1,
        head: page.head + 1,
      }),
    ],
    ['that ends before what was read', 'feed_behind', (page) => ({ ...page, head: 1 })],
  ];

  it.each(cases)('a page %s: %s', async (_, code, spoil) => {
    const following = follow({
      ...plane.link,
      readFeed: async (request) => {
        const page = await plane.link.readFeed(request);
        return spoiling && page.entries.length > 0 ? spoil(page) : page;
      },
    });
    let spoiling = false;
    plane.publish(...facts(3));
    await until(() => replica.cursor(tenantId) === 3);
    const before = stored();
    spoiling = true;
    plane.publish(role('a'), role('b'));
    await until(() => following.status().failure !== null);
    expect(following.status().failure).toMatchObject({ stage: 'verify', code });
    expect(replica.cursor(tenantId)).toBe(3);
    expect(stored()).toEqual(before);
    spoiling = false;
    following.kick();
    await until(() => replica.cursor(tenantId) === 5);
    expect(following.status().failure).toBeNull();
    expect(stored()).toEqual(expected());
  });

  it('what pages bring before their signed place counts once that is reached', async () => {
    const forge = (entry: FeedEntry) => ({ ...entry, value: role('evil').value });
    let spoiling = false;
    const answers: number[] = [];
    const following = follow({
      ...plane.link,
      readFeed: async (request) => {
        const page = await plane.link.readFeed({ ...request, limit: spoiling ? 1 : 500 });
        answers.push(page.cursor);
        return spoiling ? { ...page, entries: page.entries.map(forge) } : page;
      },
    });
    plane.publish(...facts(3));
    await until(() => replica.cursor(tenantId) === 3);
    const before = stored();
    spoiling = true;
    following.kick();
    plane.publish(role('a'), role('b'));
    await until(() => following.status().failure !== null);
    expect(answers).toContain(4);
    expect(following.status().failure).toMatchObject({ code: 'digest_mismatch' });
    expect(replica.cursor(tenantId)).toBe(3);
    expect(stored()).toEqual(before);
    spoiling = false;
    following.kick();
    await until(() => replica.cursor(tenantId) === 5);
    expect(stored()).toEqual(expected());
    expect(plane.snapshots()).toBe(0);
  });

  it('a reader that never reaches what is signed is as far as the statements it passed', async () => {
    plane.publish(...facts(4));
    let meanwhile = 0;
    follow({
      ...plane.link,
      readFeed: async (request) => {
        const page = await plane.link.readFeed({ ...request, limit: 2 });
        if (plane.feed.head() === 60) return page;
        meanwhile = replica.cursor(tenantId);
        plane.publish(role('more'), role('and more'));
        return page;
      },
    });
    await until(() => replica.cursor(tenantId) === 60);
    expect(meanwhile).toBeGreaterThan(40);
    expect(stored()).toEqual(expected());
  });

  it('what could not be stored is read again, also where a kick came in between', async () => {
    plane.publish(...facts(1_200));
    const apply = replica.apply.bind(replica);
    let parts = 0;
    const faulty = {
      ...replica,
      apply: (...given: Parameters<LocalReplica['apply']>) => {
        if (++parts === 2) throw new Error('the disk is full');
        apply(...given);
        if (parts === 1) queueMicrotask(() => following.kick());
      },
    };
    let reads = 0;
    const link = {
      ...plane.link,
      readFeed: (request: FeedRequest) => {
        // Something waits for its signature when the first parts are stored.
        if (++reads === 2) plane.publish(...facts(600));
        return plane.link.readFeed(request);
      },
    };
    const following = follow(link, undefined, faulty);
    await until(() => replica.cursor(tenantId) === 1_800);
    expect(replica.place(tenantId).digest).toBe(plane.feed.digestAt(1_800));
    expect(stored()).toEqual(expected());
    expect(plane.snapshots()).toBe(0);
  });

  it('knows that the disk did not take what has arrived, until it has', async () => {
    plane.publish(role('first'));
    let isFull = false;
    follow(
      plane.link,
      {},
      {
        ...replica,
        apply: (...given: Parameters<LocalReplica['apply']>) => {
          if (isFull) throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
          replica.apply(...given);
        },
      },
    );
    await until(() => replica.cursor(tenantId) === 1);
    expect(follower?.isUnstored()).toBe(false);
    isFull = true;
    plane.publish(role('second'));
    await until(() => follower?.isUnstored() === true);
    expect(follower?.status().failure).toMatchObject({ stage: 'apply', code: 'SQLITE_FULL' });
    isFull = false;
    await until(() => replica.cursor(tenantId) === 2);
    await until(() => follower?.isUnstored() === false);
  });

  it('what the control plane does not know of is refused, and read again', async () => {
    let spoiling = true;
    const link = {
      ...plane.link,
      readFeed: async (request: FeedRequest) => {
        const page = await plane.link.readFeed({ ...request, limit: 2 });
        const forged = page.entries.map((entry) => ({ ...entry, value: role('evil').value }));
        const isFirst = spoiling && request.cursor === 0;
        spoiling = false;
        return isFirst ? { ...page, entries: forged } : page;
      },
    };
    plane.publish(...facts(5));
    const failures: string[] = [];
    follow(link, { onFailure: ({ code }) => failures.push(code) });
    await until(() => replica.cursor(tenantId) === 5);
    expect(failures).toEqual(['digest_mismatch']);
    expect(stored()).toEqual(expected());
    expect(plane.snapshots()).toBe(0);
  });

  it('a compaction while it catches up leads to a snapshot, without an alarm', async () => {
    plane.publish(...facts(1_200));
    let reads = 0;
    const link = {
      ...plane.link,
      readFeed: (request: FeedRequest) => {
        // What the first page brought waits for its signature.
        if (++reads === 2) plane.feed.compact(800);
        return plane.link.readFeed(request);
      },
    };
    const failures: string[] = [];
    follow(link, { onFailure: ({ code }) => failures.push(code) });
    await until(() => replica.cursor(tenantId) === 1_200);
    expect(failures).toEqual([]);
    expect(plane.snapshots()).toBe(1);
    expect(stored()).toEqual(expected());
  });

  it('more than may wait for its signature is read as a snapshot, which is signed', async () => {
    plane.publish(...facts(1_200));
    follow(plane.link, { tailLimits: { entries: 800, bytes: 1e6 } });
    await until(() => replica.cursor(tenantId) === 1_200);
    expect(plane.snapshots()).toBe(1);
    expect(stored()).toEqual(expected());
  });

  it('pages and snapshots for another data plane keep this one fresh no longer', async () => {
    let later = 0;
    let recognised = true;
    const time = Date.now() - 60_000;
    const link = {
      ...plane.link,
      readFeed: async (request: FeedRequest) => ({
        ...(await plane.link.readFeed({ ...request, waitMs: 1 })),
        statement: plane.feed.statement(time + later),
        ...(recognised && { recognition: plane.feed.recognition(deploymentId, time) }),
      }),
    };
    follow(link);
    await until(() => replica.place(tenantId).statementMs === time);
    recognised = false;
    later = 30_000;
    // As those that another one is given: the facts are the same.
    plane.publish(...facts(3));
    await until(() => replica.cursor(tenantId) === 3);
    expect(replica.place(tenantId).statementMs).toBe(time);
    plane.publish(role('one more'));
    plane.feed.compact();
    await until(() => plane.snapshots() === 1 && replica.cursor(tenantId) === 4);
    expect(replica.place(tenantId).statementMs).toBe(time);
    expect(freshness.status().statement_time).toBe(new Date(time).toISOString());
  });

  it('a freeze: answers without a newer statement raise the alarm once', async () => {
    const old = plane.feed.statement(Date.now() - 5 * 60_000);
    follow({
      ...plane.link,
      readFeed: async (request) => ({
        ...(await plane.link.readFeed({ ...request, waitMs: 1 })),
        statement: old,
      }),
    });
    await until(() => frozen === 1);
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(frozen).toBe(1);
    expect(freshness.status()).toMatchObject({ state: 'stale' });
    expect(signed().statement.feed_seq).toBe(0);
  });
});

describe('a snapshot', () => {
  const compact = () => {
    plane.publish(...facts(350));
    const [first, second] = plane.feed.valid();
    if (!first || !second) throw new Error('no facts');
    plane.publish({ kind: first.kind, key: first.key, value: null });
    plane.publish({ kind: second.kind, key: second.key, value: second.value });
    plane.feed.compact();
  };

  it('replaces everything when the feed cannot be continued', async () => {
    plane.publish(role('gone'));
    follow();
    await until(() => replica.cursor(tenantId) === 1);
    plane.setAway(true);
    await until(() => follower?.status().failure !== null);
    plane.publish({ kind: 'role', key: plane.feed.valid()[0]?.key ?? '', value: null });
    compact();
    plane.setAway(false);
    follower?.kick();
    await until(() => replica.cursor(tenantId) === plane.feed.head());
    expect(stored()).toEqual(expected());
    expect(replica.place(tenantId).digest).toBe(plane.feed.digestAt(plane.feed.head()));
    expect(applied.at(-1)).toBe('snapshot');
    expect(rewound).toEqual([]);
    expect(plane.snapshots()).toBe(1);
    plane.publish(role('after'));
    await until(() => replica.cursor(tenantId) === plane.feed.head());
    expect(plane.snapshots()).toBe(1);
    expect(stored()).toEqual(expected());
  });

  it('shows a control plane that went back in time, also where it reused numbers', async () => {
    plane.publish(...facts(20));
    follow();
    await until(() => replica.cursor(tenantId) === 20);
    plane.feed.rewind(12);
    plane.announce();
    await until(() => replica.cursor(tenantId) === 12);
    expect(rewound).toEqual([[20, 12]]);
    expect(stored()).toEqual(expected());
    plane.feed.rewind(6);
    plane.publish(...facts(30));
    await until(() => replica.cursor(tenantId) === 36);
    expect(stored()).toEqual(expected());
  });

  it.each([
    ['entries', { entries: 349, bytes: 1e9 }],
    ['bytes', { entries: 1e9, bytes: 10_000 }],
  ])('with too many %s is refused, and what was known stays', async (_, snapshotLimits) => {
    plane.publish(role('before'));
    follow(plane.link, { snapshotLimits });
    await until(() => replica.cursor(tenantId) === 1);
    const before = stored();
    plane.setAway(true);
    await until(() => follower?.status().failure !== null);
    compact();
    plane.setAway(false);
    follower?.kick();
    await until(() => follower?.status().failure?.code === 'snapshot_too_large');
    expect(stored()).toEqual(before);
    expect(replica.cursor(tenantId)).toBe(1);
  });

  type Pages = AsyncGenerator<FeedEntry[], SignedSnapshotEnd, undefined>;
  async function* edit(
    pages: Pages,
    page: (entries: FeedEntry[]) => FeedEntry[],
    end: (end: SignedSnapshotEnd) => SignedSnapshotEnd = (same) => same,
  ): Pages {
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) yield page(next.value);
    return end(next.value);
  }
  const cases: [string, string, (pages: Pages) => Pages][] = [
    ['cut off', 'snapshot_incomplete', (pages) => edit(pages, (entries) => entries.slice(0, 50))],
    [
      'with a changed entry',
      'snapshot_digest',
      (pages) => edit(pages, (entries) => entries.map((one) => ({ ...one, value: { x: 1 } }))),
    ],
    [
      'with a tombstone',
      'snapshot_malformed',
      (pages) => edit(pages, (entries) => entries.map((one) => ({ ...one, value: null }))),
    ],
    [
      'with an entry twice',
      'snapshot_malformed',
      (pages) => edit(pages, (entries) => [...entries, ...entries]),
    ],
    [
      'whose end has no signature',
      'statement_unsigned',
      (pages) =>
        edit(
          pages,
          (same) => same,
          (end) => ({ ...end, signature: '' }),
        ),
    ],
    [
      'whose end another key signed',
      'statement_bad_signature',
      (pages) =>
        edit(
          pages,
          (same) => same,
          (end) => signStatement(createTestFeedSigner(), end.statement),
        ),
    ],
    [
      'whose end is for another tenant',
      'statement_wrong_tenant',
      (pages) =>
        edit(
          pages,
          (same) => same,
          (end) => signStatement(feedSigner, { ...end.statement, tenant_id: uuidv7() }),
        ),
    ],
    [
      'that is an old one',
      'statement_stale',
      (pages) =>
        edit(
          pages,
          (same) => same,
          (end) =>
            signStatement(feedSigner, {
              ...end.statement,
              time: new Date(Date.now() - 600_000).toISOString(),
            }),
        ),
    ],
  ];

  it.each(cases)('%s changes nothing: %s', async (_, code, spoil) => {
    let spoiling = true;
    const following = follow({
      ...plane.link,
      readSnapshot: (request) => {
        const pages = plane.link.readSnapshot(request);
        return spoiling ? spoil(pages) : pages;
      },
    });
    plane.publish(...facts(3));
    await until(() => replica.cursor(tenantId) === 3);
    const before = stored();
    compact();
    plane.announce();
    await until(() => following.status().failure !== null);
    expect(following.status().failure?.code).toBe(code);
    expect(stored()).toEqual(before);
    expect(replica.cursor(tenantId)).toBe(3);
    spoiling = false;
    following.kick();
    await until(() => replica.cursor(tenantId) === plane.feed.head());
    expect(stored()).toEqual(expected());
  });

  it('that the control plane does not continue from is not requested without a pause', async () => {
    const following = follow({
      ...plane.link,
      readFeed: async () => {
        throw new AppError('FEED_RESET');
      },
    });
    await until(() => following.status().failure?.code === 'snapshot_refused_again');
    const asked = plane.snapshots();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(plane.snapshots() - asked).toBeLessThan(15);
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
