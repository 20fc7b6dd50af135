/**
 * The lines of a volume: batches, records with their proofs, payloads, and the causes that
 * decisions refer to.
 */

import {
  EVIDENCE_MEMBERS,
  type EvidenceProofs,
  VOLUME_LIMITS,
} from '@governance/shared/evidence/evidence-package';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { BatchHeader } from '@governance/shared/ledger/audit-batch';
import { QUARANTINED } from '../../chain/ledger-columns.ts';
import type { TenantTransaction } from '../../platform/database/tenant-scope.ts';
import { createBatchProofs } from './batch-proofs.ts';
import { findBoundary } from './boundaries.ts';
import { type Cause, findCauses, mayNameCauses, type NamedCauses, noteCauses } from './causes.ts';
import {
  createDisputable,
  findDisputes,
  findRepeatedDisputes,
  type IsHeld,
  isStored,
} from './disputes.ts';
import {
  type EvidenceRequest,
  ExportRefused,
  isSelective,
  MAX_SELECTED,
} from './evidence-request.ts';
import { createLineMember, type Member } from './package-members.ts';
import { type PackagedLeaf, packageReads } from './package-reads.ts';
import type { PackagedRecord } from './packaged-record.ts';
import type { ReadPayloads } from './payload-lines.ts';
import { listSelected } from './selected-records.ts';

/** A stream's share of events.ndjson. */
export interface StreamExtent {
  stream: string;
  first: { epoch: number; seq: number; prev_hash: string };
  last: { epoch: number; seq: number; hash: string };
  records: number;
}

export interface VolumeContent {
  batches: Member | undefined;
  events: Member | undefined;
  eventProofs: Member | undefined;
  payloads: Member | undefined;
  causes: Member | undefined;
  /** In the order in which they appear. */
  streams: StreamExtent[];
  /** The records before the streams' first ones (boundaries.ts). */
  boundaries: EvidenceProofs['boundaries'];
  /** The leaves outside the range whose batches are included, ascending. */
  proven: number[];
  /** Revisions of bundles that decisions name. */
  revisions: number[];
  /** Lines of events. */
  eventCount: number;
  /** How many of the events are records that cannot be read. */
  unreadCount: number;
  payloadCount: number;
}

/** Leaves per page, usually some megabytes: the next page is read while one is written. */
const PAGE_LEAVES = 8;
const PAGE_RECORDS = 500;
/**
 * Payloads of a volume; further ones are left out, like purged ones. Only those of a single batch
 * are so many, since volumes are cut between batches.
 */
const PAYLOAD_BYTES = 52 * 1024 * 1024;

/** The part of the log that a volume covers. */
export interface VolumePart {
  /** From this leaf up to, but not including, `end`. */
  start: number;
  end: number;
  /** Size of the tree in which leaves are proven. */
  size: number;
  /** The first leaf of the whole export. */
  exportStart: number;
}

/** @param readPayloads undefined when none were requested */
export async function readVolumeContent(
  tx: TenantTransaction,
  request: EvidenceRequest,
  leaves: VolumePart,
  readPayloads: ReadPayloads | undefined,
): Promise<VolumeContent> {
  const writer = createWriter(tx, readPayloads);
  const selective = isSelective(request);
  const disputes = selective
    ? await writeSelected(tx, request, leaves, writer)
    : await writeLeaves(tx, leaves, writer);
  const isHeld = (leaf: number) => !selective && leaf >= leaves.start && leaf < leaves.end;
  await writeCauses(tx, writer, await findCauses(tx, writer.named, leaves.size), isHeld);
  await writeCauses(tx, writer, disputes, isHeld);
  if (!selective) await writeBoundaries(tx, writer, leaves.exportStart);
  return writer.end(isHeld);
}

const TOO_MANY_CAUSES = 'more records explain these than a volume may have: ask for less time';

type Writer = ReturnType<typeof createWriter>;

