/** The generation of the control plane's clock: what a later one lets go of, and what is refused. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FeedPage } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReplica, type LocalReplica, REPLICA_FILE } from '../../replica/replica.ts';
import { createTestFeed, createTestFeedSigner } from '../../testing/test-feed.ts';
import { verifyStatements } from './feed-statements.ts';
import { createFreshness, type Freshness } from './freshness.ts';
import { createPlaneClock, type PlaneClock } from './plane-clock.ts';
import { loadRecognitions, type Recognitions } from './recognitions.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const tenantId = uuidv7();
const deploymentId = uuidv7();
const signer = createTestFeedSigner();
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let feed: ReturnType<typeof createTestFeed>;
let dataDir: string;
/** What both planes' clocks show, and what really passed. */
let wall: number;
let passed: number;
let replica: LocalReplica;
let clock: PlaneClock;
let freshness: Freshness;
let recognitions: Recognitions;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'generation-'));
  wall = START;
  passed = 0;
  feed = createTestFeed({ tenantId, signer, now: () => wall });
  start();
});

afterEach(() => {
  end();
  rmSync(dataDir, { recursive: true });
});

function start(): void {
  replica = createReplica({ dataDir, onRefused: () => undefined });
  replica.addTenant(tenantId, deploymentId);
  clock = createPlaneClock({
    ...{ path: join(dataDir, 'clock'), now: () => wall, elapsed: () => passed },
    keepEveryMs: DAY,
  });
  const { statementMs: keptMs } = replica.place(tenantId);
  freshness = createFreshness({
    ...{ clock, maxAgeMs: DAY, keptMs, onFrozen: () => undefined },
    keptGeneration: replica.clockGeneration(tenantId),
    keepGeneration: (generation, ms) => replica.beginClock(tenantId, generation, ms),
  });
  const path = join(dataDir, 'recognitions', tenantId);
  recognitions = loadRecognitions({ path, deploymentId, keptMs, log });
}

function end(): void {
  clock.stop();
  replica.close();
}

function restart(): void {
  end();
  start();
}

function pass(ms: number): void {
  wall += ms;
  passed += ms;
}

/** A page as of now: with the recognition too where `isOwn`. */
function aPage({ isOwn = false } = {}): FeedPage {
  const page = feed.page({ cursor: 0, digest: feed.digestAt(0), limit: 1 });
  if (!isOwn) return page;
  const recognition = feed.recognition(deploymentId);
  const { clock: recognition_clock } = feed.clockOf(recognition.statement);
  return { ...page, recognition, recognition_clock };
}

/** As the follower takes it. @returns the time that it counts as */
function take(page: FeedPage): number {
  const trust = () => ({ tenantId, keys: [signer.public] });
  const { stated, counted } = verifyStatements({ freshness, recognitions, trust }, page);
  const newest = freshness.verified(stated, 0, 0, counted);
  if (newest !== null) replica.keepStatement(tenantId, newest);
  return stated;
}

/** Both clocks are two days ahead until that is believed. @returns pages of then */
function beAhead(): FeedPage[] {
  take(aPage());
  wall += 2 * DAY;
  const pages = Array.from({ length: 12 }, () => {
    pass(MINUTE);
    const page = aPage();
    take(page);
    return page;
  });
  wall -= 2 * DAY;
  expect(clock.read()).toBe(wall + 2 * DAY);
  return pages;
}

const refused = (page: FeedPage) => expect(() => take(page));

