/**
 * The records before the first ones of streams, as a package shows them. A readable one says where
 * it was; the place of an unreadable one is proven by a signed batch of the log. An unreadable
 * record has no time either: so everything before it is shown, back to a record that has one, and
 * nothing readable is hidden in between. Proven by verifier/src/unread-boundaries.test.ts.
 */
import { GENESIS_HASH } from '../../ledger/hash-chain.ts';
import type { EvidenceBoundary } from '../evidence-package.ts';
import { rootOfInclusion } from '../merkle-proofs.ts';
import { recordsOf } from './batch-records.ts';
import type { BatchView, Evidence } from './evidence.ts';
import { type RecordRead, readRecordLine } from './read-record.ts';
import type { Boundary } from './stream-walk.ts';
import type { FollowingRecord, StreamPlace } from './unread-links.ts';

/** A record of a run that ends where the package begins. */
interface Shown extends StreamPlace {
  read: RecordRead;
  batch: BatchView | undefined;
  /** In its batch. */
  index: number;
  /** Whether a place is given, proven or not. */
  isPlaced: boolean;
}

const NOT_OF_IT = 'a record shown as the one before does not belong to the stream';
const NOT_A_RUN = 'the records that are shown before the package do not follow each other';

/**
 * Reads the boundaries of a package whose batches are read, and keeps them in the evidence.
 *
 * @returns by stream, the record just before its first one
 */
export function readBoundaries(evidence: Evidence): Map<string, Boundary> {
  const { proofs, manifest } = evidence;
  const runs = new Map<string, { shown: EvidenceBoundary[]; last: number }>();
  for (const [index, one] of proofs.boundaries.entries()) {
    const run = runs.get(one.stream);
    if (run) {
      run.shown.push(one);
      run.last = index;
    } else runs.set(one.stream, { shown: [one], last: index });
  }
  const boundaries = new Map<string, Boundary>();
  for (const [stream, { shown, last: index }] of runs) {
    const run = shown.map((one) => readShown(evidence, one));
    const fault = findFault(evidence, stream, run);
    const { epoch, seq, hash } = run.at(-1) as Shown;
    const unread = fault === undefined ? linksOf(stream, run) : [];
    boundaries.set(stream, { epoch, seq, hash, unread, ...(fault !== undefined && { fault }) });
    const isBefore = isAllBefore(run, manifest.scope.from);
    evidence.boundaries.push({ stream, epoch, seq, hash, fault, isBefore, index, unread });
  }
  return boundaries;
}

function readShown({ batches }: Evidence, { record, place }: EvidenceBoundary): Shown {
  const read = readRecordLine(Buffer.from(record));
  const { hash } = read;
  const batch = place && batches.get(place.leaf_index);
  const own = { epoch: read.place?.epoch ?? 0, seq: read.place?.seq ?? 0, hash };
  const isPlaced = place !== undefined;
  if (!place || !batch) return { ...own, read, batch: undefined, index: 0, isPlaced };
  const { index, path } = place;
  const root = rootOfInclusion({ leaf: hash, index, size: recordsOf(batch), path });
  if (root !== batch.eventRoot) return { ...own, read, batch: undefined, index, isPlaced };
  return { epoch: batch.epoch, seq: batch.firstSeq + index, hash, read, batch, index, isPlaced };
}

function findFault(
  { manifest: { tenant_id } }: Evidence,
  stream: string,
  run: readonly Shown[],
): string | undefined {
  for (const [i, { epoch, seq, read, batch, isPlaced }] of run.entries()) {
    if (batch ? batch.stream !== stream : isPlaced || run.length > 1 || !read.record) {
      return NOT_OF_IT;
    }
    const { place, faults } = read;
    if (faults.strict !== undefined || faults.canonical !== undefined) return NOT_OF_IT;
    if (!read.record && !read.isUnread) return NOT_OF_IT;
    const isOfStream =
      !place ||
      (place.stream === stream &&
        place.tenant_id === tenant_id &&
        place.epoch === epoch &&
        place.seq === seq);
    if (!isOfStream) return NOT_OF_IT;
    const before = run[i - 1];
    if (before && !isNext(before, run[i] as Shown)) return NOT_A_RUN;
  }
  return undefined;
}

/** As signed: within one batch, or by the hash before a batch. */
function isNext(before: Shown, { epoch, seq, batch, index }: Shown): boolean {
  const isBehind =
    epoch === before.epoch ? seq === before.seq + 1 : epoch === before.epoch + 1 && seq === 1;
  if (!batch || !isBehind) return false;
  return index === 0 ? batch.prevHead === before.hash : batch === before.batch;
}

/** What the unread records of a run follow: nothing else may be at these places later. */
function linksOf(stream: string, run: readonly Shown[]): FollowingRecord[] {
  return run.flatMap(({ epoch, seq, hash, read, batch, index }, i) => {
    const follows = index === 0 ? batch?.prevHead : run[i - 1]?.hash;
    return read.isUnread ? [{ stream, epoch, seq, hash, isUnread: true, follows }] : [];
  });
}

/** For readable records; before a stream's very first record there is nothing. */
function isAllBefore(run: readonly Shown[], from: string): boolean {
  const newest = run.findLast(({ read }) => read.place !== null);
  if (newest?.read.place) return newest.read.place.timestamp < from;
  const [first] = run;
  return (
    first?.epoch === 1 &&
    first.seq === 1 &&
    first.index === 0 &&
    first.batch?.prevHead === GENESIS_HASH
  );
}
