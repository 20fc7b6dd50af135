/** Lists of numbers that are character codes, in code, dumps of memory and arrays of bytes. */
import { LEAF_END } from '../json-document.ts';
import { type Inflate, textOfBytes, textsAmongBytes } from './readable.ts';
import type { Edit } from './view.ts';

/** Codes are separated by signs and lines, or each is in a call: `chr(65)+chr(75)`, `[char]65`. */
const BETWEEN = String.raw`(?:[\s:,;\-]{1,40}|\)?[\s|+.&,;]{0,20}(?:(?:String\.from|uni|n)?cha?r\w{0,6}\s?\(|[\[(]char[\])])\s?)`;

function listOf(code: string, before: string, after: string): RegExp {
  return new RegExp(`(?<!${before})(?:${code}${BETWEEN}){5,}${code}(?!${after})`, 'gi');
}

/** What codes look like in one notation, and how they are read. */
interface Notation {
  readonly list: RegExp;
  readonly code: RegExp;
  readonly radix: number;
  readonly disguise: string;
}

const NOTATIONS: readonly Notation[] = [
  // `65, 75, 73`; octal codes of three digits look the same.
  {
    list: listOf(String.raw`\d{1,3}`, String.raw`[\w.]`, String.raw`\w|\.\d`),
    code: /\d+/g,
    radix: 10,
    disguise: 'char_codes',
  },
  // `41 4b 49`, `41:4b`, `0x41, 0x4b`.
  {
    list: listOf('(?:0x[0-9A-F]{1,2}|[0-9A-F]{2})', '[0-9A-Za-z]', '[0-9A-Za-z]'),
    code: /(?<![0-9A-Za-z])(?:0x)?[0-9A-F]{1,2}(?![0-9A-Za-z])/gi,
    radix: 16,
    disguise: 'hex',
  },
  // `0o101, 0o113`.
  {
    list: listOf('0o[0-7]{2,3}', String.raw`[\w.]`, String.raw`\w|\.\d`),
    code: /(?<=\b0o)[0-7]{2,3}\b/gi,
    radix: 8,
    disguise: 'char_codes',
  },
  {
    list: /(?<![01])(?:(?:[01]{8}[ ,]{0,2}){5,}|(?:[01]{7}[ ,]{1,2}){5,}[01]{7})(?![01])/g,
    code: /[01]{8}|\b[01]{7}\b/g,
    radix: 2,
    disguise: 'binary',
  },
];