describe('a later generation', () => {
  it('lets go of the time of before, durably', () => {
    beAhead();
    refused(aPage()).toThrow(/came after one of/);
    feed.acceptClock(7);
    expect(take(aPage())).toBe(wall);
    expect([clock.read(), replica.place(tenantId).statementMs]).toEqual([wall, wall]);
    expect(freshness.status()).toMatchObject({ state: 'fresh', age_seconds: 0 });
    pass(MINUTE);
    restart();
    expect([replica.clockGeneration(tenantId), clock.read()]).toEqual([7, wall]);
    expect(take(aPage())).toBe(wall);
  });

  it('refuses what was signed by the clocks before, over a restart too', () => {
    const early = aPage();
    const ahead = beAhead();
    feed.acceptClock(7);
    take(aPage());
    for (const page of [early, ...ahead]) {
      refused(page).toThrow('a statement of the clock 0 came after one of 7');
    }
    restart();
    for (const page of [early, ...ahead]) refused(page).toThrow('came after one of 7');
    feed.acceptClock(8);
    take(aPage());
    feed.acceptClock(7);
    refused(aPage()).toThrow('a statement of the clock 7 came after one of 8');
  });

  it('is that of its statement alone', () => {
    const [ahead] = beAhead();
    feed.acceptClock(7);
    const now = aPage();
    const spliced = { ...ahead, clock: now.clock } as FeedPage;
    refused(spliced).toThrow('the clock is that of another statement');
    refused({
      ...now,
      clock: feed.clockOf(now.statement.statement, 6).clock,
    } as FeedPage).not.toThrow();
    const { clock: good } = aPage();
    const forged = good && { ...good, statement: { ...good.statement, generation: 9 } };
    refused({ ...now, clock: forged }).toThrow('the signature of the statement is wrong');
    expect(take(now)).toBe(wall);
  });

  it('makes nothing younger: the age is what it was until its statement counts', () => {
    beAhead();
    pass(DAY / 2);
    feed.acceptClock(7);
    const page = aPage();
    freshness.enter(7, wall);
    const age_seconds = 12 * 60 * 60;
    expect(freshness.status()).toMatchObject({ age_seconds });
    restart();
    expect(freshness.status()).toMatchObject({ age_seconds });
    pass(DAY / 2);
    expect(freshness.findDenial()).toBe(null);
    pass(MINUTE);
    expect(freshness.findDenial()).toMatch('its rules are too old');
    // A page of the accepted clock that was held back is as old as it is.
    take(page);
    expect(freshness.status()).toMatchObject({ age_seconds: age_seconds + 60 });
    take(aPage());
    expect(freshness.findDenial()).toBe(null);
  });

  it('gives other tenants no time while theirs has not come', () => {
    beAhead();
    const other = createFreshness({
      ...{ clock, maxAgeMs: DAY, keptMs: clock.read(), onFrozen: () => undefined },
    });
    // One that was believed before, and counts after.
    const stated = other.believe(clock.read());
    feed.acceptClock(7);
    take(aPage());
    other.verified(stated, 0, 0);
    expect(other.status()).toMatchObject({ age_seconds: 0 });
    expect(clock.read()).toBe(wall);
    pass(DAY + MINUTE);
    expect(other.findDenial()).toMatch('its rules are too old');
  });

  it('permits a tenant nothing whose kept time is of before, once another has put the clock right', () => {
    beAhead();
    const keptMs = clock.read();
    feed.acceptClock(7);
    take(aPage());
    pass(MINUTE);
    restart();
    const other = createFreshness({ clock, maxAgeMs: DAY, keptMs, onFrozen: () => undefined });
    expect(clock.read()).toBeGreaterThanOrEqual(keptMs);
    take(aPage());
    expect(clock.read()).toBe(wall);
    expect(other.findDenial()).toMatch('its rules are too old');
    expect(other.status().state).toBe('stale');
    expect(other.enter(7, wall)).toBe(true);
    expect(other.findDenial()).toMatch('its rules are too old');
    expect(other.verified(other.believe(wall), 0, 0)).toBe(wall);
    expect(other.findDenial()).toBeNull();
  });

  it('recognises nobody by what was signed before', () => {
    take(aPage({ isOwn: true }));
    wall += 2 * DAY;
    const before = Array.from({ length: 12 }, () => {
      pass(MINUTE);
      const page = aPage({ isOwn: true });
      take(page);
      return page;
    });
    wall -= 2 * DAY;
    feed.acceptClock(7);
    const page = aPage();
    refused({ ...page, recognition: before.at(-1)?.recognition }).toThrow(
      'are of different clocks',
    );
    // Without one it counts for nothing here.
    take(aPage());
    expect(freshness.status()).toMatchObject({ age_seconds: 0 });
    pass(10 * MINUTE);
    take(aPage());
    expect(freshness.status()).toMatchObject({ age_seconds: 600 });
    take(aPage({ isOwn: true }));
    expect(freshness.status()).toMatchObject({ age_seconds: 0 });
  });

  it('whose recognition is of a still later one waits for the next page', () => {
    const page = aPage();
    feed.acceptClock(7);
    const { recognition, recognition_clock } = aPage({ isOwn: true });
    refused({ ...page, recognition, recognition_clock }).toThrow('are of different clocks');
    expect(replica.clockGeneration(tenantId)).toBe(0);
  });
});

