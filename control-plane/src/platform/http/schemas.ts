/** What the schemas of all routes share. */
import { Text } from '@governance/shared/text';
import { z } from 'zod';

export { ErrorBody } from '@governance/shared/http-errors';

/** A name that people give to something: not empty, not endless. */
export const Name = Text.trim().min(1).max(200);

/** Free text about something. */
export const Description = Text.max(10_000);

/** A whole number in a query string. */
export function queryInt(bounds: { min: number; max?: number; default: number }) {
  return z.coerce
    .number<string>()
    .int()
    .min(bounds.min)
    .max(bounds.max ?? Number.MAX_SAFE_INTEGER)
    .default(bounds.default);
}

/** `offset` and `limit` of a list; the page sizes are in specification 1, section 8. */
export function pageQuery(limits: { default: number; max: number }) {
  return {
    offset: queryInt({ min: 0, default: 0 }),
    limit: queryInt({ min: 1, max: limits.max, default: limits.default }),
  };
}

/** 204: nothing is sent. */
export const NoContent = z.undefined().meta({ description: 'Done; no body.' });
