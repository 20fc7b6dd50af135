/** Reads pages of a feed by long polls. */
import type { ControlPlaneLink, FeedPage } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { FeedRefusedError } from '../link/feed-error.ts';
import type { FeedPosition } from './feed-page.ts';
import type { UnsignedTail } from './unsigned-tail.ts';

export interface FeedReadsDeps {
  link: Pick<ControlPlaneLink, 'readFeed'>;
  /** Records that wait to be shipped. */
  backlog: () => number;
  /** Entries that a page has at most. */
  limit: number;
}

export function createFeedReads({ link, backlog, limit }: FeedReadsDeps) {
  let isWaiting = false;

  /** @returns null where the feed cannot be continued from here */
  async function read(
    position: FeedPosition,
    waitMs: number,
    signal: AbortSignal,
  ): Promise<FeedPage | null> {
    isWaiting = waitMs > 0;
    try {
      return await link.readFeed({ ...position, limit, waitMs, signal, backlog: backlog() });
    } catch (error) {
      if (error instanceof AppError && error.code === 'FEED_RESET') return null;
      throw error;
    } finally {
      isWaiting = false;
    }
  }

  return {
    /** Whether the read in progress waits for the next change. */
    isWaiting: () => isWaiting,

    /**
     * Reads on behind what waits for its signature, or behind what was applied.
     *
     * @returns null where the feed cannot be continued
     * @throws FeedRefusedError digest_mismatch where it continues from what was applied alone
     */
    readOn: async (
      tail: Pick<UnsignedTail, 'end' | 'drop'>,
      applied: FeedPosition,
      waitMs: number,
      signal: AbortSignal,
    ): Promise<FeedPage | null> => {
      const unsigned = tail.end();
      const page = await read(unsigned ?? applied, waitMs, signal);
      if (page || !unsigned) return page;
      // A compaction that passed the one place has passed the other.
      const isContinued = (await read(applied, 0, signal)) !== null;
      tail.drop();
      if (!isContinued) return null;
      const why = 'the control plane does not know what pages brought that it did not sign';
      throw new FeedRefusedError('digest_mismatch', why);
    },
  };
}
