/**
 * One walk over a tenant's chains, beginning at its marks: from the beginning on request, from the
 * end of the previous run for new records, and from the stored progress for an interrupted daily
 * walk. Each chain is walked to the head that it had when the walk reached it; later records wait
 * for the next walk.
 */
import type { KeyObject } from 'node:crypto';
import { learnFrom } from './admin-facts.ts';
import {
  type BatchEnd,
  readSigningKey,
  type StreamWriter,
  signatureBreak,
  walkBatches,
} from './batch-walk.ts';
import { type BundleReads, checkBundles } from './bundle-check.ts';
import { BUNDLE_STREAM, type FoundBreak, LOG_STREAM } from './chain-breaks.ts';
import { showPosition } from './chain-position.ts';
import type { ChainStore, StoredBatch, StoredPlane, StreamEnd } from './chain-store.ts';
import { type RowWalk, type StoredRow, walkRows } from './chain-walk.ts';
import type { LogMark } from './log-mark.ts';
import type { LogStore } from './log-rows.ts';
import type { LogEnd } from './log-tree-rows.ts';
import { type EvidenceKeys, walkLog } from './log-walk.ts';
import { checkPlanes, goneBreak } from './plane-check.ts';
import { createRecentRecords, type RecentRecords } from './recent-records.ts';
import { newMark, type StreamMark } from './stream-mark.ts';
import type { TenantPages } from './verified-pages.ts';

/** The stream id for breaks of the tenant's order of receipt. */
export const RECEIPT_STREAM = '00000000-0000-0000-0000-000000000000';

/** Breaks reported per stream and walk. All are counted. */
const MAX_KEPT = 100;

export interface VerificationStep {
  /** The streams whose marks were moved. */
  moved: Set<string>;
  found: FoundBreak[];
  /** All breaks found; `found` has the first ones of each stream. */
  breaks: number;
}

export interface VerificationRun {
  tenantId: string;
  /** Where the walk continues, by stream; updated as it goes. */
  marks: Map<string, StreamMark>;
  /** The newest position when the walk began. */
  upTo: number;
  /** Where the walk continues in the tenant's log; updated as it goes, reported as LOG_STREAM. */
  logMark: LogMark;
  now: () => Date;
  /** The service's public keys; without them, its signatures are not checked. */
  keys: EvidenceKeys | undefined;
  /** Whether this is a full walk, which must find every position. */
  isWhole: boolean;
  inStore<T>(read: (store: ChainStore) => Promise<T>): Promise<T>;
  inLog<T>(read: (store: LogStore) => Promise<T>): Promise<T>;
  /** The pages of data planes' streams that this process has verified before. */
  pages?: TenantPages;
  /** Undefined where the service's keys are not known. */
  bundles: Omit<BundleReads, 'tenantId'> | undefined;
  belongsInQuarantine(row: StoredRow): Promise<boolean>;
  /** Called after each page. */
  onStep(step: VerificationStep): Promise<void>;
  /** Asked after each page: whether to leave the rest to a later walk. */
  shouldStop(): boolean;
}

/** @returns whether the walk was completed */
export async function runVerification(run: VerificationRun): Promise<boolean> {
  const steps = createSteps(run);
  await checkTails(run, steps);
  await steps.done();
  // Read before the admin chain, so that the chain has the registration of every leaf's writer.
  const logEnd = await run.inLog((store) => store.readEnd());
  const ends = await run.inStore((store) => store.readEnds());
  const [admins, others] = inTurn(ends, run.marks);
  for (const end of admins) if (!(await walkStream(run, steps, end))) return false;
  if (!(await walkTheLog(run, steps, logEnd))) return false;
  for (const end of others) if (!(await walkStream(run, steps, end))) return false;
  if (!(await checkAllPlanes(run, steps))) return false;
  if (run.isWhole) await checkAllBundles(run, steps);
  await checkHeadsNow(run, steps);
  if (run.isWhole) checkReceipts(run, steps);
  await steps.done();
  return true;
}

/**
 * The admin chain first, since it names the writers of the others; then the others, those with the
 * fewest records left first. A data plane that writes faster than it is verified would take up the
 * whole walk, so it comes last.
 */
