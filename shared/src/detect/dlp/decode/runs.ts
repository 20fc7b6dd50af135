/** Runs of an encoding's alphabet that decode to readable text. */

import { rot13 } from './gates.ts';
import type { Edit } from './view.ts';
import { reversed } from './view.ts';

// A run may be wrapped over lines, as in mails. Greedy over one class: linear.
const RUN =
  /={0,2}(?:[A-Za-z0-9+/]{40,}(?:\r?\n|\\n)[ \t]{0,8})*[A-Za-z0-9+/_-]{12,}(?:={1,2}|(?:%3D){1,2})?/y;

/** Characters of a run at least. */
const SHORTEST = 12;
const EQUALS = 0x3d;

/** Encoded runs in a text. What does not decode to readable text is none. */
export function encodedRuns(text: string): Edit[] {
  const edits: Edit[] = [];
  let from = 0;
  for (let at = nextRun(text, 0); at >= 0; at = nextRun(text, from)) {
    // The padding of a run that is turned around.
    let start = at;
    while (start > from && at - start < 2 && text.charCodeAt(start - 1) === EQUALS) start--;
    // Behind a name the sign assigns: `key=QUtJ…`.
    if (start < at && /[A-Za-z0-9]/.test(text[start - 1] ?? '')) start = at;
    RUN.lastIndex = start;
    const run = RUN.exec(text)?.[0];
    if (run === undefined) break;
    from = start + run.length;
    const decoded = decodeRun(run);
    if (decoded) edits.push({ start, end: from, ...decoded });
  }
  return edits;
}

const IN_RUN = new Uint8Array(128);
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-') {
  IN_RUN[sign.charCodeAt(0)] = 1;
}

/**
 * Where the next run begins, or -1. A run holds the last of every twelve places that it covers, so
 * most characters of plain text are not looked at; an expression took ten times as long.
 */
function nextRun(text: string, from: number): number {
  let at = from;
  while (at + SHORTEST <= text.length) {
    let place = at + SHORTEST - 1;
    while (place >= at && IN_RUN[text.charCodeAt(place)] === 1) place--;
    if (place < at) return at;
    at = place + 1;
  }
  return -1;
}

type Decoded = Pick<Edit, 'replacement' | 'disguise'>;

function decodeRun(run: string): Decoded | undefined {
  const compact = run.replace(/%3D/g, '=').replace(/\\n|[\r\n \t]/g, '');
  if (/^[0-9a-fA-F]+$/.test(compact)) {
    const plain = hexText(compact);
    if (plain !== undefined) return { replacement: plain, disguise: ['hex'] };
    const turned = hexText(reversed(compact));
    if (turned !== undefined && /[a-zA-Z]{3}|\d{6}/.test(turned)) {
      return { replacement: turned, disguise: ['reversed', 'hex'] };
    }
  }
  const body = compact.replace(/^=+/, '');
  // Text in base64 mixes cases and digits; a word or a constant of a program does not.
  if (!/[A-Z]/.test(body) || !/[a-z0-9]/.test(body)) return base32(compact);
  const direct = base64Text(body);
  if (direct !== undefined) return { replacement: direct, disguise: ['base64'] };
  const turned = base64Text(reversed(compact).replace(/^=+/, ''));
  if (turned !== undefined) return { replacement: turned, disguise: ['reversed', 'base64'] };
  const rotated = base64Text(rot13(body));
  if (rotated !== undefined) return { replacement: rotated, disguise: ['rot13', 'base64'] };
  return base32(compact) ?? tail(body);
}

/** A prefix such as `key=` or a path may have grown onto the run: try behind the last sign. */
function tail(run: string): Decoded | undefined {
  const at = Math.max(run.lastIndexOf('/'), run.lastIndexOf('-'), run.lastIndexOf('_'));
  if (at < 1 || run.length - at < 16 || at > 60) return undefined;
  const text = base64Text(run.slice(at + 1));
  return text === undefined
    ? undefined
    : { replacement: `${run.slice(0, at + 1)}${text}`, disguise: ['base64'] };
}

