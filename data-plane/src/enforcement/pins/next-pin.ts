/**
 * Derives the next row of a tool's pin from the definition that its server lists now. Proven by
 * pinned-tools.test.ts.
 */
import { DAY_MS } from '@governance/shared/time/durations';
import { isoTime } from '@governance/shared/time/iso-time';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';
import type { PinRow } from './pin-file.ts';
import { definitionOf, textsOfDefinition } from './tool-definition.ts';

/** The bundle's pin of a tool. */
export interface BundlePin {
  readonly hash: string;
  /** Whether every definition of the tool is approved. */
  readonly varies?: boolean | undefined;
  /** When an administrator approved it. */
  readonly approved_at?: string | undefined;
}

export interface NextPin {
  readonly row: PinRow;
  /** Whether the change has to be reported. */
  readonly isReported: boolean;
}

/** Reported changes of one tool within a day; with one more, it counts as varying. */
const MAX_CHANGES = 4;
/** For a varying tool, the last seen definition is stored at most this often. */
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
    put_off: 0,
    approval: pin?.approved_at ?? '',
  };
  return { row, isReported: !isPinned && !pin.varies };
}

/** The row after a tool was seen again; null where its definition is not to be written. */
export function nextPin(
  row: PinRow,
  tool: ListedTool,
  pin: BundlePin | undefined,
  now: number,
): NextPin | null {
  const next = pinAfter(row, tool, pin, now);
  const isAhead = (time: string) => Date.parse(time) > now;
  if (!isAhead(row.seen_at) && !isAhead(row.counted_from)) return next;
  // The clock was put back: a tool that varies would wait until the time that it showed, whatever is
  // approved, and changes until then would be counted as those of one day.
  const { row: found, isReported } = next ?? { row: { ...row, put_off: 0 }, isReported: false };
  const notLater = (time: string) => (isAhead(time) ? isoTime(now) : time);
  const [seen_at, counted_from] = [notLater(found.seen_at), notLater(found.counted_from)];
  return { row: { ...found, seen_at, counted_from }, isReported };
}

function pinAfter(
  row: PinRow,
  tool: ListedTool,
  pin: BundlePin | undefined,
  now: number,
): NextPin | null {
  const { digest, members } = definitionOf(tool);
  const isSame = row.seen === digest;
  const isNewPin = pin !== undefined && pin.hash !== row.pinned;
  const isSettled = row.varies === 1 && isApprovedSince(row, pin);
  const approval = approvalAfter(row, pin);
  if (isSame && !isNewPin && !isSettled) {
    if (approval === row.approval) return null;
    const put_off = isPutOff(row, tool, now) ? 1 : 0;
    return { row: { ...row, put_off, approval }, isReported: false };
  }
  const next = { ...row, put_off: 0, approval };
  if (isNewPin || isSettled) {
    next.changes = 0;
    next.varies = 0;
  }
  // The bundle's pin, approved or first seen at another data plane, replaces the local one.
  if (isNewPin) {
    const isSeen = pin.hash === row.seen;
    next.pinned = pin.hash;
    next.members = isSeen ? row.seen_members : '{}';
    next.pinned_texts = isSeen ? (row.seen_texts ?? row.pinned_texts) : null;
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
  // The definition matches the old local pin, but not the bundle's new one.
  const isOther = isNewPin && row.pinned === digest;
  if (isOther) next.seen_at = isoTime(now);
  return { row: next, isReported: isOther && pin?.varies !== true };
}

/** Counts a change. A tool that changes too often counts as varying, and is not reported again. */
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
    // A tool varies until its definition has stayed the same for a day.
    if (sinceLast > DAY_MS) next.varies = 0;
  }
  next.changes++;
  if (next.changes > MAX_CHANGES) next.varies = 1;
  if (next.varies === 1) next.approval ??= '';
  next.seen_at = isoTime(now);
  const isQuiet = hasVaried && next.varies === 1;
  if (isQuiet && isRecent(before, now)) return null;
  return { row: next, isReported: !isQuiet && pin?.varies !== true };
}

/**
 * Whether the present definition counts as unknown where `nextPin` writes none: it is not the noted
 * one, or was not a moment ago. It is forgotten as rarely as definitions are noted, so that a tool
 * that goes back and forth makes no write each time.
 */
export function isPutOff(row: PinRow, tool: ListedTool, now: number): boolean {
  if (row.varies === 1 && definitionOf(tool).digest !== row.seen) return true;
  return row.put_off === 1 && isRecent(row, now);
}

function isRecent({ seen_at }: PinRow, now: number): boolean {
  const since = now - Date.parse(seen_at);
  return since >= 0 && since < VARIES_EVERY_MS;
}

/** Whether a tool has changed, so that it must be approved before use. */
export function isChanged(row: PinRow, pin: BundlePin | undefined, now: number): boolean {
  // Nobody knows which definition of a varying tool an agent saw, unless one was approved since.
  const isApproved = pin !== undefined && (pin.hash !== row.pinned || isApprovedSince(row, pin));
  const hasVaried = row.varies === 1 && now - Date.parse(row.seen_at) < DAY_MS;
  if (row.put_off === 1) return true;
  return row.seen !== (pin?.hash ?? row.pinned) || (hasVaried && !isApproved);
}

/**
 * Whether an administrator approved the pin since. Approvals of a tool have ascending times, which
 * are compared with each other: not with times of this machine, whose clock may be another.
 */
function isApprovedSince({ approval, seen_at }: PinRow, pin: BundlePin | undefined): boolean {
  if (pin?.approved_at === undefined) return false;
  if (approval === null) return Date.parse(pin.approved_at) >= Date.parse(seen_at);
  return pin.approved_at > approval;
}

/** The approval that a row follows from now on. */
function approvalAfter(row: PinRow, pin: BundlePin | undefined): string | null {
  if (pin?.approved_at !== undefined) {
    return row.approval !== null && row.approval > pin.approved_at ? row.approval : pin.approved_at;
  }
  return row.varies === 1 ? (row.approval ?? '') : row.approval;
}
