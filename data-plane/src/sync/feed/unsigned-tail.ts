/**
 * What pages brought that end before the place their statement signs. Nobody vouches for it until a
 * page reaches such a place: until then it is kept in memory and counts for nothing.
 */
import type { FeedEntry } from '@governance/shared/channel/facts';
import type { FreshnessStatement } from '@governance/shared/channel/signed-statement';
import type { FeedPosition, VerifiedPage } from './feed-page.ts';

/** Beyond these a snapshot is read, which is staged on disk and signed at its end. */
const LIMITS = { entries: 20_000, bytes: 32 * 1024 * 1024 };

export type TailLimits = typeof LIMITS;
export type UnsignedTail = ReturnType<typeof createUnsignedTail>;

export function createUnsignedTail(limits: TailLimits = LIMITS) {
  let entries: FeedEntry[] = [];
  let bytes = 0;
  let end: FeedPosition | null = null;
  /** The first of the statements whose place is ahead: newer ones may always stay ahead. */
  let awaited: FreshnessStatement | null = null;

  function drop(): void {
    entries = [];
    bytes = 0;
    end = null;
    awaited = null;
  }

  return {
    drop,
    /** Where reading goes on; null where nothing waits. */
    end: (): FeedPosition | null => end,
    awaited: (): FreshnessStatement | null => awaited,
    /** Whether more waits than may. */
    isFull: (): boolean => entries.length > limits.entries || bytes > limits.bytes,
    /** @returns what is proven now, in its order */
    take: (
      given: readonly FeedEntry[],
      { proven, ...page }: VerifiedPage,
      statement: FreshnessStatement,
    ): FeedEntry[] => {
      for (const entry of given) entries.push(entry);
      const place = proven ?? 0;
      const proved = entries.splice(0, entries.findLastIndex(({ seq }) => seq <= place) + 1);
      if (entries.length === 0) {
        drop();
        return proved;
      }
      bytes = proved.length > 0 ? sizeOf(entries) : bytes + sizeOf(given);
      end = page.end;
      if (!awaited || awaited.feed_seq <= place) awaited = statement;
      return proved;
    },
  };
}

function sizeOf(entries: readonly FeedEntry[]): number {
  return JSON.stringify(entries).length;
}
