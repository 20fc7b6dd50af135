/** Parts that the schemas of all routes share. */
import { AppError } from '@governance/shared/errors';
import { Text, VisibleText } from '@governance/shared/text';
import { FIRST_MS, LAST_MS } from '@governance/shared/time/iso-time';
import { z } from 'zod';

export { ErrorBody } from '@governance/shared/http/http-errors';

/** Something of a name must be seen. */
const SEEN = /[^\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\s]/u;

/**
 * A name that people choose, neither empty nor unbounded. It is kept in NFC, so that two spellings
 * of one name are the same, and says nothing of the direction in which what surrounds it is read.
 */
export function nameUpTo(max: number) {
  return (
    VisibleText.max(max, { abort: true })
      .trim()
      .normalize('NFC')
      // NFC is longer for a few characters.
      .refine((name) => name.length <= max, `must have at most ${max} characters in NFC`)
      .refine((name) => SEEN.test(name), 'must not consist of invisible characters')
      .refine(
        (name) => !/\p{Bidi_Control}/u.test(name),
        'must not contain a bidi control character',
      )
  );
}
export const Name = nameUpTo(200);

/** Free text about something. */
export const Description = Text.max(10_000);

export interface IntBounds {
  min: number;
  max?: number;
  /** The message for a larger number. */
  tooBig?: string;
}

/**
 * A whole number in a query string: digits only, not the other forms that `Number` reads (`1e3`).
 */
export function queryInt({ min, max = Number.MAX_SAFE_INTEGER, tooBig }: IntBounds) {
  return z
    .string()
    .regex(/^-?[0-9]{1,16}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max, tooBig))
    .meta({ type: 'integer', pattern: undefined, minimum: min, maximum: max });
}

/** `offset` and `limit` of a list; the page sizes are in specification 1, section 8. */
export function pageQuery(limits: {
  default: number;
  max: number;
  offset?: Omit<IntBounds, 'min'>;
}) {
  return {
    offset: queryInt({ min: 0, ...limits.offset })
      .default(0)
      .meta({ default: 0 }),
    limit: queryInt({ min: 1, max: limits.max })
      .default(limits.default)
      .meta({ default: limits.default }),
  };
}

/** The answer of a list: `{ [name]: [...], total }`, where `total` counts all pages. */
export function listOf<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  const items = { [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>;
  return z.object({ ...items, total: z.int() });
}

/** @param fitting how many of the page's events, or what it has, can be answered */
export function pageTooLarge(fitting: number, what = 'events'): AppError {
  const msg = `these ${what} are too large together: ask for ${fitting} at most`;
  return new AppError('VALIDATION_FAILED', `query.limit: ${msg}`, {
    errors: [{ loc: ['query', 'limit'], msg, type: 'too_large' }],
  });
}

/**
 * Any ISO 8601 date and time; one without an offset is in UTC, as all that the product writes. Times
 * before 1970 count as 1970. An offset can lead out of the years 1 to 9999, and such a time could be
 * stored, but neither read nor written again.
 */
export const QueryTime = z.iso
  .datetime({ offset: true, local: true })
  .meta({ format: 'date-time' })
  // Without an offset, `Date.parse` takes the zone of the machine.
  .transform((text) => Date.parse(/(?:Z|[+-]\d\d:\d\d)$/.test(text) ? text : `${text}Z`))
  .refine((ms) => ms >= FIRST_MS && ms <= LAST_MS, 'must be a time of the years 1 to 9999 in UTC')
  .transform((ms) => new Date(Math.max(0, ms)));

/** 204: nothing is sent. */
export const NoContent = z.undefined().meta({ description: 'Done; no body.' });
