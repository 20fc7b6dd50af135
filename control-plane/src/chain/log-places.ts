/**
 * Checks what the service signed or handed out about a log: checkpoints and anchors. Each names a
 * size and a root, which must be the stored tree's root at that size.
 */

import type { KeyObject } from 'node:crypto';
import {
  isCheckpointSignedBy,
  logOrigin,
  parseCheckpoint,
  type SignedCheckpoint,
} from '@governance/shared/evidence/checkpoint';
import type { CheckName } from '@governance/shared/evidence/checks/check';
import { findCheckpointFault } from '@governance/shared/evidence/checks/checkpoint-fault';
import type { PublicJwk } from '@governance/shared/evidence/ed25519';
import { foldSubtrees, subtreesOf } from '@governance/shared/evidence/merkle-proofs';
import type { LogBreakKind } from './chain-breaks.ts';
import type { LogMark } from './log-mark.ts';
import type { LogStore } from './log-rows.ts';
import { type LogEnd, nodeName } from './log-tree-rows.ts';
import type { StoredAnchor, StoredCheckpoint } from './signed-place-rows.ts';
import { textOfTime } from './text-of-time.ts';

/**
 * The service's public keys for admin-chain batches, checkpoints and bundles, including retired
 * ones.
 */
export interface EvidenceKeys {
  batch: readonly KeyObject[];
  checkpoint: readonly { kid: string; jwk: PublicJwk }[];
  bundle: readonly { kid: string; jwk: PublicJwk }[];
}

/** A fault at a place of the log. */
export interface LogFault {
  /** Undefined: the default of the kind. */
  check?: CheckName | null;
  expected: string;
  actual: string;
  detail: string;
}

export interface LogBreak extends LogFault {
  kind: LogBreakKind;
  epoch: number;
  seq: number;
  /** Tells apart faults of one kind that can have the same place. */
  fault?: string;
}

export interface SignedPlaces {
  tenantId: string;
  /** Where the walk has arrived. */
  mark: LogMark;
  /** Leaves that an earlier walk had verified. */
  walkedBefore: number;
  end: LogEnd;
  keys: EvidenceKeys | undefined;
  isWhole: boolean;
  now: Date;
  inLog<T>(read: (store: LogStore) => Promise<T>): Promise<T>;
  onBreak(found: LogBreak): void;
  /** Called between two pages. */
  onStep(): Promise<void>;
}

/**
 * After this time, the transaction that signed a place has ended: places are checked again from
 * this long before the last check.
 */
const UNDER_WAY_MS = 60_000;
/** Bounds a page in memory: an edited note or statement may have 64 KiB. */
export const PLACES_A_PAGE = 100;

/**
 * Checks the signed places that the walk over the leaves does not reach: those of sizes walked
 * before, and those of sizes that the log does not have.
 */
export async function checkSignedPlaces(places: SignedPlaces): Promise<void> {
  const { mark, walkedBefore, isWhole, now, inLog, onBreak } = places;
  for (const { kind, epoch, size, root } of await inLog((store) => store.readBeyond())) {
    const detail = 'it belongs to a larger log, or to an epoch that the log does not have';
    const expected = `epoch ${places.end.epoch}, ${places.end.size} leaves`;
    const fault = kind === 'log_epoch' ? { fault: detail } : {};
    const check = 'log.consistency';
    onBreak({ kind, epoch, seq: size, ...fault, check, expected, actual: root, detail });
  }
  const last = mark.checkedAt === null ? null : Date.parse(mark.checkedAt) - UNDER_WAY_MS;
  if (!isWhole && last !== null) {
    const range = { since: new Date(last), upTo: walkedBefore };
    const read: ReadPage<StoredCheckpoint> = (after) =>
      inLog((store) => store.readLateCheckpoints(range, after, PLACES_A_PAGE));
    await forEachPlace(places, read, (checkpoint, root) => {
      const fault = findSignedFault(places, checkpoint, root);
      const { epoch, size: seq } = checkpoint;
      if (fault) onBreak({ kind: 'log_checkpoint', epoch, seq, ...fault });
    });
  }
  const range = { since: new Date(isWhole ? 0 : (last ?? 0)), upTo: mark.size };
  const read: ReadPage<StoredAnchor> = (after) =>
    inLog((store) => store.readAnchors(range, after, PLACES_A_PAGE));
  await forEachPlace(places, read, ({ epoch, size: seq, root: actual }, expected) => {
    if (actual === expected) return;
    const detail = 'an anchor was handed out that does not belong to this log';
    onBreak({ kind: 'log_anchor', epoch, seq, expected, actual, detail });
  });
  mark.checkedAt = now.toISOString();
}

/** @returns undefined where the checkpoint is valid */
export function findSignedFault(
  { tenantId, keys }: Pick<SignedPlaces, 'tenantId' | 'keys'>,
  { epoch, size, root, note, madeAt }: StoredCheckpoint,
  treeRoot: string,
): LogFault | undefined {
  if (root !== treeRoot) {
    const detail = 'the leaves do not give the root of the checkpoint';
    return { check: 'log.inclusion', expected: treeRoot, actual: root, detail };
  }
  const faultOf = (check: CheckName | null, detail: string): LogFault => ({
    check,
    expected: 'a signed checkpoint of this log',
    actual: 'none',
    detail,
  });
  let signed: SignedCheckpoint;
  try {
    signed = parseCheckpoint(note);
  } catch {
    return faultOf('checkpoint.signature', 'the note is not a checkpoint');
  }
  const isSigned = () =>
    keys === undefined || keys.checkpoint.some(({ jwk }) => isCheckpointSignedBy(signed, jwk));
  const origin = logOrigin(tenantId, epoch);
  const fault = findCheckpointFault(signed, { size, origin, root: treeRoot, isSigned });
  if (fault) return faultOf(fault.check, fault.detail);
  if (signed.checkpoint.time === textOfTime(madeAt)) return undefined;
  return faultOf(null, 'the column made_at differs from the note');
}

/** Reads the places behind this one. */
type ReadPage<T> = (after: T | undefined) => Promise<T[]>;

async function forEachPlace<T extends { size: number }>(
  places: SignedPlaces,
  read: ReadPage<T>,
  look: (place: T, root: string) => void,
): Promise<void> {
  for (let page = await read(undefined); ; page = await read(page.at(-1))) {
    await forEachRoot(places, page, look);
    if (page.length < PLACES_A_PAGE) return;
    await places.onStep();
  }
}

/**
 * Calls `look` with each place and the stored tree's root at its size; sizes beyond the walk are
 * left out.
 *
 * @param page at most PLACES_A_PAGE
 */
export async function forEachRoot<T extends { size: number }>(
  { mark, inLog }: SignedPlaces,
  page: readonly T[],
  look: (place: T, root: string) => void,
): Promise<void> {
  const within = page.filter(({ size }) => size > 0 && size <= mark.size);
  const nodes = await inLog((store) => store.readFrontiers(within.map(({ size }) => size)));
  for (const place of within) {
    const roots = subtreesOf({ start: 0, end: place.size }).map((at) => nodes.get(nodeName(at)));
    const isWhole = roots.every((root) => root !== undefined);
    look(place, isWhole ? foldSubtrees(roots) : 'none: a node is missing');
  }
}
