/**
 * The cursor says where an export continues. The first page fixes the export's bounds, so that it
 * ends.
 */
import { AppError } from '@governance/shared/errors';
import { LAST_MS } from '@governance/shared/iso-time';
import { z } from 'zod';

const Position = z.int().nonnegative();
/** Unix milliseconds. */
const Bound = Position.max(LAST_MS).nullable();

const Cursor = z.strictObject({
  /** The position of the last event handed out. */
  after: Position,
  /** The newest position when the export began. */
  until: Position,
  /** Matching events up to that position. */
  total: Position,
  /** Null without a bound. */
  from: Bound,
  to: Bound,
});
export type Cursor = z.infer<typeof Cursor>;

export const MAX_CURSOR_CHARS = 400;

export function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** caller-controlled. @throws AppError VALIDATION_FAILED */
export function readCursor(text: string): Cursor {
  try {
    return Cursor.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch {
    throw wrongCursor('must be the X-Next-Cursor of an earlier page');
  }
}

export function wrongCursor(msg: string): AppError {
  return new AppError('VALIDATION_FAILED', `query.cursor: ${msg}`, {
    errors: [{ loc: ['query', 'cursor'], msg, type: 'custom' }],
  });
}
