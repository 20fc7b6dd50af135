/** The first and the last time that ISO 8601 in UTC and PostgreSQL both write with a four-digit year. */
export const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
export const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

let last = Number.NaN;
let text = '';

/**
 * A time as ISO 8601 in UTC, with milliseconds. Calls within the same millisecond share one text.
 *
 * @param ms Unix milliseconds
 */
export function isoTime(ms: number): string {
  if (ms !== last) {
    text = new Date(ms).toISOString();
    last = ms;
  }
  return text;
}
