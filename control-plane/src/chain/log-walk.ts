/**
 * Verifies the tenant's stored log: each leaf is a stored signed batch, the nodes follow from the
 * leaves, and everything signed or handed out is a root of that tree. Each check compares stored
 * rows with each other, so that one edit fails only the checks of the edited row; together they
 * cover every row. Continues from a mark, a page of leaves at a time. Proven by
 * log-verification.pg.test.ts.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { foldSubtrees, subtreesCompletedBy } from '@governance/shared/evidence/merkle-proofs';
import { nodeHash } from '@governance/shared/ledger/merkle';
import { findLeafFault } from './leaf-check.ts';
import { checkLogEpochs } from './log-epoch-check.ts';
import { countCheckpoint, isKept, type LogMark, newLogMark } from './log-mark.ts';
import type { EvidenceKeys, LogBreak } from './log-places.ts';
import { checkSignedPlaces, findSignedFault } from './log-places.ts';
import type { LogStore } from './log-rows.ts';
import type { LogEnd } from './log-tree-rows.ts';
import { nodeName } from './log-tree-rows.ts';
import type { StoredCheckpoint } from './signed-place-rows.ts';

export type { EvidenceKeys } from './log-places.ts';

export interface LogWalk {
  tenantId: string;
  /** Where the walk continues; updated as it goes. */
  mark: LogMark;
  /** Read before the admin chain was walked. */
  end: LogEnd;
  keys: EvidenceKeys | undefined;
  /** Whether this is a full walk. */
  isWhole: boolean;
  now: Date;
  inLog<T>(read: (store: LogStore) => Promise<T>): Promise<T>;
  /** Whether the admin chain registered a writer for the stream. */
  isWriter(stream: string): boolean;
  onBreak(found: LogBreak): void;
  /** Called after each page. */
  onStep(): Promise<void>;
  shouldStop(): boolean;
}

/** Bounds a page in memory: a leaf has about 1 KiB, and twice as many nodes. */
const PAGE_LEAVES = 500;
/** Missing leaves at the end of the log that are shown one by one. */
const MISSING_LEAVES = 20;
/** About 1 ms of work. */
const LEAVES_A_TURN = 64;

/** @returns false when it was stopped early */
export async function walkLog(walk: LogWalk): Promise<boolean> {
  checkSizes(walk);
  await checkMark(walk);
  const walkedBefore = walk.mark.size;
  if (!(await walkLeaves(walk))) return false;
  const places = { ...walk, walkedBefore };
  await checkSignedPlaces(places);
  await checkLogEpochs(places);
  checkDays(walk);
  await walk.onStep();
  return true;
}

/**
 * Compares the sizes in several tables; ingest, log growth and admin batches each change theirs in
 * one transaction.
 */
function checkSizes({ end, onBreak }: LogWalk): void {
  const wrong = (expected: string, actual: string, detail: string) => {
    if (expected === actual) return;
    // The log's present size would make it another break at every walk.
    const place = { epoch: end.epoch, seq: 0 };
    onBreak({ kind: 'log_size', ...place, fault: detail, expected, actual, detail });
  };
  const { size, indexes, leaves, nodes, admin, adminBatches } = end;
  wrong(`${indexes} leaves`, `${leaves} leaves`, 'the leaves do not end at the next index');
  wrong(`${size} leaves`, `${nodes} leaves`, 'the nodes do not end with the tree');
  wrong(adminBatches, admin, 'the batches of the admin chain do not end where the log says');
  if (size > indexes) wrong(`${indexes} leaves`, `${size} leaves`, 'the tree has more leaves');
}

const placeOf = ({ epoch, size }: { epoch: number; size: number }) => ({ epoch, seq: size });

/** Checks that the tree and the checkpoint that the previous walk verified still exist. */
async function checkMark({ mark, end, isWhole, now, inLog, onBreak }: LogWalk): Promise<void> {
  if (end.size < mark.size || end.epoch < mark.epoch) {
    const expected = `epoch ${mark.epoch}, ${mark.size} leaves`;
    const actual = `epoch ${end.epoch}, ${end.size} leaves`;
    const detail = 'the log is smaller than it was at the last verification';
    onBreak({ kind: 'log_size', ...placeOf(mark), expected, actual, detail });
    // Walks from the beginning, since the stored log may be an entirely different one.
    Object.assign(mark, { ...newLogMark(mark.expected), epoch: end.epoch });
    return;
  }
  mark.epoch = end.epoch;
  if (mark.size > 0) {
    const nodes = await inLog((store) => store.readFrontiers([mark.size]));
    const stored = frontierOf(mark.size, nodes);
    for (const [i, expected] of mark.frontier.entries()) {
      const actual = stored[i] ?? 'none';
      if (actual === expected) continue;
      const detail = 'a verified node has changed';
      const fault = `node ${i} of the edge`;
      onBreak({ kind: 'log_node', ...placeOf(mark), fault, expected, actual, detail });
      // Continuing from the stored node keeps one edit from being reported at each walk.
      mark.frontier[i] = stored[i] ?? expected;
    }
  }
  const newest = mark.checkpoint;
  // A full walk takes long; its newest checkpoint may be thinned out in the meantime.
  if (!newest || isWhole || !isKept(newest.madeAt, now)) return;
  const root = await inLog((store) => store.findCheckpointRoot(newest.epoch, newest.size));
  if (root === newest.root) return;
  const detail = 'the newest verified checkpoint is gone or has changed';
  const actual = root ?? 'none';
  onBreak({ kind: 'log_checkpoint', ...placeOf(newest), expected: newest.root, actual, detail });
  mark.checkpoint = null;
}

