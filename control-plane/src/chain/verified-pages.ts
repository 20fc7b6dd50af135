/**
 * Pages of data planes' streams that this process has verified from the first byte to the last, by
 * the digest of what it read: the rows with their columns and bytes, and their signed batches. A page
 * whose digest PostgreSQL computes again from the stored rows is what was verified, so that parsing
 * and signatures need not be repeated; any other is verified anew, with all that follow. What was
 * verified lies in memory alone, where nobody who can write tables reaches it. Proven by
 * verified-pages.pg.test.ts, and by chain-attacks.pg.test.ts, whose attacks all follow such a
 * verification.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { StoredBatch } from './chain-store.ts';
import type { StoredRow } from './chain-walk.ts';
import { QUARANTINED } from './ledger-columns.ts';
import type { BatchPlace, PagePlace, PageStore } from './page-digests.ts';
import type { StreamMark } from './stream-mark.ts';

/** Pages remembered for all streams together; each takes some 500 B. */
const MAX_PAGES = 40_000;
/** More of a stream than this, and of fewer than a hundred records on average, are too many. */
const MANY_PAGES = 50;
/** Digests that one query computes. */
const PAGES_A_QUERY = 10;

/** What a walk moves in a mark. */
type Moved = Pick<
  StreamMark,
  'end' | 'position' | 'covered' | 'records' | 'quarantined' | 'unread' | 'counted'
>;

interface VerifiedPage {
  rows: PagePlace;
  batches: BatchPlace;
  digest: string;
  /** The mark behind it. */
  moved: Moved;
}

interface VerifiedStream {
  signingKey: string;
  pages: VerifiedPage[];
}

export type VerifiedPages = ReturnType<typeof createVerifiedPages>;
export type TenantPages = ReturnType<VerifiedPages['ofTenant']>;

/** The pages that this process has verified, for all tenants. */
export function createVerifiedPages() {
  const streams = new LRUCache<string, VerifiedStream>({
    maxSize: MAX_PAGES,
    sizeCalculation: ({ pages }) => Math.max(1, pages.length),
  });

  return {
    /** @param inPages reads the tenant's rows */
    ofTenant: (
      tenantId: string,
      inPages: <T>(read: (store: PageStore) => Promise<T>) => Promise<T>,
    ) => ({
      /**
       * Moves a mark at the beginning of a stream behind the pages that are as they were verified.
       *
       * @param upTo positions that count
       */
      skip: async (stream: string, mark: StreamMark, upTo: number): Promise<void> => {
        const name = `${tenantId}/${stream}`;
        const known = streams.get(name);
        if (!known || mark.records > 0) return;
        // Each verification ends with a page that is not full: they are joined by beginning anew.
        if (known.pages.length > MANY_PAGES + (known.pages.at(-1)?.moved.records ?? 0) / 100) {
          streams.delete(name);
          return;
        }
        const same = known.signingKey === mark.signingKey ? known.pages : [];
        let kept = 0;
        while (kept < same.length) {
          const asked = same.slice(kept, kept + PAGES_A_QUERY);
          const found = await inPages((store) => store.readDigests(stream, asked));
          const wrong = asked.findIndex(
            ({ digest, moved }, index) => digest !== found[index] || moved.position > upTo,
          );
          kept += wrong === -1 ? asked.length : wrong;
          if (wrong !== -1) break;
        }
        const last = same[kept - 1];
        if (kept < known.pages.length) streams.set(name, { ...known, pages: same.slice(0, kept) });
        if (last) Object.assign(mark, structuredClone(last.moved));
      },

      /** Begins a page: what is read of it is added, and it is kept if nothing was wrong. */
      begin: (stream: string, mark: StreamMark) => {
        const { signingKey } = mark;
        const before = movedOf(mark);
        const digest = createPageDigest();
        let isPlain = signingKey !== null;
        return {
          addRows: (rows: readonly StoredRow[]): void => {
            isPlain &&= rows.every(({ type }) => type !== QUARANTINED);
            digest.addRows(rows);
          },
          addBatches: digest.addBatches,
          keep: (): void => {
            const { end } = mark;
            const isCounted = mark.counted === mark.records;
            if (!isPlain || !end || !isCounted || signingKey === null) return;
            const name = `${tenantId}/${stream}`;
            const known = streams.get(name);
            const pages = known?.signingKey === signingKey ? known.pages : [];
            // Only a page that continues those that are kept: a stream is verified from its beginning.
            if ((pages.at(-1)?.moved.records ?? 0) !== before.records) return;
            const { epoch, seq } = before.end ?? { epoch: 0, seq: 0 };
            const rows = { after: { epoch, seq, position: before.position }, end };
            const page = { rows, batches: { after: before.covered, end }, digest: digest.get() };
            pages.push({ ...page, moved: movedOf(mark) });
            // A new object, so that its size is counted anew.
            streams.set(name, { signingKey, pages });
          },
        };
      },
    }),
  };
}

function movedOf({ end, position, covered, records, quarantined, unread, counted }: StreamMark) {
  const moved: Moved = { end, position, covered, records, quarantined, unread, counted };
  return structuredClone(moved);
}

/** The same digest as `readDigests`: every column that a verification reads, in its order. */
function createPageDigest() {
  const ofRows: string[] = [];
  const ofBatches: string[] = [];
  return {
    addRows: (rows: readonly StoredRow[]): void => {
      for (const row of rows) ofRows.push(rowText(row));
    },
    addBatches: (batches: readonly StoredBatch[]): void => {
      for (const batch of batches) ofBatches.push(batchText(batch));
    },
    get: (): string => sha256(`${ofRows.join()}\n${ofBatches.join()}`),
  };
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');
/** In a form without separators; `-` for none, which is no hexadecimal. */
const hex = (text: string | null) => (text === null ? '-' : Buffer.from(text).toString('hex'));

function rowText(row: StoredRow): string {
  return [
    ...[row.epoch, row.seq, row.position, hex(row.type)],
    ...[row.id, row.subjectId ?? '-', row.agentId ?? '-', hex(row.policyResult)],
    ...[row.eventTime.getTime(), row.receivedAt.getTime()],
    ...[hex(row.hash), hex(row.prevHash), sha256(row.bytes)],
  ].join('|');
}

function batchText(batch: StoredBatch): string {
  return [
    ...[batch.epoch, batch.firstSeq, batch.lastSeq],
    ...[hex(batch.header), hex(batch.signature), hex(batch.hash)],
  ].join('|');
}
