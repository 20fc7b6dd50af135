/**
 * What records that nobody can read do not say: which record each of them follows. A chain that comes
 * to the same end is the same before it only as far as its records name each other, so where a writer's
 * batches overlap, what lies before an unread record is held by its hash. Only the newest epoch of a
 * stream is held: nothing older is repeated. Proven by unread-links.test.ts.
 */

export interface FollowingRecord {
  stream: string;
  epoch: number;
  seq: number;
  hash: string;
  isUnread: boolean;
  /** The hash of the record before it, as far as that is signed or shown. */
  follows: string | undefined;
}

export interface UnreadLinks {
  /**
   * Takes the next record of a stream; its place may have been there before.
   *
   * @returns false where an unread record was seen behind another one than this, or follows another
   *   one than before
   */
  add(record: FollowingRecord): boolean;
  /** Whether there were more unread records than are held. */
  isFull(): boolean;
}

interface StreamLinks {
  epoch: number;
  /** By place: the hash of the record there, which an unread one follows. */
  followed: Map<number, string>;
}

/** @param limit how many unread records are held, of all streams */
export function createUnreadLinks(limit: number): UnreadLinks {
  const streams = new Map<string, StreamLinks>();
  let held = 0;
  let isFull = false;

  function linksOf(stream: string, epoch: number): Map<number, string> | undefined {
    const known = streams.get(stream);
    if (known && known.epoch >= epoch) return known.epoch === epoch ? known.followed : undefined;
    held -= known?.followed.size ?? 0;
    streams.delete(stream);
    return undefined;
  }

  function note(record: FollowingRecord, follows: string): void {
    if (held >= limit) {
      isFull = true;
      return;
    }
    const { stream, epoch, seq } = record;
    const known = streams.get(stream) ?? { epoch, followed: new Map<number, string>() };
    // A record of an epoch that is over is none of the chain: the walk says so.
    if (known.epoch !== epoch) return;
    streams.set(stream, known);
    known.followed.set(seq - 1, follows);
    held++;
  }

  return {
    add: (record) => {
      const { stream, epoch, seq, hash, isUnread, follows } = record;
      const followed = linksOf(stream, epoch);
      const isSame = (followed?.get(seq) ?? hash) === hash;
      if (!isUnread || follows === undefined) return isSame;
      const before = followed?.get(seq - 1);
      if (before === undefined) note(record, follows);
      return isSame && (before ?? follows) === follows;
    },
    isFull: () => isFull,
  };
}
