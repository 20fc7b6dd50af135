/**
 * What a program makes of its strings: `"a" + "b"`, `["a", "b"].join("")`, `atob("…")`,
 * `codecs.decode("…", "rot13")`. The string that results stands in the place of the expression, so
 * that the name to which it is assigned is its label.
 */
import { rot13 } from '../../rot13.ts';
import { type Inflate, textOfBytes } from './readable.ts';
import { decodeRun } from './runs.ts';
import type { Edit } from './view.ts';

/** A string without quotes and escapes in it. */
const STRING = String.raw`[bru]?(?:"[^"'\\\n]{0,400}"|'[^"'\\\n]{0,400}')`;
const CONCATENATED = String.raw`${STRING}(?:\s{0,40}(?:\+|\.{1,2}|&|<>)\s{0,40}${STRING}){1,60}`;
const LISTED = String.raw`${STRING}(?:\s{0,20},\s{0,20}${STRING}){1,60},?`;
const NOTHING = String.raw`(?:""|''|\`\`)`;

/** Decoders of base64, base32 and hex in the languages of programs, and of rot13. */
const DECODERS =
  'b64decode|base64_decode|decode64|b32decode|atob|frombase64string|fromhex|unhexlify|hex2bin|decodestring|str_rot13|rot_?13|codecs\\.decode|buffer\\.from|getdecoder\\(\\)\\.decode';

/** Where a text may contain such an expression. */
export const CALL_MARKS: readonly string[] = [
  String.raw`["']\s*(?:\+|\.\.?|&|<>)\s*[bru]?["']`,
  String.raw`(?i)(?:\bjoin|implode|concat)\s?\(|\]\.join\b`,
  String.raw`(?i)(?:${DECODERS})\(\s{0,8}[bru]?["']`,
];

const CONCATENATION = new RegExp(CONCATENATED, 'g');
const STRINGS = /"([^"'\\\n]*)"|'([^"'\\\n]*)'/g;
/** `["a", "b"].join("")`, `''.join(("a", "b"))`, `implode('', ['a', 'b'])`, `String.join("", "a", "b")`. */
const JOINS: readonly RegExp[] = [
  new RegExp(
    String.raw`\[\s{0,20}(${LISTED})\s{0,20}\]\s{0,20}\.join(?:\(\s?${NOTHING}\s?\)|(?![\w(]))`,
    'g',
  ),
  new RegExp(
    String.raw`[bru]?${NOTHING}\s?\.join\(\s{0,20}[[(]\s{0,20}(${LISTED})\s{0,20}[\])]\s{0,20}\)`,
    'g',
  ),
  new RegExp(
    String.raw`\b(?:implode|join|String\.join|string\.Join)\(\s{0,20}${NOTHING},\s{0,20}(?:\[|array\(|new\b[^"'\n]{0,24}\{)?\s{0,20}(${LISTED})\s{0,20}[\])}]{0,2}\s{0,20}\)`,
    'g',
  ),
  new RegExp(
    String.raw`\b[Ss]trings?\.(?:Join|[Cc]oncat)\(\s{0,20}(?:\[\]string\{)?\s{0,20}(${LISTED})\s{0,20}(?:\},\s?${NOTHING}\s{0,20})?\)`,
    'g',
  ),
  new RegExp(
    String.raw`(${STRING}\.concat\(\s{0,20}${STRING}(?:,\s{0,20}${STRING}){0,60})\s{0,20}\)`,
    'g',
  ),
];
/** A call, with the conversions behind it. */
const CALL = new RegExp(
  String.raw`(${DECODERS})\(\s{0,8}(${STRING}(?:\s{0,40}(?:\+|\.)\s{0,40}${STRING}){0,60})([^()\n]{0,60})\)(?:\.(?:decode|toString|to_s|to_string|force_encoding)\([^()\n]{0,30}\)){0,2}`,
  'gi',
);

/** Only called for a text with the mark of one. */
export function evaluatedCalls(text: string, inflate: Inflate): Edit[] {
  const edits: Edit[] = [];
  const add = (at: number, written: string, value: string, disguise: string): void => {
    edits.push({
      start: at,
      end: at + written.length,
      replacement: `"${value}"`,
      disguise: [disguise],
    });
  };
  for (const { 0: call, 1: name = '', 2: argument = '', 3: more = '', index } of text.matchAll(
    CALL,
  )) {
    const written = joined(argument);
    const isRot13 = /rot_?13/i.test(name + more);
    const value = isRot13 ? rot13(written) : decoded(written, inflate);
    if (value === undefined) continue;
    const start = nameStart(text, index);
    add(start, text.slice(start, index) + call, value, isRot13 ? 'rot13' : 'base64');
  }
  for (const join of JOINS) {
    for (const { 0: call, 1: list = '', index } of text.matchAll(join)) {
      add(index, call, joined(list), 'split');
    }
  }
  for (const { 0: sum, index } of text.matchAll(CONCATENATION))
    add(index, sum, joined(sum), 'split');
  return edits;
}

/** Characters of a name before the decoder's that are read: `java.util.Base64.`, `urlsafe_`. */
const MAX_NAME = 80;

function nameStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && at - start < MAX_NAME && /[\w.:]/.test(text[start - 1] ?? '')) start--;
  return start;
}

const joined = (strings: string): string =>
  [...strings.matchAll(STRINGS)].map(([, double, single]) => double ?? single ?? '').join('');

/** Shorter ones are found by nothing else, but here the program says that they are encoded. */
function decoded(run: string, inflate: Inflate): string | undefined {
  const known = decodeRun(run, inflate)?.replacement;
  if (known !== undefined || !/^[A-Za-z0-9+/_-]{8,}={0,2}$/.test(run)) return known;
  return textOfBytes(Buffer.from(run, 'base64'));
}
