/** Offsets of time zones, from the time zone data that comes with Node. */
import { TIME_ZONE_NAMES } from './time-zone-names.ts';

/** A formatter takes some tens of kilobytes; policies use few zones. */
const CACHED_ZONES = 32;

const formatters = new Map<string, Intl.DateTimeFormat>();

/** Whether Go's time.LoadLocation knows the name; "" and "UTC" are UTC, "Local" is the host's. */
export function isTimeZone(name: string): boolean {
  return isUtc(name) || name === 'Local' || TIME_ZONE_NAMES.has(name);
}

export function isUtc(name: string): boolean {
  return name === '' || name === 'UTC';
}

/**
 * Seconds east of UTC in this zone at this time (seconds since the epoch).
 * Takes a name that `isTimeZone` accepted.
 */
export function zoneOffset(name: string, unixSeconds: number): number {
  if (isUtc(name)) return 0;
  const fields: Record<string, number> = {};
  for (const { type, value } of formatter(name).formatToParts(unixSeconds * 1000)) {
    fields[type] = Number(value);
  }
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - unixSeconds;
}

function formatter(name: string): Intl.DateTimeFormat {
  const found = formatters.get(name);
  if (found) {
    formatters.delete(name);
    formatters.set(name, found);
    return found;
  }
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: name === 'Local' ? undefined : name,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  formatters.set(name, made);
  if (formatters.size > CACHED_ZONES) formatters.delete(formatters.keys().next().value as string);
  return made;
}
