/**
 * The checks that need all volumes of an export: none is missing, and the log, its streams and the
 * uses of approvals continue from one to the next. Each volume is walked once; of earlier volumes
 * only their ends and their used approvals are kept. Proven by verify-set.test.ts.
 */

import {
  type CheckResult,
  createTally,
  type Observer,
  type Tally,
} from '@governance/shared/evidence/checks/check';
import { toDisputable, warningOf } from '@governance/shared/evidence/checks/disputes';
import type {
  BoundarySeen,
  DisputableRecord,
  EventView,
  Evidence,
} from '@governance/shared/evidence/checks/evidence';
import {
  createUnreadLinks,
  type FollowingRecord,
  type StreamPlace,
} from '@governance/shared/evidence/checks/unread-links';
import {
  type EvidenceManifest,
  SET_LIMITS,
  VOLUME_LIMITS,
} from '@governance/shared/evidence/evidence-package';
import { createMerkleTree } from '@governance/shared/evidence/merkle-proofs';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { VerificationResult } from './verify-package.ts';

/** In the order of reports. */
export const SET_CHECK_NAMES = ['set.volumes', 'set.log', 'set.streams', 'set.approvals'] as const;
export type SetCheckName = (typeof SET_CHECK_NAMES)[number];
export type SetCheckResult = CheckResult<SetCheckName>;

const SELECTIVE = 'the volumes are selective: their records stand alone';

export interface SetChecks {
  /** The observer of the next volume. */
  observe(evidence: Evidence): Observer;
  /** The result of the last observed volume. */
  add(result: VerificationResult): void;
  end(): SetCheckResult[];
}

/** The checks over a set of volumes. Volumes are observed and added one by one, in their order. */
export function createSetChecks(): SetChecks {
  const tallies = {
    volumes: createTally<SetCheckName>('set.volumes'),
    log: createTally<SetCheckName>('set.log'),
    streams: createTally<SetCheckName>('set.streams'),
    approvals: createTally<SetCheckName>('set.approvals'),
  };
  const { log, streams, approvals } = tallies;
  const volumes = createVolumeOrder(tallies.volumes);
  const trees = createTreeWalk(log);
  const walk = createStreamEnds(streams);
  const uses = createApprovalUses(approvals);
  let file = 0;
  let last: Evidence | undefined;

  return {
    observe: (evidence) => {
      file++;
      last = evidence;
      const number = file;
      return {
        documents: () => {
          if (evidence.manifest.scope.kind === 'selective') streams.skip(SELECTIVE);
          trees.add(evidence, number);
        },
        // Batches prove the place of an unreadable record.
        batchesEnd: () => walk.begin(evidence, number),
        event: (event) => {
          walk.event(event, number);
          uses.event(event, number);
        },
        eventsEnd: () => walk.end(evidence, number),
        failed: () => {
          for (const tally of [log, streams, approvals]) {
            tally.fail(`file ${number} could not be compared with the others`);
          }
        },
      };
    },
    add: (result) => {
      volumes.add(result, file);
      if (last) uses.end(last);
      if (result.package) return;
      for (const tally of [log, streams, approvals]) tally.fail(`file ${file} is no package`);
    },
    end: () => {
      volumes.end();
      return Object.values(tallies).map((tally) => tally.result());
    },
  };
}

/** `set.volumes`: all volumes of one export, in order, each naming the previous one. */
function createVolumeOrder(tally: Tally<SetCheckName>) {
  let before: VerificationResult['package'] = null;
  let count = 0;
  let expected: number | undefined;
  return {
    add: ({ package: of }: VerificationResult, file: number) => {
      count++;
      const fault = of ? findOrderFault(of, before, file) : `file ${file} is no package`;
      if (fault === undefined) tally.ok();
      else tally.fail(fault);
      expected ??= of?.volume.of;
      before = of;
    },
    end: () => {
      if (expected !== undefined && expected !== count) {
        tally.fail(`${count} of ${expected} volumes are there`);
      }
    },
  };
}

type PackageSeen = NonNullable<VerificationResult['package']>;

