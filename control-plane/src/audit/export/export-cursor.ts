/**
 * The cursor says where an export continues. The first page fixes the export's bounds, so that it
 * ends. It is a caller's to keep and not to change: it carries a tag that only this service makes,
 * for the tenant alone.
 */
import { AppError } from '@governance/shared/errors';
import { LAST_MS } from '@governance/shared/time/iso-time';
import { z } from 'zod';
import type { CipherContext, MasterKey } from '../../platform/keys/master-key.ts';

const Position = z.int().nonnegative();
/** Unix milliseconds. */
const Bound = Position.max(LAST_MS).nullable();

const Cursor = z
  .strictObject({
    /** The position of the last event handed out. */
    after: Position,
    /** The newest position when the export began. */
    until: Position,
    /** Matching events up to that position. */
    total: Position,
    /** Null without a bound. */
    from: Bound,
    to: Bound,
  })
  .refine(({ after, until, total }) => after <= until && total <= until)
  .refine(({ from, to }) => from === null || to === null || from <= to);
export type Cursor = z.infer<typeof Cursor>;

export const MAX_CURSOR_CHARS = 400;

const contextOf = (tenantId: string): CipherContext => ({
  purpose: 'audit-export-cursor',
  tenant_id: tenantId,
  key: '',
});

export function createExportCursors(masterKey: Pick<MasterKey, 'tag' | 'isTag'>) {
  return {
    write: (tenantId: string, cursor: Cursor): string => {
      const text = Buffer.from(JSON.stringify(cursor)).toString('base64url');
      return `${text}.${masterKey.tag(text, contextOf(tenantId))}`;
    },

    /** caller-controlled. @throws AppError VALIDATION_FAILED */
    read: (tenantId: string, given: string): Cursor => {
      const [text = '', tag = '', ...rest] = given.split('.');
      const isOurs = rest.length === 0 && masterKey.isTag(tag, text, contextOf(tenantId));
      const cursor = isOurs ? parse(text) : undefined;
      if (!cursor) throw wrongCursor('must be the X-Next-Cursor of an earlier page');
      return cursor;
    },
  };
}

function parse(text: string): Cursor | undefined {
  return Cursor.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))).data;
}

export function wrongCursor(msg: string): AppError {
  return new AppError('VALIDATION_FAILED', `query.cursor: ${msg}`, {
    errors: [{ loc: ['query', 'cursor'], msg, type: 'custom' }],
  });
}
