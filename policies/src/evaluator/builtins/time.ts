/**
 * OPA's time built-ins. A time is a number of nanoseconds since the epoch within 64 bits, or
 * [nanoseconds, zone], or [nanoseconds, zone, layout]; the layout is for time.format alone.
 */
import { RegoNumber, type RegoValue, toInt64 } from '../rego-value.ts';
import { type Builtin, type BuiltinCall, BuiltinLimitError } from './builtin.ts';
import { isTimeZone, isUtc, zoneOffset } from './time-zone.ts';

const NS_PER_SECOND = 1_000_000_000n;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
/** Characters of a number that is not a plain integer. */
const MAX_NUMBER = 1000;
const MAX_JS_MS = 8_640_000_000_000_000;
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** Looking up an offset formats a date; making a zone's formatter reads its data. */
const FUEL_PER_OFFSET = 10_000;
const FUEL_PER_ZONE = 200_000;

interface ZonedTime {
  seconds: bigint;
  /** 0 to 999,999,999 */
  nanoseconds: bigint;
  zone: string;
}

export const timeNow: Builtin = (_args, call) => call.nowNs;

export const timeClock: Builtin = ([operand], call) => {
  const local = localDate(operand, call);
  return local && [local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()];
};

export const timeDate: Builtin = ([operand], call) => {
  const local = localDate(operand, call);
  return local && [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate()];
};

export const timeWeekday: Builtin = ([operand], call) => {
  const local = localDate(operand, call);
  return local && DAYS[local.getUTCDay()];
};

export const timeAddDate: Builtin = ([operand, years, months, days], call) => {
  const time = parseOperand(operand, call);
  const local = time && toLocal(time, call);
  const added = [years, months, days].map((value) =>
    value instanceof RegoNumber ? toInt64(value) : null,
  );
  const [addYears, addMonths, addDays] = added;
  if (!local || addYears == null || addMonths == null || addDays == null) return undefined;
  const moved = new Date(local);
  moved.setUTCFullYear(
    local.getUTCFullYear() + Number(addYears),
    local.getUTCMonth() + Number(addMonths),
    local.getUTCDate() + Number(addDays),
  );
  const ms = moved.getTime();
  if (!Number.isFinite(ms)) return undefined;
  const seconds = BigInt(ms) / 1000n;
  return toNanoseconds(fromLocal(seconds, time.zone, call), time.nanoseconds);
};

const RFC3339 =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

export const timeParseRfc3339: Builtin = ([text], call) => {
  if (typeof text !== 'string') return undefined;
  call.charge(text.length * 10);
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  // Years before 1677 are out of range in any case; Date would read 0 to 99 as 1900 to 1999.
  if (year < 1000 || month < 1 || month > 12 || day < 1) return undefined;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const zoneHours = Number(match[9] ?? 0);
  const zoneMinutes = Number(match[10] ?? 0);
  if (zoneHours > 24 || zoneMinutes > 60) return undefined;
  const offset = (zoneHours * 60 + zoneMinutes) * 60 * (match[8] === '-' ? -1 : 1);
  const seconds = Date.UTC(year, month - 1, day, hour, minute, second) / 1000 - offset;
  const nanoseconds = BigInt((match[7] ?? '').slice(0, 9).padEnd(9, '0'));
  return toNanoseconds(BigInt(seconds), nanoseconds);
};

/** Undefined outside the years that 64 bits of nanoseconds reach, 1677 to 2262. */
function toNanoseconds(seconds: bigint, nanoseconds: bigint): bigint | undefined {
  const total = seconds * NS_PER_SECOND + nanoseconds;
  return total > MAX_INT64 || total < MIN_INT64 ? undefined : total;
}

function parseOperand(operand: RegoValue | undefined, call: BuiltinCall): ZonedTime | undefined {
  const [number, zone = '', layout = ''] = Array.isArray(operand)
    ? (operand as readonly RegoValue[])
    : [operand];
  if (!(number instanceof RegoNumber) || typeof zone !== 'string') return undefined;
  if (typeof layout !== 'string' || !isTimeZone(zone)) return undefined;
  if (!isUtc(zone)) {
    if (call.firstUse(`zone ${zone}`)) call.charge(FUEL_PER_ZONE);
  }
  const total = toExactInt64(number);
  if (total === null) return undefined;
  const nanoseconds = ((total % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  return { seconds: (total - nanoseconds) / NS_PER_SECOND, nanoseconds, zone };
}

/** The integer that a number denotes in any spelling, including 1e9. */
function toExactInt64(number: RegoNumber): bigint | null {
  const plain = toInt64(number);
  if (plain !== null) return plain;
  if (number.text.length > MAX_NUMBER) throw new BuiltinLimitError('a number of many digits');
  const match = /^(-?)(\d+)(?:\.(\d+))?[eE]([+-]?\d{1,3})$/.exec(number.text);
  if (!match) return null;
  const [, sign, whole = '', fraction = '', exponentText] = match;
  const exponent = Number(exponentText) - fraction.length;
  const digits = BigInt(whole + fraction);
  const scale = 10n ** BigInt(Math.abs(exponent));
  if (exponent < 0 && digits % scale !== 0n) return null;
  const size = exponent < 0 ? digits / scale : digits * scale;
  const value = sign === '-' ? -size : size;
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** The zone's wall clock time, in the UTC fields of a Date. */
function localDate(operand: RegoValue | undefined, call: BuiltinCall): Date | undefined {
  const time = parseOperand(operand, call);
  return time && toLocal(time, call);
}

function toLocal(time: ZonedTime, call: BuiltinCall): Date {
  const seconds = Number(time.seconds);
  return new Date((seconds + offsetAt(time.zone, seconds, call)) * 1000);
}

/** Go's time.Date: the offset at the wall clock time read as UTC is a first guess. */
function fromLocal(seconds: bigint, zone: string, call: BuiltinCall): bigint {
  const local = Number(seconds);
  const guess = offsetAt(zone, local, call);
  if (guess === 0) return seconds;
  return seconds - BigInt(offsetAt(zone, local - guess, call));
}

function offsetAt(zone: string, seconds: number, call: BuiltinCall): number {
  if (isUtc(zone) || Math.abs(seconds) * 1000 > MAX_JS_MS) return 0;
  call.charge(FUEL_PER_OFFSET);
  return zoneOffset(zone, seconds);
}
