import { setTimeout as sleep } from 'node:timers/promises';
import type { FeedEntry } from '@governance/shared/channel/facts';
import { describe, expect, it } from 'vitest';
import { createProgressWaiters } from '../../storage/progress-waiters.ts';
import { createBundleNews } from './bundle-news.ts';
import type { BundleStatus } from './bundle-sync.ts';

const GRACE_MS = 50;
const NO_FAILURE = { failure: null } as BundleStatus;
const FAILURE = { stage: 'pull', code: 'UNAVAILABLE', message: 'away', at: '' };

/** The loop of a bundle that is at revision 1. */
function aBundle(status: BundleStatus = NO_FAILURE) {
  let revision = 1;
  let kicks = 0;
  const waiters = createProgressWaiters(() => revision);
  const hear = createBundleNews(
    {
      kick: () => {
        kicks++;
      },
      waitFor: (wanted, ms) => waiters.wait('tenant', wanted, ms),
      status: () => status,
    },
    GRACE_MS,
  );
  const activate = (next: number) => {
    revision = next;
    waiters.reached('tenant', next);
  };
  return { hear, activate, kicks: () => kicks };
}

const announced = (revision: number): FeedEntry => ({
  seq: revision,
  kind: 'bundle',
  key: 'current',
  value: { revision, digest: 'ab'.repeat(32) },
});

describe('createBundleNews', () => {
  it('leaves a poll alone that brings the bundle itself', async () => {
    const { hear, activate, kicks } = aBundle();
    hear([announced(2)]);
    expect(kicks()).toBe(0);
    activate(2);
    hear([announced(2)]);
    await sleep(GRACE_MS * 2);
    expect(kicks()).toBe(0);
  });

  it('restarts a poll that does not bring the newest one', async () => {
    const { hear, activate, kicks } = aBundle();
    hear([announced(2), announced(3)]);
    activate(2);
    await expect.poll(kicks).toBe(1);
  });

  it('waits for nothing where the poll fails, or all was replaced', () => {
    const failing = aBundle({ ...NO_FAILURE, failure: FAILURE });
    failing.hear([announced(2)]);
    expect(failing.kicks()).toBe(1);
    const replaced = aBundle();
    replaced.hear('snapshot');
    expect(replaced.kicks()).toBe(1);
    const unreadable = aBundle();
    unreadable.hear([{ ...announced(2), value: null }]);
    expect(unreadable.kicks()).toBe(1);
  });

  it('is not about other entries', async () => {
    const { hear, kicks } = aBundle();
    hear([{ seq: 2, kind: 'agent', key: 'a', value: null }]);
    await sleep(GRACE_MS * 2);
    expect(kicks()).toBe(0);
  });
});
