/**
 * The hashes of the records that a walk read last, so that batch roots need no second read.
 * Bounded: a batch that began earlier is read from the database.
 */

export interface LinkHashes {
  prevHash: string;
  hash: string;
}

export interface RecordRange {
  epoch: number;
  firstSeq: number;
  lastSeq: number;
}

export interface RecentRecords {
  add(record: LinkHashes & { epoch: number; seq: number }): void;
  /** @returns undefined where one of the records is no longer held */
  find(range: RecordRange): LinkHashes[] | undefined;
}

/** A batch has 5,000 records at most, and a page 500. */
const KEPT = 6_000;

export function createRecentRecords(): RecentRecords {
  const kept = new Map<string, LinkHashes>();
  return {
    add: ({ epoch, seq, hash, prevHash }) => {
      kept.set(`${epoch}/${seq}`, { hash, prevHash });
      if (kept.size <= KEPT) return;
      const [oldest] = kept.keys();
      if (oldest !== undefined) kept.delete(oldest);
    },
    find: ({ epoch, firstSeq, lastSeq }) => {
      if (lastSeq - firstSeq >= KEPT) return undefined;
      const found: LinkHashes[] = [];
      for (let seq = firstSeq; seq <= lastSeq; seq++) {
        const one = kept.get(`${epoch}/${seq}`);
        if (!one) return undefined;
        found.push(one);
      }
      return found;
    },
  };
}