/** The items of an array, as a document writes them: each below the other with the same label. */
const ITEMS =
  /(?<![^\n])([^\n\u2028]{0,64}: "?)((?:0x)?[0-9A-Fa-f]{1,3})"?(?:\n\u2028\n\1(?:0x)?[0-9A-Fa-f]{1,3}"?){5,}/g;

/** `ZEICHEN(76)&ZEICHEN(97)`, `(char)76 + (char)97`, `string(rune(76))`: one call for each character. */
const CALLS =
  /(?<![\p{L}\d_.$])([\p{L}_][\p{L}\d_.$:]{1,24}\(\s?(?:[\p{L}_][\p{L}\d_.]{1,24}\(\s?)?|[([]char[)\]]\s?)(&H|0x|)([0-9A-F]{2,3})L?(?:\s?\)){0,2}(?:\s{0,3}(?:\+|&|\.|\|\||,|<>)\s{0,3}(?:_?\r?\n\s{0,12})?\1(?:&H|0x)?[0-9A-F]{2,3}L?(?:\s?\)){0,2}){5,}/giu;
/** `string.char(76, 97, …)`, `<<76,97,…>>`, `sprintf("%c%c…", 76, 97, …)`, `(map char [76 97 …])`. */
const CALL_OF_LIST =
  /(?:\b(?:string\.char|(?:String\.)?from(?:CharCode|CodePoint)|n?char|unichar|utf8\.char|bytes|bytearray|(?:java\.lang\.)?String|intToUtf8|rawToChar|pack)\((?:(?:c|as\.raw\(c|new byte\[\]\s?)[({]|\[|["'][CUW]\*["'],)?|<<|\bsprintf\(["'](?:%c){6,80}["'],|\(apply str \(map char [[(])\s{0,4}(\d{2,3}L?(?:[,\s]{1,4}\d{2,3}L?){5,80})\s{0,4}(?:>>|[)\]}]{1,3})/gi;

function callsOfCodes(text: string): Edit[] {
  const edits: Edit[] = [];
  const add = (start: number, written: string, codes: readonly number[]): void => {
    if (!codes.every((code) => code >= 32 && code < 127)) return;
    const value = String.fromCharCode(...codes);
    const replacement = /["\\]/.test(value) ? value : `"${value}"`;
    edits.push({ start, end: start + written.length, replacement, disguise: ['char_codes'] });
  };
  for (const { 0: written, 1: call = '', 2: base = '', index } of text.matchAll(CALLS)) {
    const codes = written.split(call).slice(1);
    const radix = base === '' ? 10 : 16;
    add(
      index,
      written,
      codes.map((code) => Number.parseInt(code.replace(/^(?:&H|0x)/i, ''), radix)),
    );
  }
  for (const { 0: written, 1: list = '', index } of text.matchAll(CALL_OF_LIST)) {
    add(
      index,
      written,
      (list.match(/\d+/g) ?? []).map((code) => Number(code)),
    );
  }
  return edits;
}

/** Lists of numbers that are character codes. Only called for a text with the mark of one. */
export function codeLists(text: string, inflate: Inflate): Edit[] {
  const calls = callsOfCodes(text);
  const edits = dumps(text);
  for (const notation of NOTATIONS) {
    for (const { 0: list, index } of text.matchAll(notation.list)) {
      addReading(edits, list.trimEnd(), index, notation, inflate);
    }
  }
  for (const { 0: items, 1: label = '', index } of text.matchAll(ITEMS)) {
    const codes = items
      .slice(label.length)
      .replaceAll(LEAF_END + label, ',')
      .replaceAll('"', '');
    const [start, end] = [index + label.length, index + items.length];
    const readings: Edit[] = [];
    for (const notation of NOTATIONS) {
      for (const { 0: list } of codes.matchAll(notation.list)) {
        addReading(readings, list, 0, notation, inflate);
      }
    }
    edits.push(...readings.map((reading) => ({ ...reading, start, end })));
  }
  // Within a call, its numbers are no list of their own.
  calls.sort((a, b) => a.start - b.start);
  let next = 0;
  const others = [...edits]
    .sort((a, b) => a.start - b.start)
    .filter(({ start, end }) => {
      while ((calls[next]?.end ?? start + 1) <= start) next++;
      return (calls[next]?.start ?? end) >= end;
    });
  return [...calls, ...withAllReadings(others)];
}

function addReading(
  edits: Edit[],
  list: string,
  start: number,
  { code, radix, disguise }: Notation,
  inflate: Inflate,
): void {
  const codes = list.match(code) ?? [];
  const end = start + list.length;
  const add = (base: number): void => {
    const read = textOfCodes(codes, base, inflate);
    if (read !== undefined) edits.push({ start, end, replacement: read, disguise: [disguise] });
  };
  add(radix);
  if (radix === 10 && codes.every((one) => /^[0-7]{2,3}$/.test(one))) add(8);
}

function textOfCodes(
  codes: readonly string[],
  radix: number,
  inflate: Inflate,
): string | undefined {
  // What is no byte is a separator at most: a zero is left out of the text.
  const bytes = Buffer.from(
    codes.map((code) => {
      const value = Number.parseInt(code, radix);
      return value < 256 ? value : 0;
    }),
  );
  return textOfBytes(bytes) ?? inflate(bytes) ?? textsAmongBytes(bytes);
}

/** A list may be one of several notations: each reading is kept, where they overlap as lines. */
function withAllReadings(edits: readonly Edit[]): Edit[] {
  const merged: Edit[] = [];
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1);
    if (last === undefined || edit.start >= last.end) {
      merged.push(edit);
      continue;
    }
    merged[merged.length - 1] = {
      start: last.start,
      end: Math.max(last.end, edit.end),
      replacement: `${last.replacement}\n${edit.replacement}`,
      disguise: [...new Set([...last.disguise, ...edit.disguise])],
    };
  }
  return merged;
}

/** A line of xxd, hexdump or od: its offset, groups of hex, and often the text. */
const DUMP_LINE =
  /(?<![0-9A-Za-z])[0-9A-Fa-f]{4,16}:?[ \t]{1,3}([0-9A-Fa-f]{2,16}(?: [0-9A-Fa-f]{2,16}(?![0-9A-Za-z])| {2}[0-9A-Fa-f]{2}(?= )){0,15})(?![0-9A-Za-z])/g;
/** The text beside a line, and the beginning of the next. */
const DUMP_LINE_END = /^[^\n]{0,40}\r?\n[ \t>|]{0,8}$/;
/** Digits in a line. */
const DUMP_WIDTH = 32;

function dumps(text: string): Edit[] {
  const edits: Edit[] = [];
  let start = 0;
  let end = -1;
  let lines: string[] = [];
  let isTurned = false;
  const close = (): void => {
    const bytes = Buffer.from(lines.join(''), 'hex');
    const read = textOfBytes(bytes) ?? textsAmongBytes(bytes);
    if (lines.length === 0 || read === undefined) return;
    const turned = isTurned ? turnedPairs(bytes).toString('latin1') : '';
    edits.push({ start, end, replacement: `${read}\n${turned}`, disguise: ['hex'] });
  };
  for (const { 0: line, 1: groups = '', index } of text.matchAll(DUMP_LINE)) {
    if (end < 0 || index - end > 60 || !DUMP_LINE_END.test(text.slice(end, index))) {
      close();
      [start, lines, isTurned] = [index, [], !line.includes(':')];
    }
    lines.push(groups.replaceAll(' ', '').slice(0, DUMP_WIDTH));
    end = index + line.length;
  }
  close();
  return edits;
}

/** hexdump and od write two bytes as a number, the second one first. */
function turnedPairs(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
}
