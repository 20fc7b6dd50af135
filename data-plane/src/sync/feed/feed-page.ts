/** The checks that a page or snapshot of the feed must pass before it is applied. */
import type { FeedPage, FeedRequest } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import { createSnapshotDigest, feedDigest } from '@governance/shared/channel/feed-chain';
import type { FreshnessStatement, SnapshotEnd } from '@governance/shared/channel/signed-statement';
import { FeedRefusedError } from '../link/feed-error.ts';

export type FeedPosition = Pick<FeedRequest, 'cursor' | 'digest'>;

export interface VerifiedPage {
  /** The position behind the page. */
  end: FeedPosition;
  /** The last place within it that a statement signs; null where it ends before any. */
  proven: number | null;
}

/**
 * Follows the page's entries from the reader's position, and checks them against the signed
 * statements that name a position within them.
 *
 * @param statement the page's own
 * @param awaited one of an earlier page, whose place was ahead of it
 * @throws FeedRefusedError digest_mismatch, page_incomplete or feed_behind
 */
export function verifyPage(
  position: FeedPosition,
  page: Pick<FeedPage, 'entries' | 'cursor' | 'head'>,
  statement: FreshnessStatement,
  awaited: FreshnessStatement | null,
): VerifiedPage {
  if (page.head < position.cursor) {
    const where = `the feed ends at ${page.head}, and ${position.cursor} was applied here`;
    throw new FeedRefusedError('feed_behind', where);
  }
  let at = position;
  let proven: number | null = null;
  const check = () => {
    for (const one of [awaited, statement]) {
      if (one && isSigned(at, one)) proven = at.cursor;
    }
  };
  check();
  for (const entry of page.entries) {
    if (entry.seq !== at.cursor + 1) {
      const gap = `entry ${entry.seq} follows ${at.cursor}`;
      throw new FeedRefusedError('page_incomplete', gap);
    }
    at = { cursor: entry.seq, digest: feedDigest(at.digest, entry) };
    check();
  }
  if (page.cursor !== at.cursor || page.head < at.cursor) {
    throw new FeedRefusedError('page_incomplete', `the page ends at ${at.cursor}`);
  }
  // Nobody signed what follows the place that the statement names.
  if (at.cursor > statement.feed_seq) {
    const where = `entry ${at.cursor} is behind the signed ${statement.feed_seq}`;
    throw new FeedRefusedError('digest_mismatch', where);
  }
  return { end: at, proven };
}

/** Whether the statement signs this place. @throws FeedRefusedError where it signs another digest */
function isSigned(at: FeedPosition, statement: FreshnessStatement): boolean {
  if (statement.feed_seq !== at.cursor) return false;
  if (statement.feed_digest === at.digest) return true;
  throw new FeedRefusedError('digest_mismatch', `entry ${at.cursor} is not what was signed`);
}

/** Digests a snapshot as it arrives, and verifies it at its end. */
export function createSnapshotCheck() {
  const sum = createSnapshotDigest();
  let newest = 0;
  return {
    add: (entries: readonly FeedEntry[]): void => {
      for (const entry of entries) {
        if (entry.value === null || entry.value === undefined) {
          throw new FeedRefusedError('snapshot_malformed', 'a tombstone in a snapshot');
        }
        sum.add(entry);
        newest = Math.max(newest, entry.seq);
      }
    },
    /** @throws FeedRefusedError snapshot_incomplete, snapshot_digest or snapshot_malformed */
    end: (end: SnapshotEnd): void => {
      if (sum.count() !== end.count) {
        const counts = `${sum.count()} of ${end.count} entries came`;
        throw new FeedRefusedError('snapshot_incomplete', counts);
      }
      if (sum.hex() !== end.entries_digest) {
        throw new FeedRefusedError('snapshot_digest', 'the entries are not those signed');
      }
      if (newest > end.feed_seq) {
        throw new FeedRefusedError('snapshot_malformed', `entry ${newest} is beyond the end`);
      }
    },
  };
}
