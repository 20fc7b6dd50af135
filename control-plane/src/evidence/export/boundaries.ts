/**
 * For each stream that does not begin in a volume: the record before its first one. An unreadable
 * record states neither its place nor its time. So it is included with its batch, as a proven leaf,
 * and with all records before it back to a readable one, which shows that no record of the export's
 * time lies there. Proven by unread-boundaries.pg.test.ts.
 */
import {
  type EvidenceProofs,
  MAX_BOUNDARIES,
  VOLUME_LIMITS,
} from '@governance/shared/evidence/evidence-package';
import { QUARANTINED } from '../../chain/ledger-columns.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { createBatchProofs } from './batch-proofs.ts';
import { ExportRefused } from './evidence-request.ts';
import { type PackagedBatch, packageReads } from './package-reads.ts';
import type { PackagedRecord } from './packaged-record.ts';

type Boundary = EvidenceProofs['boundaries'][number];

/** The limit of unreadable records per stream. */
const MAX_RUN = 1_000;
/** The limit for all streams: proofs.json is read as a whole, and has other content too. */
const MAX_BYTES = 0.75 * VOLUME_LIMITS.documentBytes;
/** A hash, with its quotes and comma. */
const HASH_BYTES = 67;
/** An entry without its record and path: its stream and place. */
const ENTRY_BYTES = 160;
/** The proof of a leaf in a log of 2^28. */
const LEAF_BYTES = 28 * HASH_BYTES + ENTRY_BYTES;

/** Steps back, each of one or two queries. */
const MAX_STEPS = 1_000;

/**
 * Moves the start of a range back where necessary. Earlier versions quarantined records that
 * verifiers can read, and did not count them in the times of their leaves, so leaves before the
 * range may have such records of that time.
 *
 * @param range the leaves of that time
 * @returns its start, or an earlier leaf if such a record of that time lies there
 * @throws ExportRefused when more than MAX_STEPS steps back are needed
 */
export async function findStart(
  tx: TenantTransaction,
  range: { start: number; end: number },
  from: Date,
): Promise<number> {
  const reads = packageReads(tx);
  let steps = 0;
  const step = (stream: string) => {
    if (++steps > MAX_STEPS) throw tooMuch(stream);
  };
  for (let { start, end } = range; ; ) {
    let earliest = start;
    let movedBy = '';
    for (const { stream, ...first } of await reads.listBehindQuarantined(start, end)) {
      let record = await reads.findBefore(stream, first);
      for (; record?.type === QUARANTINED; record = await reads.findBefore(stream, record))
        step(stream);
      if (!record || JSON.parse(record.text).timestamp < from.toISOString()) continue;
      const leaf = (await reads.findBatchOf(record))?.leaf ?? start;
      if (leaf < earliest) [earliest, movedBy] = [leaf, stream];
    }
    if (earliest === start) return start;
    step(movedBy);
    [start, end] = [earliest, start];
  }
}

export interface BoundarySearch {
  tx: TenantTransaction;
  /** The first leaf of the whole export. */
  exportStart: number;
  /** The entries found so far, for all streams of the volume. */
  shown: number;
  /** Their approximate size in proofs.json. */
  bytes: number;
}

export interface FoundBoundary {
  /** Oldest first. */
  shown: Boundary[];
  /** The batches that prove them. */
  batches: PackagedBatch[];
}

/** The batch that contains a record. */
interface Holding extends PackagedBatch {
  epoch: number;
  firstSeq: number;
}

/**
 * @param first the stream's first record in the volume
 * @throws ExportRefused when too many unreadable records lie before it
 */
export async function findBoundary(
  search: BoundarySearch,
  stream: string,
  first: { epoch: number; seq: number },
): Promise<FoundBoundary> {
  const reads = packageReads(search.tx);
  let record = await reads.findBefore(stream, first);
  if (!record) return { shown: [], batches: [] };
  if (record.type !== QUARANTINED) {
    note(search, record, 0);
    return { shown: [{ stream, record: record.text }], batches: [] };
  }
  const shown: Boundary[] = [];
  const batches = new Map<number, PackagedBatch>();
  let batch: Holding | undefined;
  let pathOf = (_index: number): string[] => [];
  while (record) {
    if (!batch || batch.epoch !== record.epoch || record.seq < batch.firstSeq) {
      batch = await reads.findBatchOf(record);
      if (!batch) throw new Error('a record is in no batch');
      const { leaf, header, signature } = batch;
      batches.set(leaf, { leaf, header, signature });
      search.bytes += LEAF_BYTES;
      pathOf = createBatchProofs(await reads.readHashes(leaf));
    }
    const index = record.seq - batch.firstSeq;
    const path = pathOf(index);
    shown.unshift({ stream, record: record.text, place: { leaf_index: batch.leaf, index, path } });
    note(search, record, path.length);
    // A record within the export is also in an earlier volume. It needs no readable record before
    // it, since verifiers of the set see that it is the same.
    if (record.type !== QUARANTINED || batch.leaf >= search.exportStart) break;
    if (shown.length >= MAX_RUN) throw tooMuch(stream);
    record = await reads.findBefore(stream, record);
  }
  return { shown, batches: [...batches.values()] };
}

/** @throws ExportRefused when the package has no room for it */
function note(search: BoundarySearch, { stream, text }: PackagedRecord, hashes: number): void {
  search.shown++;
  // It is written as a JSON string, so its quotes are escaped.
  search.bytes += JSON.stringify(text).length + hashes * HASH_BYTES + ENTRY_BYTES;
  if (search.shown > MAX_BOUNDARIES || search.bytes > MAX_BYTES) throw tooMuch(stream);
}

/** @param stream the one that was read when the limit was passed: one alone may pass it */
const tooMuch = (stream: string) =>
  new ExportRefused(
    `too many records that cannot be read, or too many streams, lie just before that time (at data plane ${stream}): ask for an earlier beginning`,
  );
