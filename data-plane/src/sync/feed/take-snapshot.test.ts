import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createReplica, type LocalReplica } from '../../replica/replica.ts';
import { createTestFeed, createTestFeedSigner } from '../../testing/test-feed.ts';
import { FeedProgress } from './feed-progress.ts';
import { createFreshness } from './freshness.ts';
import { createPlaneClock } from './plane-clock.ts';
import { loadRecognitions } from './recognitions.ts';
import { takeSnapshot } from './take-snapshot.ts';

const HOUR = 3_600_000;
const tenantId = uuidv7();
const deploymentId = uuidv7();
const signer = createTestFeedSigner();
const feed = createTestFeed({ tenantId, signer });
let dataDir: string;
let replica: LocalReplica;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'snapshot-'));
  replica = createReplica({ dataDir, onRefused: () => undefined });
  replica.addTenant(tenantId, deploymentId);
});

afterEach(() => {
  replica.close();
  rmSync(dataDir, { recursive: true });
});

/** A data plane that was away for an hour meets the end of the feed that it knew. */
async function returnAfterAnHour({ isRecognised }: { isRecognised: boolean }) {
  const keptMs = Date.now() - HOUR;
  const clock = createPlaneClock({ path: join(dataDir, 'clock'), now: Date.now });
  const frozen: number[] = [];
  const freshness = createFreshness({
    ...{ clock, maxAgeMs: 24 * HOUR, keptMs },
    onFrozen: (age) => frozen.push(age),
  });
  const recognitions = loadRecognitions({
    path: join(dataDir, 'recognitions', tenantId),
    ...{ deploymentId, keptMs },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  if (isRecognised) recognitions.note(feed.recognition(deploymentId, keptMs).statement, keptMs);
  await takeSnapshot({
    ...{ tenantId, replica, freshness, recognitions },
    link: { readSnapshot: () => feed.snapshot() },
    progress: new FeedProgress(0, Date.now),
    trust: () => ({ tenantId, keys: [signer.public] }),
    signal: new AbortController().signal,
  });
  clock.stop();
  return { freshness, frozen };
}

it('says nothing of withheld changes where it cannot know: the page behind it recognises the data plane', async () => {
  const { freshness, frozen } = await returnAfterAnHour({ isRecognised: true });
  expect(frozen).toEqual([]);
  expect(freshness.status().state).toBe('stale');
  // Where that page does not come, or recognises nobody, it is told.
  freshness.answered();
  expect(frozen).toEqual([3_600]);
});

it('counts as it is where no control plane ever recognised the data plane', async () => {
  const { freshness, frozen } = await returnAfterAnHour({ isRecognised: false });
  expect(frozen).toEqual([]);
  expect(freshness.status().state).toBe('fresh');
});
