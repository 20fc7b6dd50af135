/**
 * Remembers what unread records cannot say: which record each of them follows. Two chains with the
 * same end are the same before it only as far as their records name each other. So where a writer's
 * batches overlap, the hash before each unread record is compared. Only the newest epoch of a
 * stream is kept: nothing older is repeated. Proven by unread-links.test.ts.
 */

export interface StreamPlace {
  epoch: number;
  seq: number;
  hash: string;
}

export interface FollowingRecord extends StreamPlace {
  stream: string;
  isUnread: boolean;
  /** The hash of the record before it, as far as that is signed or shown. */
  follows: string | undefined;
}

interface StreamLinks {
  epoch: number;
  /** By place: the hash of the record there, which an unread one follows. */
  followed: Map<number, string>;
}

/** @param limit the number of unread records kept, of all streams */
export function createUnreadLinks(limit: number) {
  const streams = new Map<string, StreamLinks>();
  let kept = 0;
  let isFull = false;

  function linksOf(stream: string, epoch: number): Map<number, string> | undefined {
    const known = streams.get(stream);
    if (known && known.epoch >= epoch) return known.epoch === epoch ? known.followed : undefined;
    kept -= known?.followed.size ?? 0;
    streams.delete(stream);
    return undefined;
  }

  function note(record: FollowingRecord, follows: string): void {
    if (kept >= limit) {
      isFull = true;
      return;
    }
    const { stream, epoch, seq } = record;
    const known = streams.get(stream) ?? { epoch, followed: new Map<number, string>() };
    // A record of an earlier epoch is not part of the chain: the walk reports it.
    if (known.epoch !== epoch) return;
    streams.set(stream, known);
    known.followed.set(seq - 1, follows);
    kept++;
  }

  return {
    /**
     * Takes the next record of a stream; its place may have occurred before.
     *
     * @returns false when an unread record was seen after another record than this one, or itself
     *   follows another record than it did before
     */
    add: (record: FollowingRecord): boolean => {
      const { stream, epoch, seq, hash, isUnread, follows } = record;
      const followed = linksOf(stream, epoch);
      const isSame = (followed?.get(seq) ?? hash) === hash;
      if (!isUnread || follows === undefined) return isSame;
      const before = followed?.get(seq - 1);
      if (before === undefined) note(record, follows);
      return isSame && (before ?? follows) === follows;
    },
    /** Whether there were more unread records than the limit. */
    isFull: (): boolean => isFull,
  };
}
