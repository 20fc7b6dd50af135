/**
 * How far a walk is in the tenant's log, and what it remembers of it: enough to go on, also in
 * another process. Kept beside the marks of the streams, under the id of the log's breaks.
 */
import { Sha256Hex, Timestamp } from '@governance/shared/text';
import { z } from 'zod';

/** Checkpoints of one day (UTC, by when they were made), and the largest size among them. */
const CheckpointDay = z.strictObject({
  day: z.iso.date(),
  checkpoints: z.int().positive(),
  size: z.int().positive(),
});
export type CheckpointDay = z.infer<typeof CheckpointDay>;

/** Checkpoints are kept for seven days; of the last of them some may be thinned out already. */
export const REMEMBERED_DAYS = 6;
const DAY_MS = 86_400_000;

/** Whether what was made then is there still, if nobody removed it. */
export const isKept = (madeAt: string, now: Date): boolean =>
  now.getTime() - Date.parse(madeAt) <= REMEMBERED_DAYS * DAY_MS;

const LogMark = z.strictObject({
  epoch: z.int().positive(),
  /** Leaves that were verified, with the tree over them. */
  size: z.int().nonnegative(),
  /** The roots of the full subtrees of these, from left to right, as they were stored. */
  frontier: z.array(Sha256Hex).max(64),
  /** The newest checkpoint that was verified. */
  checkpoint: z
    .strictObject({
      epoch: z.int().positive(),
      size: z.int().positive(),
      root: Sha256Hex,
      madeAt: Timestamp,
    })
    .nullable(),
  /** Those that were verified, by day. */
  days: z.array(CheckpointDay).max(REMEMBERED_DAYS + 2),
  /** Of a walk over everything: what the one over new records remembered when it began. */
  expected: z.array(CheckpointDay).max(REMEMBERED_DAYS + 2),
  /** When checkpoints and anchors of earlier sizes were looked at last. */
  checkedAt: Timestamp.nullable(),
});
export type LogMark = z.infer<typeof LogMark>;

/** @param expected of checkpoints, for a walk over everything */
export function newLogMark(expected: readonly CheckpointDay[] = []): LogMark {
  return {
    epoch: 1,
    size: 0,
    frontier: [],
    checkpoint: null,
    days: [],
    expected: [...expected],
    checkedAt: null,
  };
}

/** @returns undefined where the text is no mark: the log is then walked from its beginning */
export function readLogMark(text: string): LogMark | undefined {
  try {
    return LogMark.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Counts a checkpoint that was verified, and forgets days that are long ago. */
export function countCheckpoint(mark: LogMark, made: Date, size: number): void {
  const day = made.toISOString().slice(0, 10);
  const known = mark.days.find((one) => one.day === day);
  if (known) {
    known.checkpoints += 1;
    known.size = Math.max(known.size, size);
    return;
  }
  mark.days = [...mark.days, { day, checkpoints: 1, size }]
    .sort((a, b) => (a.day < b.day ? -1 : 1))
    .slice(-(REMEMBERED_DAYS + 1));
}
