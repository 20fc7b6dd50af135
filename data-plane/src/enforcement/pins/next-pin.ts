/**
 * What a definition, as a server lists it now, makes of its tool's pin. Proven by
 * pinned-tools.test.ts.
 */
import { isoTime } from '@governance/shared/iso-time';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';
import type { PinRow } from './pin-file.ts';
import { definitionOf, textsOfDefinition } from './tool-definition.ts';

/** The bundle's pin of a tool. */
export interface BundlePin {
  readonly hash: string;
  /** Every other definition is approved too. */
  readonly varies?: boolean | undefined;
}

export interface NextPin {
  readonly row: PinRow;
  /** Whether it is a change to be reported. */
  readonly isReported: boolean;
}

/** Reported changes of one tool within a day; one more, and it varies. */
const MAX_CHANGES = 4;
const DAY_MS = 24 * 60 * 60_000;
/** For a tool that varies, the last seen definition is stored at most this often. */
const VARIES_EVERY_MS = 10 * 60_000;

/** The row of a tool that is seen for the first time. */
export function firstPin(tool: ListedTool, pin: BundlePin | undefined, now: number): NextPin {
  const at = isoTime(now);
  const { digest, members } = definitionOf(tool);
  const seen_members = JSON.stringify(members);
  const texts = JSON.stringify(textsOfDefinition(tool));
  const isPinned = pin === undefined || pin.hash === digest;
  const row: PinRow = {
    pinned: pin?.hash ?? digest,
    members: isPinned ? seen_members : '{}',
    seen: digest,
    seen_members,
    first_seen_at: at,
    seen_at: at,
    pinned_texts: isPinned ? texts : null,
    seen_texts: isPinned ? null : texts,
    changes: 0,
    counted_from: at,
    varies: 0,
  };
  return { row, isReported: !isPinned && !pin.varies };
}

/** The row after a tool was seen again; null where nothing of it is to be written. */
export function nextPin(
  row: PinRow,
  tool: ListedTool,
  pin: BundlePin | undefined,
  now: number,
): NextPin | null {
  const { digest, members } = definitionOf(tool);
  const isSame = row.seen === digest;
  const isNewPin = pin !== undefined && pin.hash !== row.pinned;
  if (isSame && !isNewPin) return null;
  const next = { ...row };
  // The bundle's pin, approved or first seen elsewhere, replaces the local one.
  if (isNewPin) {
    const isSeen = pin.hash === row.seen;
    next.pinned = pin.hash;
    next.members = isSeen ? row.seen_members : '{}';
    next.pinned_texts = isSeen ? (row.seen_texts ?? row.pinned_texts) : null;
    next.changes = 0;
    next.varies = 0;
  }
  const texts = JSON.stringify(textsOfDefinition(tool));
  next.seen = digest;
  next.seen_members = JSON.stringify(members);
  if (next.pinned === digest) {
    next.members = next.seen_members;
    next.pinned_texts = texts;
    next.seen_texts = null;
  } else next.seen_texts = texts;
  if (!isSame) return countChange(next, row, pin, now);
  // It matched the local pin but not the bundle's: another data plane knows another definition.
  const isOther = row.pinned === digest;
  if (isOther) next.seen_at = isoTime(now);
  return { row: next, isReported: isOther && pin?.varies !== true };
}

/** Counts one more change: a tool that changes too often varies, and is reported no more. */
function countChange(
  next: PinRow,
  before: PinRow,
  pin: BundlePin | undefined,
  now: number,
): NextPin | null {
  const hasVaried = next.varies === 1;
  const sinceLast = now - Date.parse(before.seen_at);
  if (now - Date.parse(before.counted_from) > DAY_MS) {
    next.changes = 0;
    next.counted_from = isoTime(now);
    // It varies until it has stayed the same for a day.
    if (sinceLast > DAY_MS) next.varies = 0;
  }
  next.changes++;
  if (next.changes > MAX_CHANGES) next.varies = 1;
  next.seen_at = isoTime(now);
  const isQuiet = hasVaried && next.varies === 1;
  if (isQuiet && sinceLast >= 0 && sinceLast < VARIES_EVERY_MS) return null;
  return { row: next, isReported: !isQuiet && pin?.varies !== true };
}

/** Whether a tool has changed, so that it must be approved before use. */
export function isChanged(row: PinRow, pin: BundlePin | undefined, now: number): boolean {
  // Which of its definitions an agent was shown is unknown, unless one was approved since.
  const isApproved = pin !== undefined && pin.hash !== row.pinned;
  const hasVaried = row.varies === 1 && now - Date.parse(row.seen_at) < DAY_MS;
  return row.seen !== (pin?.hash ?? row.pinned) || (hasVaried && !isApproved);
}