function findOrderFault(
  of: PackageSeen,
  before: PackageSeen | null,
  file: number,
): string | undefined {
  const { number, previous } = of.volume;
  if (number !== file) return `file ${file} is volume ${number}`;
  if (!before) return undefined;
  if (of.set_id !== before.set_id) return `file ${file} is of another export`;
  if (commonOf(of) !== commonOf(before)) return `file ${file} is of another tenant, scope or log`;
  if (previous === before.manifest_digest) return undefined;
  return `file ${file} follows another volume than the one before`;
}

/** What all volumes of an export have in common. */
function commonOf({ tenant_id, scope, log, volume }: PackageSeen): string {
  const { origin, epoch } = log;
  return canonicalize({ tenant_id, scope, origin, epoch, of: volume.of });
}

interface Tree {
  size: number;
  root: string | undefined;
}

/**
 * `set.log`: each volume begins with the very tree with which the previous one ends. The frontier
 * of a range proves it: it yields the root before the range's first leaf and, with all its leaves,
 * the root of the closing checkpoint (`log.inclusion`). Selective volumes are proven in one tree.
 */
function createTreeWalk(tally: Tally<SetCheckName>) {
  let before: (Tree & { epoch: number }) | undefined;
  return {
    add: ({ manifest, checkpoints, proofs }: Evidence, file: number) => {
      const { log, scope } = manifest;
      const end: Tree = { size: log.end, root: checkpoints.get(log.end)?.checkpoint.root };
      const start = scope.kind === 'contiguous' ? startOf(log.start, proofs.range) : end;
      const last = before;
      before = { ...end, epoch: log.epoch };
      if (!last) return;
      if (last.epoch !== log.epoch) tally.fail(`file ${file} is of another log epoch`);
      else if (last.size !== start.size) {
        tally.fail(`file ${file} does not go on where the log of the one before ends`);
      } else if (last.root === undefined || last.root !== start.root) {
        tally.fail(`file ${file} goes on from another log than the one before ends with`);
      } else tally.ok();
    },
  };
}

function startOf(size: number, range: Evidence['proofs']['range']): Tree {
  try {
    const root = createMerkleTree(size, range?.frontier).root();
    return { size, root: range?.start === size ? root : undefined };
  } catch {
    return { size, root: undefined };
  }
}

type StreamSeen = EvidenceManifest['streams'][number];

/**
 * `set.streams`: each stream continues after the record at which an earlier volume left it, or
 * repeats records up to it; the past of a stream that first appears later lies before the export's
 * time.
 */
function createStreamEnds(tally: Tally<SetCheckName>) {
  const ends = new Map<string, StreamPlace>();
  /** Streams that repeat records and have not yet reached the place where they were left. */
  const repeated = new Map<string, StreamPlace>();
  const links = createUnreadLinks(SET_LIMITS.unread);

  function hold(record: FollowingRecord, file: number): void {
    if (links.add(record)) return;
    tally.fail(`an unread record is in file ${file} behind another one than before`);
  }

  function begin(
    { stream, first }: StreamSeen,
    boundary: BoundarySeen | undefined,
    file: number,
  ): void {
    const end = ends.get(stream);
    if (!end) {
      const isWhole = boundary ? boundary.isBefore : first.epoch === 1 && first.seq === 1;
      // In the first volume `scope.complete` checks this.
      if (isWhole || file === 1) tally.ok();
      else tally.fail(`file ${file} has a stream whose records of before no volume has`);
    } else if (boundary && isSame(boundary, end) && boundary.hash === end.hash) tally.ok();
    else if (first.epoch === end.epoch && first.seq <= end.seq) repeated.set(stream, end);
    else tally.fail(`records of a stream are missing before file ${file}`);
  }

  return {
    begin: (evidence: Evidence, file: number) => {
      const { scope, streams } = evidence.manifest;
      if (scope.kind === 'selective') return;
      const boundaries = new Map(evidence.boundaries.map((one) => [one.stream, one]));
      for (const one of evidence.boundaries.flatMap(({ unread }) => unread)) hold(one, file);
      for (const one of streams) begin(one, boundaries.get(one.stream), file);
    },
    event: (event: EventView, file: number) => {
      const { place, hash, batch, index, isUnread, follows } = event;
      const stream = place?.stream ?? batch?.stream ?? '';
      const epoch = place?.epoch ?? batch?.epoch ?? 0;
      const seq = place?.seq ?? (batch ? batch.firstSeq + index : 0);
      hold({ stream, epoch, seq, hash, isUnread, follows }, file);
      const end = repeated.get(stream);
      if (!end || !isSame(end, { epoch, seq })) return;
      repeated.delete(stream);
      if (hash === end.hash) tally.ok();
      else tally.fail(`a record that file ${file} repeats is another one`);
    },
    end: ({ manifest }: Evidence, file: number) => {
      for (const _ of repeated) tally.fail(`a repetition is cut off in file ${file}`);
      repeated.clear();
      if (manifest.scope.kind === 'selective') return;
      if (links.isFull()) tally.fail('there are more unread records than a set may have');
      for (const { stream, last } of manifest.streams) {
        if (ends.size < SET_LIMITS.streams || ends.has(stream)) ends.set(stream, last);
        else tally.fail('there are more streams than a set may have');
      }
    },
  };
}