function inTurn(
  ends: readonly StreamEnd[],
  marks: ReadonlyMap<string, StreamMark>,
): [admins: StreamEnd[], others: StreamEnd[]] {
  const left = ({ stream, kind, head, newest }: StreamEnd): number => {
    const last = (kind === 'unknown' ? newest : head) ?? { epoch: 0, seq: 0 };
    const done = marks.get(stream)?.end ?? { epoch: 0, seq: 0 };
    return last.epoch === done.epoch ? Math.max(0, last.seq - done.seq) : last.seq;
  };
  return [
    ends.filter(({ kind }) => kind === 'admin'),
    ends.filter(({ kind }) => kind !== 'admin').sort((a, b) => left(a) - left(b)),
  ];
}

/** @returns false when it was stopped early */
function walkTheLog(run: VerificationRun, steps: Steps, end: LogEnd): Promise<boolean> {
  const { tenantId, marks, logMark: mark, keys, isWhole, inLog, shouldStop } = run;
  return walkLog({
    ...{ tenantId, mark, end, keys, isWhole, inLog, shouldStop },
    now: run.now(),
    isWriter: (stream) => {
      const known = marks.get(stream);
      return known?.kind === 'admin' || known?.signingKey != null;
    },
    onBreak: (found) => steps.broke(LOG_STREAM, found),
    onStep: async () => {
      steps.moved(LOG_STREAM);
      await steps.done();
    },
  });
}

/** What a step found and which marks it moved, not yet reported. */
interface Steps {
  broke(stream: string, found: Omit<FoundBreak, 'stream'>): void;
  moved(stream: string): void;
  /** Breaks so far. */
  count(): number;
  done(): Promise<void>;
}

function createSteps({ onStep }: VerificationRun): Steps {
  const kept = new Map<string, number>();
  let step: VerificationStep = { moved: new Set(), found: [], breaks: 0 };
  let all = 0;
  return {
    broke: (stream, broken) => {
      step.breaks += 1;
      all += 1;
      const before = kept.get(stream) ?? 0;
      kept.set(stream, before + 1);
      if (before < MAX_KEPT) step.found.push({ stream, ...broken });
    },
    moved: (stream) => void step.moved.add(stream),
    count: () => all,
    done: async () => {
      const finished = step;
      step = { moved: new Set(), found: [], breaks: 0 };
      await onStep(finished);
    },
  };
}

/** Checks that the last verified record is still there, unchanged. */
async function checkTails({ marks, inStore }: VerificationRun, steps: Steps): Promise<void> {
  const tails = [...marks].flatMap(([stream, mark]) =>
    mark.end ? [{ stream, mark, ...mark.end }] : [],
  );
  const stored = await inStore((store) => store.readHashes(tails));
  for (const [index, { stream, mark, epoch, seq, head }] of tails.entries()) {
    const row = stored[index];
    if (row?.kept === head && row.actual === head) continue;
    const expected = showPosition({ epoch, seq, head });
    if (!row) {
      const detail = 'the last verified record is gone';
      steps.broke(stream, { kind: 'head', epoch, seq, expected, actual: 'none', detail });
      continue;
    }
    const actual = showPosition({ epoch, seq, head: row.actual });
    const detail = 'the last verified record was changed';
    steps.broke(stream, { kind: 'content', epoch, seq, expected, actual, detail });
    // Continuing from the stored record keeps one edit from being reported at each run.
    mark.end = { epoch, seq, head: row.kept };
    steps.moved(stream);
  }
}

