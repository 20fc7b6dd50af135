/**
 * Walks the streams of a contiguous package, and tells for each record what is wrong with its place
 * after the one before it. Continues from the record's own hash, so that one edit is reported once.
 */
import { findLinkBreaks, GENESIS_HASH } from '../../ledger/hash-chain.ts';
import { MAX_BOUNDARIES, VOLUME_LIMITS } from '../evidence-package.ts';
import type { ChainFaults, EventView } from './evidence.ts';
import { createUnreadLinks, type FollowingRecord, type StreamPlace } from './unread-links.ts';

interface WalkedRecord extends Omit<FollowingRecord, 'follows'> {
  /** Undefined when neither the record nor its batch's header says it. */
  prevHash: string | undefined;
  previous: { epoch: number; last_seq: number; head: string } | null | undefined;
}

/** A record before the first one of a stream, as the package shows it. */
export interface Boundary extends StreamPlace {
  /** What is wrong with it, if anything. */
  fault?: string;
  /** Those shown up to it that cannot be read: a batch of the package may repeat them. */
  unread: readonly FollowingRecord[];
}

export type StreamWalk = ReturnType<typeof createStreamWalk>;

/** Unread records of a volume, and of those shown before it. */
const MAX_LINKS = VOLUME_LIMITS.unread + MAX_BOUNDARIES;

/** @param boundaries by stream */
export function createStreamWalk(boundaries: ReadonlyMap<string, Boundary>) {
  const ends = new Map<string, StreamPlace>();
  /** Where a batch repeats records of another one. */
  const repeats = new Map<string, StreamPlace>();
  const links = createUnreadLinks(MAX_LINKS);
  // A contradiction among these is a fault of the boundary.
  for (const { unread } of boundaries.values()) for (const one of unread) links.add(one);

  function begin(record: WalkedRecord): ChainFaults {
    const boundary = boundaries.get(record.stream);
    if (!boundary) {
      if (record.epoch === 1 && record.seq === 1 && record.prevHash === GENESIS_HASH) return {};
      return { start: 'the stream begins here, and the record before is not shown' };
    }
    const faults = follow(boundary, record);
    if (boundary.fault !== undefined) return { ...faults, start: boundary.fault };
    if (Object.keys(faults).length > 0) {
      return { ...faults, start: 'the record that is shown is not the one before' };
    }
    return {};
  }

  function repeat(end: StreamPlace, record: WalkedRecord): ChainFaults {
    const { stream, epoch, seq, hash, prevHash } = record;
    const before = repeats.get(stream);
    repeats.set(stream, { epoch, seq, hash });
    if (seq === end.seq) {
      repeats.delete(stream);
      // The same end means the same chain before it, back to an unread record.
      if (hash !== end.hash) return { link: 'a record that is repeated is another one' };
    }
    if (before && (before.seq + 1 !== seq || (prevHash ?? before.hash) !== before.hash)) {
      return { link: 'records that are repeated do not follow each other' };
    }
    return {};
  }

  return {
    add: (record: WalkedRecord): Pick<EventView, 'chain' | 'isRepeated' | 'follows'> => {
      const { stream, epoch, seq, hash } = record;
      const end = ends.get(stream);
      if (end && epoch === end.epoch && seq <= end.seq && seq > 0) {
        // Not always a repetition: an edit or a swap looks like one, and its hashes reveal it.
        const follows = record.prevHash ?? repeats.get(stream)?.hash;
        const chain = repeat(end, record);
        if (!links.add({ ...record, follows })) {
          chain.link ??= 'an unread record is repeated behind another one';
        }
        return { chain, isRepeated: true, follows };
      }
      const follows = record.prevHash ?? (end ?? boundaries.get(stream))?.hash;
      const chain = end ? follow(end, record) : begin(record);
      links.add({ ...record, follows });
      if (repeats.delete(stream)) chain.sequence ??= 'a repetition is cut off';
      ends.set(stream, { epoch, seq, hash });
      return { chain, isRepeated: false, follows };
    },
    /** Whether a repetition is open, that is, has not reached a known record. */
    isRepeating: (): boolean => repeats.size > 0,
  };
}

function follow(before: StreamPlace, record: WalkedRecord): ChainFaults {
  const { epoch, seq, prevHash: prev_hash, isUnread } = record;
  const faults: ChainFaults = {};
  const end = { epoch: before.epoch, seq: before.seq, head: before.hash };
  // An unread record names no hash: its link is what its writer signed as the hash before it.
  const signed = { epoch: before.epoch, last_seq: before.seq, head: prev_hash ?? '' };
  const previous = isUnread && prev_hash === before.hash ? signed : (record.previous ?? null);
  for (const { kind } of findLinkBreaks(end, { epoch, seq, prev_hash, previous })) {
    if (kind === 'epoch') faults.epoch = 'the epoch does not name the end of the one before';
    else if (kind === 'link') {
      faults.link = 'the hash that it names is not that of the record before';
    } else {
      faults.sequence =
        epoch === before.epoch
          ? 'the number does not follow'
          : 'the epoch does not begin with its first record';
    }
  }
  return faults;
}