const isSame = (
  one: Pick<StreamPlace, 'epoch' | 'seq'>,
  other: Pick<StreamPlace, 'epoch' | 'seq'>,
): boolean => one.epoch === other.epoch && one.seq === other.seq;

interface ApprovalUse {
  hash: string;
  file: number;
  isDisputed: boolean;
}

/** A use in the volume that is read, with what its disputes are looked up by. */
interface FreshUse {
  use: string;
  one: ApprovalUse;
  record: DisputableRecord;
}

/**
 * `set.approvals`: no approval covers calls in two volumes. The same call repeated is not a second
 * use, and a call of another data plane is none (`approval.binding`). Where the control plane
 * disputed one of two uses, the data plane is warned of, as in one volume.
 */
function createApprovalUses(tally: Tally<SetCheckName>) {
  const uses = new Map<string, ApprovalUse>();
  let fresh: FreshUse[] = [];
  /** Behind a fresh one in its volume. */
  let beside: FreshUse[] = [];
  let again: FreshUse[] = [];
  const twice = (known: ApprovalUse, file: number) =>
    `an approval was used in file ${known.file} and in file ${file}`;
  return {
    event: (event: EventView, file: number) => {
      const { record, hash } = event;
      if (record?.type !== 'decision') return;
      if (record.v !== 2 || record.grant_id === null) return;
      const use = `${record.stream}/${record.grant_id}`;
      const known = uses.get(use);
      if (known?.hash === hash) return;
      const one = { hash, file, isDisputed: false };
      const seen = { use, one, record: toDisputable(event, record) };
      // Within one volume `approval.binding` checks this.
      if (known?.file === file) {
        if (beside.length < VOLUME_LIMITS.causes) beside.push(seen);
      } else if (known && again.length < VOLUME_LIMITS.causes) again.push(seen);
      else if (known) tally.fail(twice(known, file));
      else if (uses.size >= SET_LIMITS.approvals) {
        tally.fail('there are more approvals than a set may have');
      } else {
        uses.set(use, one);
        fresh.push(seen);
        tally.ok();
      }
    },
    /** A volume was read to its end, and with it what the control plane disputed. */
    end: ({ disputes }: Evidence) => {
      for (const { one, record } of [...fresh, ...beside, ...again]) {
        one.isDisputed = disputes.isDisputed('approval.binding', record);
      }
      for (const { use, one, record } of [...beside, ...again]) {
        const known = uses.get(use);
        if (!known) continue;
        if (known.file === one.file) {
          // The disputed one may come first, and is not what a later volume contradicts.
          if (known.isDisputed && !one.isDisputed) uses.set(use, one);
          continue;
        }
        const fault = twice(known, one.file);
        if (known.isDisputed || one.isDisputed) tally.warn(warningOf(record.stream, fault));
        else tally.fail(fault);
        if (known.isDisputed) uses.set(use, one);
      }
      fresh = [];
      beside = [];
      again = [];
    },
  };
}
