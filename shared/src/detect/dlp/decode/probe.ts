/**
 * Whether a base64 run may be text, decided by its first bytes without decoding it to a string:
 * words, dates and names in programs have the same alphabet, and hardly any is one. Runs that pass
 * are decoded and judged by readable.ts. loops.test.ts compares the two.
 */

/** Digits of base64 that decide. */
export const PROBE = 32;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const TURNED = 'NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm0123456789+/';

function valuesOf(alphabet: string): Uint8Array {
  const values = new Uint8Array(128);
  for (let value = 0; value < 64; value++) values[alphabet.charCodeAt(value)] = value;
  // The alphabet for URLs.
  values['-'.charCodeAt(0)] = 62;
  values['_'.charCodeAt(0)] = 63;
  return values;
}

const VALUES = valuesOf(ALPHABET);
const VALUES_OF_ROT13 = valuesOf(TURNED);

/** The first bytes of a run. */
const head = new Uint8Array((PROBE * 3) / 4);

/**
 * @param units with only base64 characters between the two places
 * @returns false when neither the run nor its rot13 is text, forwards or backwards
 */
export function mayBeBase64(units: Uint16Array, start: number, end: number): boolean {
  const length = end - start;
  return (
    isTextAt(units, start, 1, length, VALUES) ||
    isTextAt(units, end - 1, -1, length, VALUES) ||
    isTextAt(units, start, 1, length, VALUES_OF_ROT13)
  );
}

/** The same for the run as it stands. */
export function mayBeText(units: Uint16Array, start: number, end: number): boolean {
  return isTextAt(units, start, 1, end - start, VALUES);
}

function isTextAt(
  units: Uint16Array,
  from: number,
  step: 1 | -1,
  length: number,
  values: Uint8Array,
): boolean {
  const digits = Math.min(length, PROBE);
  let count = 0;
  let value = 0;
  let bits = 0;
  for (let i = 0, at = from; i < digits; i++, at += step) {
    value = ((value << 6) | (values[units[at] as number] as number)) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    head[count++] = (value >> bits) & 0xff;
  }
  return isReadable(count);
}

/** What readable.ts asks of bytes, and never more. */
function isReadable(count: number): boolean {
  let [even, odd, signs, others, controls] = [0, 0, 0, 0, 0];
  for (let at = 0; at < count; at++) {
    const byte = head[at] as number;
    if (byte >= 0x80) others += byte < 0xf5 ? 1 : 0;
    else if (byte >= 0x20 ? byte !== 0x7f : byte === 9 || byte === 10 || byte === 13) signs++;
    else {
      controls++;
      if (byte === 0) at % 2 === 0 ? even++ : odd++;
    }
  }
  const most = Math.floor(count / 2) * 0.7;
  if ((odd >= most && even <= 1) || (even >= most && odd <= 1)) return true;
  if ((signs + others) * 10 < count * 7) return false;
  if (signs * 10 >= count * 8) return true;
  return controls * 10 <= count * 2 && isUtf8(count);
}

/** Trailing characters that may be cut off, or invalid. */
const MAX_CUT = 3;

/** Whether the bytes are UTF-8, as the WHATWG decoder reads it, except for the last characters. */
function isUtf8(count: number): boolean {
  let wrong = 0;
  let at = 0;
  while (at < count) {
    const end = sequenceEnd(at, count);
    if (end > 0 && wrong > 0) return false;
    if (end < 0) wrong++;
    at = Math.abs(end);
  }
  return wrong <= MAX_CUT;
}

/** Where the sequence that begins there ends; negative if it is invalid, or U+FFFD. */
function sequenceEnd(at: number, count: number): number {
  const lead = head[at] as number;
  if (lead < 0x80) return at + 1;
  if (lead < 0xc2 || lead > 0xf4) return -at - 1;
  const whole = at + (lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4);
  let low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  let high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  let end = at + 1;
  while (end < whole && end < count) {
    const byte = head[end] as number;
    if (byte < low || byte > high) return -end;
    [low, high] = [0x80, 0xbf];
    end++;
  }
  if (end < whole) return -end;
  const isReplaced = lead === 0xef && head[at + 1] === 0xbf && head[at + 2] === 0xbd;
  return isReplaced ? -end : end;
}