function createWriter(tx: TenantTransaction, readPayloads: ReadPayloads | undefined) {
  const batches = new Map<number, string>();
  const causes = createLineMember(EVIDENCE_MEMBERS.causes);
  const named: NamedCauses = { grants: new Set(), delegations: new Set() };
  const events = createLineMember(EVIDENCE_MEMBERS.events);
  const eventProofs = createLineMember(EVIDENCE_MEMBERS.eventProofs);
  const payloads = createLineMember(EVIDENCE_MEMBERS.payloads);
  const streams = new Map<string, StreamExtent>();
  const boundaries: EvidenceProofs['boundaries'] = [];
  const revisions = new Set<number>();
  let unreadCount = 0;
  return {
    /**
     * Whether each record must be read individually: payloads are looked up by the records' fields.
     */
    needsRecords: readPayloads !== undefined,
    batch: (batch: { leaf: number; header: string; signature: string }): BatchHeader => {
      const header = BatchHeader.parse(JSON.parse(batch.header));
      const { leaf: leaf_index, signature } = batch;
      batches.set(leaf_index, canonicalize({ leaf_index, header, signature }));
      return header;
    },
    hasBatch: (leaf: number) => batches.has(leaf),
    streams,
    boundaries,
    named,
    cause: (cause: { record: string; leaf_index: number; index: number; path: string[] }) => {
      causes.write([canonicalize(cause)]);
      if (causes.lines() > VOLUME_LIMITS.causes) throw new ExportRefused(TOO_MANY_CAUSES);
    },
    records: async (page: readonly PackagedRecord[]) => {
      events.write(page.map(({ text }) => text));
      for (const record of page) {
        extend(streams, extentOf(record));
        if (record.type === QUARANTINED) unreadCount++;
        if (record.type !== 'decision') continue;
        noteCauses(named, record.text);
        noteRevisions(revisions, record.text);
      }
      if (!readPayloads) return;
      for await (const lines of readPayloads(tx, page)) {
        for (const line of lines) {
          if (payloads.bytes() + Buffer.byteLength(line) > PAYLOAD_BYTES) return;
          payloads.write([line]);
        }
      }
    },
    /** All records of a batch at once. */
    whole: (header: BatchHeader, text: string) => {
      const extent = extentOfBatch(header);
      events.writeLines(text, extent.records);
      extend(streams, extent);
      noteRevisions(revisions, text);
      if (!mayNameCauses(text)) return;
      for (const line of text.split('\n')) noteCauses(named, line);
    },
    proofs: (page: readonly { leaf_index: number; index: number; path: string[] }[]) =>
      eventProofs.write(page.map((proof) => canonicalize(proof))),
    end: (isHeld: (leaf: number) => boolean): VolumeContent => ({
      batches: batchMember(batches),
      causes: causes.end(),
      events: events.end(),
      eventProofs: eventProofs.end(),
      payloads: payloads.end(),
      streams: [...streams.values()],
      boundaries,
      proven: [...batches.keys()].filter((leaf) => !isHeld(leaf)).sort((a, b) => a - b),
      revisions: [...revisions].sort((a, b) => a - b),
      eventCount: events.lines(),
      unreadCount,
      payloadCount: payloads.lines(),
    }),
  };
}

/** Sorted by leaf, since batches of causes come before and after the others. */
function batchMember(batches: ReadonlyMap<number, string>): Member | undefined {
  const member = createLineMember(EVIDENCE_MEMBERS.batches);
  member.write([...batches].sort(([a], [b]) => a - b).map(([, line]) => line));
  return member.end();
}

/**
 * Skips a cause whose leaf is in the range, since it is among the records.
 *
 * @throws ExportRefused when they are more than verifiers accept
 */
async function writeCauses(
  tx: TenantTransaction,
  writer: Writer,
  causes: Iterable<Cause> | AsyncIterable<Cause>,
  isHeld: (leaf: number) => boolean,
): Promise<void> {
  const reads = packageReads(tx);
  // They come by leaf.
  let proofsOf = { leaf: -1, pathOf: (_index: number): string[] => [] };
  for await (const { record, leaf, index } of causes) {
    if (isHeld(leaf)) continue;
    if (proofsOf.leaf !== leaf) {
      if (!writer.hasBatch(leaf)) {
        for (const batch of await reads.readBatches(leaf, leaf + 1)) writer.batch(batch);
      }
      proofsOf = { leaf, pathOf: createBatchProofs(await reads.readHashes(leaf)) };
    }
    writer.cause({ record, leaf_index: leaf, index, path: proofsOf.pathOf(index) });
  }
}

async function writeBoundaries(
  tx: TenantTransaction,
  writer: Writer,
  exportStart: number,
): Promise<void> {
  const search = { tx, exportStart, shown: 0, bytes: 0 };
  for (const { stream, first } of writer.streams.values()) {
    const { shown, batches } = await findBoundary(search, stream, first);
    writer.boundaries.push(...shown);
    for (const batch of batches) writer.batch(batch);
  }
}

/** @returns the disputes in earlier leaves of what it wrote */
async function writeLeaves(
  tx: TenantTransaction,
  { start, end }: { start: number; end: number },
  writer: Writer,
): Promise<AsyncIterable<Cause>> {
  const reads = packageReads(tx);
  const readPage = (from: number): Promise<PackagedLeaf[]> => {
    const page = reads.readWholeLeaves(from, Math.min(from + PAGE_LEAVES, end));
    // It is awaited later; this prevents an unhandled rejection until then.
    page.catch(() => undefined);
    return page;
  };
  /** The batch of each stream that reaches back furthest: it may repeat what comes before. */
  const lowest = new Map<string, BatchHeader>();
  let next = readPage(start);
  for (let from = start; from < end; from += PAGE_LEAVES) {
    const page = await next;
    next = readPage(from + PAGE_LEAVES);
    for (const leaf of page) {
      const header = writer.batch(leaf);
      const known = lowest.get(header.stream);
      if (!known || isUpTo(firstOf(header), firstOf(known))) lowest.set(header.stream, header);
      const isWhole = leaf.records === header.last_seq - header.first_seq + 1;
      if (isWhole && leaf.lines !== null && !writer.needsRecords) writer.whole(header, leaf.lines);
      else await writer.records(await reads.readLeaf(leaf.leaf));
    }
  }
  return disputesOf(tx, start, writer, lowest);
}

