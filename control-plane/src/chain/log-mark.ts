/**
 * A walk's progress in the tenant's log, with everything that it needs to continue, also in another
 * process. Stored with the marks of the streams, under the id of the log's breaks.
 */

import { Sha256Hex, Timestamp } from '@governance/shared/text';
import { DAY_MS } from '@governance/shared/time/durations';
import { z } from 'zod';
import { textOfTime } from './text-of-time.ts';

const Day = z.iso.date();

/** The number of checkpoints made on one day (UTC), and the largest size among them. */
const CheckpointDay = z.strictObject({
  day: Day,
  checkpoints: z.int().positive(),
  size: z.int().positive(),
});
export type CheckpointDay = z.infer<typeof CheckpointDay>;

/**
 * All checkpoints are kept for seven days (log-growth.ts); those of the seventh day may already be
 * thinned out.
 */
const REMEMBERED_DAYS = 6;

/** Whether the checkpoints of that day must still exist, if nobody removed any. */
export const isKept = (madeAt: string, now: Date): boolean =>
  now.getTime() - Date.parse(madeAt) <= REMEMBERED_DAYS * DAY_MS;

const LogMark = z.strictObject({
  epoch: z.int().positive(),
  /** Leaves that were verified, with the tree over them. */
  size: z.int().nonnegative(),
  /** The stored roots of the full subtrees of that tree, from left to right. */
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
  /** The verified checkpoints, by day. */
  days: z.array(CheckpointDay).max(REMEMBERED_DAYS + 2),
  /** For a full walk: the counts of the walk over new records when the full walk began. */
  expected: z.array(CheckpointDay).max(REMEMBERED_DAYS + 2),
  /** When checkpoints and anchors of earlier sizes were last checked. */
  checkedAt: Timestamp.nullable(),
});
export type LogMark = z.infer<typeof LogMark>;

/** @param expected the checkpoints that a full walk has to find */
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

/**
 * @returns undefined where the text is not a mark: the walk then starts at the beginning of the log
 */
export function readLogMark(text: string): LogMark | undefined {
  try {
    return LogMark.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Counts a checkpoint that was read and drops old days. */
export function countCheckpoint(mark: LogMark, made: Date, size: number): void {
  const day = textOfTime(made).slice(0, 10);
  // The mark could not be read again.
  if (!Day.safeParse(day).success) return;
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