/**
 * The stored roots of a tree's full subtrees, from left to right; undefined where a node is
 * missing.
 */
function frontierOf(size: number, nodes: ReadonlyMap<string, string>): (string | undefined)[] {
  const found: (string | undefined)[] = [];
  for (let at = 0, level = Math.floor(Math.log2(size)); level >= 0; level--) {
    if (at + 2 ** level > size) continue;
    found.push(nodes.get(nodeName({ level, index: at / 2 ** level })));
    at += 2 ** level;
  }
  return found;
}

const newestOf = ({ epoch, size, root, madeAt }: StoredCheckpoint): LogMark['checkpoint'] => ({
  ...{ epoch, size, root },
  madeAt: madeAt.toISOString(),
});

/** @returns false when it was stopped early */
async function walkLeaves(walk: LogWalk): Promise<boolean> {
  const { mark, end, isWhole, inLog, onStep, shouldStop } = walk;
  // A checkpoint is signed a moment after its leaves are stored. The walk over new records ends at
  // the newest checkpoint, so that all checkpoints of the walked leaves exist.
  const wanted = isWhole ? end.size : Math.min(end.size, end.checkpointSize);
  // A size that was put there is a break already, and would be walked for ever: a few of the leaves
  // that are not there are enough.
  const target = Math.min(wanted, Math.min(end.indexes, end.leaves) + MISSING_LEAVES);
  while (mark.size < target) {
    const from = mark.size;
    const to = Math.min(from + PAGE_LEAVES, target);
    const page = await inLog(async (store) => ({
      leaves: await store.readLeaves(from, to),
      nodes: await store.readNodesOf(from, to),
      checkpoints: await store.readCheckpoints(from, to),
    }));
    await walkPage(walk, to, page);
    await onStep();
    if (shouldStop()) return false;
  }
  return true;
}

interface LogPage {
  leaves: Awaited<ReturnType<LogStore['readLeaves']>>;
  nodes: ReadonlyMap<string, string>;
  checkpoints: readonly StoredCheckpoint[];
}

async function walkPage(walk: LogWalk, to: number, page: LogPage): Promise<void> {
  const { mark, onBreak } = walk;
  const { epoch } = mark;
  const { nodes } = page;
  const leaves = new Map(page.leaves.map((leaf) => [leaf.leafIndex, leaf]));
  const checkpoints = new Map<number, StoredCheckpoint[]>();
  for (const one of page.checkpoints) {
    checkpoints.set(one.size, [...(checkpoints.get(one.size) ?? []), one]);
  }
  const edge = [...mark.frontier];
  for (let index = mark.size; index < to; index++) {
    const seq = index + 1;
    const node = nodes.get(nodeName({ level: 0, index }));
    const { hash, fault } = findLeafFault(walk, leaves.get(index), node);
    if (fault) onBreak({ kind: 'log_leaf', epoch, seq, ...fault });
    // Continues from the stored hash, so that an edited leaf is not reported as a fault of its
    // parents.
    let top = node ?? hash;
    for (const at of subtreesCompletedBy(index)) {
      const expected = nodeHash(edge.pop() ?? top, top);
      const actual = nodes.get(nodeName(at));
      if (actual !== expected) {
        const detail = `the node ${nodeName(at)} does not follow from the two below it`;
        const fault = { expected, actual: actual ?? 'none', detail };
        onBreak({ kind: 'log_node', epoch, seq, fault: detail, ...fault });
      }
      top = actual ?? expected;
    }
    edge.push(top);
    for (const checkpoint of checkpoints.get(seq) ?? []) {
      const wrong = findSignedFault(walk, checkpoint, foldSubtrees(edge));
      if (wrong) onBreak({ kind: 'log_checkpoint', epoch: checkpoint.epoch, seq, ...wrong });
      countCheckpoint(mark, checkpoint.madeAt, seq);
      if (!wrong) mark.checkpoint = newestOf(checkpoint);
    }
    if (index % LEAVES_A_TURN === LEAVES_A_TURN - 1) await nextTurn();
  }
  mark.size = to;
  mark.frontier = edge;
}

/** Verified checkpoints that are not thinned out yet must exist. */
function checkDays({ mark, isWhole, now, onBreak }: LogWalk): void {
  if (!isWhole) return;
  for (const { day, checkpoints, size } of mark.expected) {
    // Older ones may be thinned out to one an hour.
    if (!isKept(day, now)) continue;
    const stored = mark.days.find((one) => one.day === day)?.checkpoints ?? 0;
    if (stored >= checkpoints) continue;
    onBreak({
      kind: 'log_checkpoint',
      // The size that the day reached so far would make it another break at every walk.
      epoch: mark.epoch,
      seq: 0,
      fault: day,
      check: null,
      expected: `${checkpoints} of ${day}, the last with ${size} leaves`,
      actual: `${stored}`,
      detail: 'verified checkpoints are gone',
    });
  }
}
