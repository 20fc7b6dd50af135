/** Spans of time in milliseconds. A day here has 24 hours: none of the service's times is local. */
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/**
 * Whether something happened less than `spanMs` ago. A time further ahead than that was noted before
 * the clock was put back, and says nothing of how long ago it was.
 */
export const isWithin = (time: number, spanMs: number, now: number): boolean =>
  Math.abs(now - time) < spanMs;
