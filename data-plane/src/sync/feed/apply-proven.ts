import { setImmediate } from 'node:timers/promises';
import type { FeedEntry } from '@governance/shared/channel/facts';
import type { LocalReplica } from '../../replica/replica.ts';
import type { FeedProgress } from './feed-progress.ts';

/** Entries that are applied at once: the thread serves calls in between. */
const PART = 500;

/**
 * Applies what is proven, part by part: what waited for its proof may be long.
 *
 * @param proven the place that a statement signs
 * @param statementMs the time of that statement; 0 where its place is further on
 */
export async function applyProven(
  to: {
    tenantId: string;
    replica: Pick<LocalReplica, 'apply' | 'place'>;
    progress: FeedProgress;
    onApplied: (entries: FeedEntry[]) => void;
  },
  entries: FeedEntry[],
  proven: number,
  statementMs: number,
): Promise<void> {
  const { tenantId, replica, progress } = to;
  for (let at = 0; at === 0 || at < entries.length; at += PART) {
    if (at > 0) await setImmediate();
    const part = entries.slice(at, at + PART);
    const behind = replica.place(tenantId).cursor + 1;
    if ((part[0]?.seq ?? 0) > behind) throw new Error(`entry ${behind} is missing`);
    const isLast = at + PART >= entries.length;
    const end = isLast ? proven : (part.at(-1)?.seq ?? proven);
    replica.apply(tenantId, part, end, isLast ? statementMs : 0);
    progress.applied(end, part.length > 0);
    if (part.length > 0) to.onApplied(part);
  }
}
