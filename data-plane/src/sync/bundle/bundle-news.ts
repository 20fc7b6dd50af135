/**
 * What the feed says of new bundles. The bundle's own long poll is answered at the same moment, so
 * it is begun anew only where it fails, or does not bring what was announced: to begin it anew at
 * once would throw away the answer that is on its way, at every change and by every data plane.
 */
import { FACTS, type FeedEntry } from '@governance/shared/facts';
import type { BundleSync } from './bundle-sync.ts';

/** How long a poll that seems well may take to bring what was announced. */
const GRACE_MS = 1_000;

/**
 * @param graceMs how long a bundle that was announced is waited for
 * @returns takes what was applied of the feed
 */
export function createBundleNews(
  bundle: Pick<BundleSync, 'kick' | 'waitFor' | 'status'>,
  graceMs = GRACE_MS,
): (entries: FeedEntry[] | 'snapshot') => void {
  return (entries) => {
    // A snapshot may be of a control plane that was restored: the poll may know another one.
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