/** @returns false when it was stopped early */
async function walkStream(run: VerificationRun, steps: Steps, end: StreamEnd): Promise<boolean> {
  const { stream, kind } = end;
  const mark = run.marks.get(stream) ?? newMark(kind);
  run.marks.set(stream, mark);
  mark.kind = kind;
  const last = kind === 'unknown' ? end.newest : end.head;
  const walk: RowWalk = {
    tenantId: run.tenantId,
    stream,
    upTo: run.upTo,
    belongsInQuarantine: run.belongsInQuarantine,
    onRecord: (record) => {
      if (kind !== 'admin' || record.type !== 'admin_action') return;
      const learned = learnFrom(record, run.marks, mark);
      if (!learned) return;
      steps.moved(learned.stream);
      if (learned.broken) steps.broke(learned.stream, learned.broken);
    },
    onBreak: (found) => steps.broke(stream, found),
  };
  const recent = createRecentRecords();
  const pages = kind === 'data_plane' ? run.pages : undefined;
  if (last) await pages?.skip(stream, mark, run.upTo);
  while (last) {
    const after = { ...(mark.end ?? { epoch: 0, seq: 0 }), position: mark.position };
    const rows = await run.inStore((store) => store.readPage(stream, after, last));
    if (rows.length === 0) break;
    const page = pages?.begin(stream, mark);
    const broken = steps.count();
    const epochEnds = await walkRows(walk, mark, rows);
    for (const row of rows) recent.add(row);
    const walked = { run, steps, stream, mark, recent, onBatches: page?.addBatches };
    if (kind === 'data_plane') await coverRows(walked, epochEnds);
    if (kind === 'admin') await checkAdminBatches(walked);
    page?.addRows(rows);
    if (steps.count() === broken) page?.keep();
    steps.moved(stream);
    await steps.done();
    if (run.shouldStop()) return false;
  }
  checkEnd(steps, stream, mark, last);
  return true;
}

/** A stream that was already verified up to its mark. */
interface WalkedStream {
  run: VerificationRun;
  steps: Steps;
  stream: string;
  mark: StreamMark;
  recent: RecentRecords;
  onBatches?: ((batches: readonly StoredBatch[]) => void) | undefined;
}

/** Verifies the signed batches up to the mark. @returns the ends of those batches */
async function checkBatches(
  { run, steps, stream, mark, recent, onBatches }: WalkedStream,
  keys: readonly KeyObject[],
): Promise<BatchEnd[]> {
  const { tenantId, inStore } = run;
  const ends: BatchEnd[] = [];
  const writer: StreamWriter = {
    ...{ tenantId, stream, keys },
    readRecords: async (range) =>
      recent.find(range) ?? (await inStore((store) => store.readLinks(stream, range))),
  };
  for (const last = mark.end; last; ) {
    const after = mark.covered;
    const batches = await inStore((store) => store.readBatches(stream, after, last));
    if (batches.length === 0) break;
    onBatches?.(batches);
    mark.covered = await walkBatches(writer, after, batches, (found) => steps.broke(stream, found));
    ends.push(...batches.map(({ epoch, lastSeq }) => ({ epoch, lastSeq })));
  }
  return ends;
}

/** The newest records may be in no batch yet; the batches that exist must verify. */
async function checkAdminBatches(walked: WalkedStream): Promise<void> {
  const { keys } = walked.run;
  if (keys) await checkBatches(walked, keys.batch);
}

/**
 * Verifies the batches that sign the walked records, and that a batch ends at each end of an epoch.
 */
async function coverRows(
  walked: WalkedStream,
  epochEnds: readonly { epoch: number; seq: number }[],
): Promise<void> {
  const { steps, stream, mark } = walked;
  const key = readSigningKey(mark.signingKey);
  if (!key) return;
  const uncovered = new Map(epochEnds.map(({ epoch, seq }) => [epoch, seq]));
  const cover = ({ epoch, lastSeq }: { epoch: number; lastSeq: number }) => {
    if (uncovered.get(epoch) === lastSeq) uncovered.delete(epoch);
  };
  cover(mark.covered);
  for (const end of await checkBatches(walked, [key])) cover(end);
  for (const [epoch, lastSeq] of uncovered) {
    const detail = 'the last records of the epoch are in no signed batch';
    steps.broke(stream, signatureBreak({ epoch, lastSeq }, detail));
  }
}

