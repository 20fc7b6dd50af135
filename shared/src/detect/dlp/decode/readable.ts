/** Texts in bytes: whole ones, UTF-16 ones, those among other bytes, and compressed ones. */
import { constants, gunzipSync, inflateSync } from 'node:zlib';

/** Leading bytes that decide whether the rest is examined. */
const HEAD = 24;
/** Printable characters in a row that bytes without text rarely have. */
const RUN = /[\x20-\x7e\t]{8,}/g;
const REPLACED = '\ufffd';

/**
 * The text that bytes are, in UTF-8 or UTF-16, with at most a few other bytes.
 *
 * @returns undefined for bytes that are not text
 */
export function textOfBytes(bytes: Buffer): string | undefined {
  if (bytes.length < 6) return isPrinted(bytes) ? bytes.toString('latin1') : undefined;
  const head = bytes.subarray(0, HEAD);
  const wide = wideText(bytes, head);
  if (wide !== undefined) return wide;
  if (signsIn(head) * 10 < head.length * 7) return undefined;
  // A probe may end within a character.
  const text = bytes.toString('utf8').replace(/\ufffd{1,3}$/, '');
  if (!text.includes(REPLACED)) return isMostlyPrinted(text) ? strings(text) : undefined;
  return signsOfAscii(bytes) * 10 >= bytes.length * 8 ? plain(bytes.toString('latin1')) : undefined;
}

/** Texts that stand among other bytes, as in an executable. */
export function textsAmongBytes(bytes: Buffer): string | undefined {
  const runs = bytes.toString('latin1').match(RUN);
  return runs === null ? undefined : runs.join('\n');
}

/** Bytes of a compressed text that are read; each may expand to a thousand. */
const MAX_COMPRESSED = 16 * 1024;
const MAX_INFLATED = 1024 * 1024;
/** Characters of it that are examined. */
const MAX_INFLATED_TEXT = 12 * 1024;

/** Whether base64 begins like that of gzip (`1f 8b 08`) or zlib (`78`). */
export function mayBeCompressed(base64: string): boolean {
  return base64.startsWith('H4sI') || /^eA|^eF|^eJ|^eN/.test(base64);
}

export const mayBeCompressedHex = (hex: string): boolean => /^(?:1f8b|78)/i.test(hex);

/** @returns undefined for bytes that are no compressed text, and after the last place */
export type Inflate = (bytes: Buffer) => string | undefined;

/** Compressed runs examined per text: each may expand considerably. */
const MAX_COMPRESSED_RUNS = 4;

export function createInflate(): Inflate {
  let left = MAX_COMPRESSED_RUNS;
  return (bytes) => (isCompressed(bytes) && --left >= 0 ? inflatedText(bytes) : undefined);
}

function isCompressed([first = 0, second = 0]: Buffer): boolean {
  if (first === 0x1f) return second === 0x8b;
  // The head of zlib has a check.
  return first === 0x78 && (0x7800 + second) % 31 === 0;
}

/** The beginning of a text compressed with gzip or zlib. */
function inflatedText(bytes: Buffer): string | undefined {
  const inflate = bytes[0] === 0x1f ? gunzipSync : inflateSync;
  for (const length of [MAX_COMPRESSED, MAX_INFLATED / 1024]) {
    try {
      const inflated = inflate(bytes.subarray(0, length), {
        maxOutputLength: MAX_INFLATED,
        // Also from input that is cut off anywhere.
        finishFlush: constants.Z_SYNC_FLUSH,
      });
      return textOfBytes(inflated.subarray(0, MAX_INFLATED_TEXT));
    } catch {
      // Not compressed, or too large.
    }
  }
  return undefined;
}

const isSign = (byte: number): boolean =>
  (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;

function isPrinted(bytes: Buffer): boolean {
  return bytes.length > 0 && bytes.every(isSign);
}

/** Bytes that a text could contain, including those of other languages. */
function signsIn(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (isSign(byte) || (byte >= 0x80 && byte < 0xf5)) count++;
  return count;
}

function signsOfAscii(bytes: Buffer): number {
  let count = 0;
  for (const byte of bytes) if (isSign(byte)) count++;
  return count;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/g;

function isMostlyPrinted(text: string): boolean {
  return (text.match(CONTROL)?.length ?? 0) * 10 <= text.length * 2;
}

const plain = (text: string): string => text.replace(CONTROL, '');

// biome-ignore lint/suspicious/noControlCharactersInRegex: it ends a string
const ENDED = /[\x20-\x7e]{4}\x00/;

/** Zeros may end strings, or stand within a value to hide it: both ways to read them. */
function strings(text: string): string {
  const joined = plain(text);
  return ENDED.test(text) ? `${joined}\n${plain(text.replaceAll('\0', '\n'))}` : joined;
}

/** UTF-16 of mostly ASCII text: every second byte is a zero. */
function wideText(bytes: Buffer, head: Buffer): string | undefined {
  let even = 0;
  let odd = 0;
  head.forEach((byte, i) => {
    if (byte === 0) i % 2 === 0 ? even++ : odd++;
  });
  const most = Math.floor(head.length / 2) * 0.7;
  if (odd >= most && even <= 1) return plain(bytes.toString('utf16le'));
  if (even < most || odd > 1) return undefined;
  const whole = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return plain(whole.swap16().toString('utf16le'));
}
