/**
 * Uses the feed's news of bundles. The bundle's own long poll is answered at the same moment, so it
 * is restarted only if it fails, or does not bring what was announced: restarting it at once would
 * throw away the answer in flight, at every change and by every data plane.
 */
import { FACTS, type FeedEntry } from '@governance/shared/channel/facts';
import type { BundleSync } from './bundle-sync.ts';

/** How long a healthy poll may take to bring what was announced. */
const GRACE_MS = 1_000;

/**
 * @param graceMs how long an announced bundle is waited for
 * @returns takes what was applied of the feed
 */
export function createBundleNews(
  bundle: Pick<BundleSync, 'kick' | 'waitFor' | 'status'>,
  graceMs = GRACE_MS,
): (entries: FeedEntry[] | 'snapshot') => void {
  return (entries) => {
    // A snapshot may come from a restored control plane: the poll may know a different revision.
    if (entries === 'snapshot') return bundle.kick();
    const announced = entries.filter(({ kind }) => kind === 'bundle');
    if (announced.length === 0) return;
    const facts = announced.map(({ value }) => FACTS.bundle.safeParse(value));
    const isKnown = facts.every(({ success }) => success);
    if (!isKnown || bundle.status().failure !== null) return bundle.kick();
    const newest = Math.max(...facts.map(({ data }) => data?.revision ?? 0));
    void bundle.waitFor(newest, graceMs).then((isThere) => {
      if (!isThere) bundle.kick();
    });
  };
}