function checkEnd(steps: Steps, stream: string, mark: StreamMark, head: StreamMark['end']): void {
  if (showPosition(mark.end) !== showPosition(head)) {
    steps.broke(stream, {
      kind: 'head',
      epoch: head?.epoch ?? 1,
      seq: head?.seq ?? 1,
      expected: showPosition(head),
      actual: showPosition(mark.end),
      detail: 'the chain does not end where its head says',
    });
  }
  if (mark.kind !== 'data_plane' || !mark.end) return;
  const { epoch, seq: lastSeq } = mark.end;
  if (mark.covered.epoch === epoch && mark.covered.lastSeq === lastSeq) return;
  if (readSigningKey(mark.signingKey)) {
    const detail = 'the last records of the epoch are in no signed batch';
    steps.broke(stream, signatureBreak({ epoch, lastSeq }, detail));
    return;
  }
  // It stands for the whole stream: the present end would make it another break at every walk.
  const detail = 'the writer has no registered key';
  const found = signatureBreak({ epoch: 1, lastSeq: 1 }, detail);
  steps.broke(stream, { ...found, fault: detail });
}

/** @returns false when it was stopped early */
async function checkAllPlanes(run: VerificationRun, steps: Steps): Promise<boolean> {
  const { inStore, marks } = run;
  const gone = new Set([...marks.keys()].filter((id) => marks.get(id)?.signingKey != null));
  for (let after: string | null = null; ; ) {
    const from: string | null = after;
    const planes: StoredPlane[] = await inStore((store) => store.readPlanes(from));
    if (planes.some((plane) => isNews(plane, marks.get(plane.deploymentId)))) {
      // It may have registered or forked during the walk; the admin chain says so by now.
      if (!(await walkAdminOn(run, steps))) return false;
    }
    const found = await checkPlanes(planes, marks, (places) =>
      inStore((store) => store.readHashes(places)),
    );
    for (const { stream, found: broken } of found) steps.broke(stream, broken);
    for (const { deploymentId } of planes) gone.delete(deploymentId);
    await steps.done();
    after = planes.at(-1)?.deploymentId ?? null;
    if (after === null) break;
  }
  for (const stream of gone) {
    const mark = marks.get(stream);
    if (mark) steps.broke(stream, goneBreak(mark));
  }
  return true;
}

const isNews = ({ isForked }: StoredPlane, mark: StreamMark | undefined): boolean =>
  mark?.signingKey == null || (isForked && !mark.isForked);

async function walkAdminOn(run: VerificationRun, steps: Steps): Promise<boolean> {
  const ends = await run.inStore((store) => store.readEnds());
  for (const end of ends.filter(({ kind }) => kind === 'admin')) {
    if (!(await walkStream(run, steps, end))) return false;
  }
  return true;
}

async function checkAllBundles({ tenantId, bundles }: VerificationRun, steps: Steps) {
  if (!bundles) return;
  await checkBundles({ tenantId, ...bundles }, async (found) => {
    for (const broken of found) steps.broke(BUNDLE_STREAM, broken);
    await steps.done();
  });
}

/**
 * The walks ended at the heads that they found. Newer records may exist, but none beyond the
 * current head, and none in a stream without a head.
 */
async function checkHeadsNow({ inStore, marks }: VerificationRun, steps: Steps): Promise<void> {
  for (const end of await inStore((store) => store.readEnds())) {
    if (!marks.has(end.stream) || showPosition(end.head) === showPosition(end.newest)) continue;
    steps.broke(end.stream, {
      kind: 'head',
      epoch: (end.newest ?? end.head)?.epoch ?? 1,
      seq: (end.newest ?? end.head)?.seq ?? 1,
      expected: showPosition(end.head),
      actual: showPosition(end.newest),
      detail: 'the newest record is not the one that the head names',
    });
  }
}

/** A stream removed together with its head leaves no chain to walk, but a gap in the positions. */
function checkReceipts({ marks, upTo }: VerificationRun, steps: Steps): void {
  let counted = 0;
  for (const mark of marks.values()) counted += mark.counted;
  if (counted === upTo) return;
  steps.broke(RECEIPT_STREAM, {
    kind: 'head',
    check: 'scope.complete',
    epoch: 1,
    seq: 1,
    // The number received would make it another break at every walk.
    fault: `${upTo - counted} records`,
    expected: `${upTo} records received`,
    actual: `${counted} of them stored`,
    detail: 'records are missing, or were inserted outside the order of receipt',
  });
}
