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