describe('where statement and machine disagree', () => {
  it('a machine that is still ahead denies, and takes changes', () => {
    beAhead();
    feed.acceptClock(7);
    const right = aPage();
    wall += 2 * DAY;
    const stated = take(right);
    expect(stated).toBe(wall - 2 * DAY);
    expect(freshness.findDenial()).toMatch('its rules are too old');
    restart();
    wall -= 2 * DAY;
    pass(MINUTE);
    take(aPage());
    expect(freshness.findDenial()).toBe(null);
  });

  it('a replica of the control plane that is still ahead is not believed at once', () => {
    beAhead();
    feed.acceptClock(7);
    wall += 2 * DAY;
    const ahead = aPage();
    wall -= 2 * DAY;
    take(ahead);
    expect(freshness.findDenial()).toMatch('its rules are too old');
    pass(MINUTE);
    expect(take(aPage())).toBe(wall);
    expect(freshness.findDenial()).toBe(null);
    expect(clock.read()).toBe(wall);
  });

  it('a machine that was set back revives no end', () => {
    take(aPage());
    feed.acceptClock(7);
    const page = aPage();
    pass(3 * DAY);
    wall -= 30 * DAY;
    take(page);
    expect(clock.read()).toBeGreaterThanOrEqual(START);
  });
});

it('is begun again after a crash between what is kept of it', () => {
  beAhead();
  feed.acceptClock(7);
  take(aPage());
  end();
  // The clock's file is that of before.
  writeFileSync(join(dataDir, 'clock'), `${wall + 2 * DAY}\n`);
  start();
  expect(freshness.findDenial()).toMatch('its rules are too old');
  pass(MINUTE);
  take(aPage());
  expect(freshness.findDenial()).toBe(null);
});

it('that cannot be kept changes nothing', () => {
  beAhead();
  const before = clock.read();
  const failing = createFreshness({
    ...{ clock, maxAgeMs: DAY, keptMs: before, onFrozen: () => undefined },
    keepGeneration: () => {
      throw new Error('the disk is full');
    },
  });
  for (let times = 0; times < 2; times++) {
    expect(() => failing.enter(7, wall)).toThrow('the disk is full');
  }
  expect(clock.read()).toBe(before);
});

describe('the replica', () => {
  it('discards a tenant whose generation is damaged', () => {
    replica.beginClock(tenantId, 7, wall);
    end();
    const db = new Database(join(dataDir, REPLICA_FILE));
    db.exec('UPDATE clock_generations SET generation = 3');
    db.close();
    start();
    expect(replica.clockGeneration(tenantId)).toBe(0);
    expect(replica.place(tenantId).statementMs).toBe(0);
  });

  it('forgets it with the tenant', () => {
    replica.beginClock(tenantId, 7, wall);
    replica.removeTenant(tenantId);
    replica.addTenant(tenantId, deploymentId);
    expect(replica.clockGeneration(tenantId)).toBe(0);
  });

  it('takes a file of the version before, which takes its own', () => {
    end();
    const db = new Database(join(dataDir, REPLICA_FILE));
    db.exec('DROP TABLE clock_generations');
    db.exec(`UPDATE tenants SET cursor = cursor`);
    db.close();
    start();
    expect(replica.clockGeneration(tenantId)).toBe(0);
    replica.beginClock(tenantId, 7, wall);
    end();
    // That version writes five columns.
    const older = new Database(join(dataDir, REPLICA_FILE));
    expect(older.pragma('user_version', { simple: true })).toBe(3);
    expect(older.prepare('SELECT * FROM tenants').columns()).toHaveLength(5);
    older.close();
    start();
    expect(replica.clockGeneration(tenantId)).toBe(7);
  });
});