function base64Text(run: string): string | undefined {
  const digits = run.replace(/=+$/, '');
  if (digits.length < 12 || digits.length % 4 === 1) return undefined;
  // The first three bytes decide about nearly every run that is not text.
  if (!isReadable(Buffer.from(digits.slice(0, 4), 'base64'))) return undefined;
  const bytes = Buffer.from(digits, 'base64');
  return isReadable(bytes) ? bytes.toString('utf8') : undefined;
}

function hexText(run: string): string | undefined {
  if (run.length % 2 !== 0 || run.length < 12) return undefined;
  if (!isReadable(Buffer.from(run.slice(0, 4), 'hex'))) return undefined;
  const bytes = Buffer.from(run, 'hex');
  return isReadable(bytes) ? bytes.toString('utf8') : undefined;
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(run: string): Decoded | undefined {
  if (!/^[A-Z2-7]{16,}=*$/.test(run) || !/\d|=$/.test(run)) return undefined;
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of run.replace(/=+$/, '')) {
    value = ((value << 5) | BASE32.indexOf(character)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >> bits) & 0xff);
    if (bytes.length === 3 && !isReadable(Buffer.from(bytes))) return undefined;
  }
  const decoded = Buffer.from(bytes);
  return isReadable(decoded)
    ? { replacement: decoded.toString('utf8'), disguise: ['base32'] }
    : undefined;
}

/** ASCII that is printed, or letters of other languages in UTF-8. UTF-16 of ASCII too. */
function isReadable(bytes: Buffer): boolean {
  let others = 0;
  for (const byte of bytes) {
    if (byte >= 0x20 && byte < 0x7f) continue;
    if (byte === 0x0a || byte === 0x0d || byte === 0x09) continue;
    if (byte < 0x80) return false;
    others++;
  }
  if (others === 0) return bytes.length > 0;
  return bytes.length >= 8 && others * 2 < bytes.length && isUtf8(bytes);
}

function isUtf8(bytes: Buffer): boolean {
  return !bytes.toString('utf8').includes('\ufffd');
}

/** `41 4b 49`, `41:4b`, `0x41, 0x4b`. */
const HEX_LIST =
  /(?<![0-9A-Za-z])(?:(?:0x)?[0-9A-Fa-f]{2}[ :,\-;]{1,2}){5,}(?:0x)?[0-9A-Fa-f]{2}(?![0-9A-Za-z])/g;
/** `65, 75, 73`, as String.fromCharCode takes them. */
const CODE_LIST = /(?<![\d.])(?:\d{2,3}[ ,;]{1,2}){5,}\d{2,3}(?![\d.])/g;
const BINARY = /(?<![01])(?:[01]{8}[ ,]{0,2}){5,}(?![01])/g;

/** Lists of numbers that are characters. */
export function codeLists(text: string): Edit[] {
  const edits: Edit[] = [];
  const add = (expression: RegExp, radix: number, disguise: string, digits: RegExp): void => {
    for (const match of text.matchAll(expression)) {
      const codes = (match[0].match(digits) ?? []).map((code) => Number.parseInt(code, radix));
      if (!codes.every((code) => code >= 0x20 && code < 0x7f)) continue;
      const replacement = String.fromCharCode(...codes.slice(0, 10_000));
      edits.push({
        start: match.index,
        end: match.index + match[0].trimEnd().length,
        replacement,
        disguise: [disguise],
      });
    }
  };
  add(HEX_LIST, 16, 'hex', /(?<!0x[0-9A-Fa-f]?)[0-9A-Fa-f]{2}(?=[^0-9A-Fa-f]|$)/g);
  add(CODE_LIST, 10, 'char_codes', /\d+/g);
  add(BINARY, 2, 'binary', /[01]{8}/g);
  return edits;
}