async function* disputesOf(
  tx: TenantTransaction,
  start: number,
  writer: Writer,
  lowest: ReadonlyMap<string, BatchHeader>,
): AsyncGenerator<Cause> {
  const isHeld: IsHeld = (stream, epoch, disputed) => {
    const [low, extent] = [lowest.get(stream), writer.streams.get(stream)];
    if (!low || !extent) return false;
    const isWithin = ({ seq }: { seq: number }) =>
      isUpTo(firstOf(low), { epoch, seq }) && isUpTo({ epoch, seq }, extent.last);
    return isStored(tx, stream, epoch, disputed.filter(isWithin));
  };
  yield* findDisputes(tx, [start], lowest.keys(), isHeld);
  yield* findRepeatedDisputes(tx, start, lowest.values(), isHeld);
}

interface Place {
  epoch: number;
  seq: number;
}

const firstOf = ({ epoch, first_seq: seq }: BatchHeader): Place => ({ epoch, seq });

const isUpTo = (a: Place, b: Place): boolean =>
  a.epoch < b.epoch || (a.epoch === b.epoch && a.seq <= b.seq);

/** @returns the disputes of what it wrote */
async function writeSelected(
  tx: TenantTransaction,
  request: EvidenceRequest,
  leaves: { start: number; end: number },
  writer: Writer,
): Promise<AsyncIterable<Cause>> {
  const reads = packageReads(tx);
  const disputable = createDisputable();
  const selected = await listSelected(tx, request, leaves, MAX_SELECTED);
  let proofsOf = { leaf: -1, pathOf: (_index: number): string[] => [] };
  for (let at = 0; at < selected.length; at += PAGE_RECORDS) {
    const page = selected.slice(at, at + PAGE_RECORDS);
    const records = await reads.readRecords(page);
    await writer.records(records);
    await disputable.note(tx, records, page);
    for (const { leaf, index } of page) {
      if (proofsOf.leaf !== leaf) {
        for (const batch of await reads.readBatches(leaf, leaf + 1)) writer.batch(batch);
        proofsOf = { leaf, pathOf: createBatchProofs(await reads.readHashes(leaf)) };
      }
      writer.proofs([{ leaf_index: leaf, index, path: proofsOf.pathOf(index) }]);
    }
  }
  return findDisputes(tx, disputable.leaves, disputable.streams, disputable.isHeld);
}

const extentOf = ({ stream, epoch, seq, hash, prevHash }: PackagedRecord): StreamExtent => ({
  stream,
  first: { epoch, seq, prev_hash: prevHash },
  last: { epoch, seq, hash },
  records: 1,
});

const extentOfBatch = (header: BatchHeader): StreamExtent => ({
  stream: header.stream,
  first: { epoch: header.epoch, seq: header.first_seq, prev_hash: header.prev_head },
  last: { epoch: header.epoch, seq: header.last_seq, hash: header.head },
  records: header.last_seq - header.first_seq + 1,
});

function extend(streams: Map<string, StreamExtent>, next: StreamExtent): void {
  const known = streams.get(next.stream);
  if (!known) {
    streams.set(next.stream, next);
    return;
  }
  const { epoch, seq } = known.last;
  const { first, last } = next;
  // A batch may begin with records that the previous batch already contains.
  if (last.epoch < epoch || (last.epoch === epoch && last.seq <= seq)) return;
  const isRepeating = last.epoch === epoch && first.seq <= seq;
  known.records += isRepeating ? last.seq - seq : next.records;
  known.last = last;
}

const REVISION = '"bundle_revision":';

/**
 * Collects the revisions that records name, without parsing them. In canonical JSON a record's own
 * member of that name is the first one: what a data plane puts into details counts for nothing.
 *
 * @param text the lines of records
 */
export function noteRevisions(revisions: Set<number>, text: string): void {
  // Most records name the same revision as the record before.
  let last = '';
  for (let at = text.indexOf(REVISION); at >= 0; at = findInNextLine(text, at)) {
    const start = at + REVISION.length;
    if (last !== '' && text.startsWith(last, start)) continue;
    const [digits = ''] = /^[0-9]{1,15}[,}]/.exec(text.slice(start, start + 16)) ?? [];
    if (digits !== '') revisions.add(Number.parseInt(digits, 10));
    last = digits;
  }
}

function findInNextLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? -1 : text.indexOf(REVISION, end);
}
