/** Separators between the characters, or groups of characters, of a value. */
import { isIban } from '../validators/iban.ts';
import { piecesBelow } from './pieces-below.ts';
import { spelledDigits } from './spelled.ts';
import type { Edit } from './view.ts';

/** One character, a sign, one character, a sign …: `4-1-1-1`, `A K I A`, `h.u.n.t`, `4 - 1 - 1`. */
const SINGLE =
  /(?<![A-Za-z0-9])[A-Za-z0-9@+](?:[ .\-_|,/*~:;·•]{1,3}[A-Za-z0-9@_./:+=!?#$%&-](?![A-Za-z0-9])){6,}/g;
/** Groups of two to eight after an issuer's mark. */
const MARKED =
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk[-_][a-z]{0,8}[-_]?|xox[abp]-|AIza|npm_|hf_|gsk_|eyJ|SG\.|GOCSPX-|pypi-)[A-Za-z0-9_-]{0,12}(?:[ .|,\n]{1,2}[A-Za-z0-9_\-+/=]{2,16}(?![A-Za-z0-9_])){2,40}/g;
/** Digits in groups, with separators unusual for cards and numbers. */
const DIGITS =
  /(?<![\dA-Za-z])\d{1,6}(?:(?: ?[|,~:;·•+]{1,3} ?| {2,4}| ?[-./_]{2,3} ?| [-./_] )\d{1,6}){2,18}(?![\dA-Za-z])/g;
/** An IBAN, or a number of letters and digits, with unusual separators. */
const MIXED =
  /(?<![A-Za-z0-9])[A-Z]{2} ?[.\-_/|:] ?\d{2}(?: ?[.\-_/|: ] ?[A-Z0-9]{1,6}){2,9}(?![A-Za-z0-9])/g;
/** An IBAN in groups with a sign that its own pattern does not read. */
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[./|:] ?[A-Z0-9]{1,4}){3,9}(?![A-Za-z0-9])/g;
/** Values whose parts are separated by signs; the signs are removed. */
export function separated(text: string): Edit[] {
  const edits: Edit[] = [];
  const add = (match: RegExpExecArray, written: string, replacement: string): void => {
    const start = match.index;
    const end = start + written.length;
    edits.push({ start, end, replacement, disguise: ['separators'] });
  };
  for (const { 0: run, index } of text.matchAll(SINGLE)) {
    for (const { cell, start } of cellsOf(run, index)) {
      const replacement = withMark(joined(cell));
      edits.push({ start, end: start + cell.length, replacement, disguise: ['separators'] });
    }
  }
  const keys = brokenKeys(text);
  edits.push(...keys);
  let next = 0;
  for (const match of text.matchAll(MARKED)) {
    const end = match.index + match[0].length;
    while ((keys[next]?.end ?? end) <= match.index) next++;
    // What stands before and behind a whole key is not part of it.
    const holdsKey = (keys[next]?.start ?? end) < end;
    // Words behind a mark are no key.
    if (holdsKey || !/\d/.test(match[0]) || isProse(match[0].split(/[ .|,\n]+/))) continue;
    add(match, match[0], match[0].replace(/[ .|,\n]/g, ''));
  }
  for (const match of text.matchAll(DIGITS)) addDigits(match[0], match.index, edits);
  for (const match of text.matchAll(MIXED))
    add(match, match[0], match[0].replace(/[^A-Z0-9]/g, ''));
  for (const match of text.matchAll(IBAN)) {
    const joinedOne = match[0].replace(/[^A-Z0-9]/g, '');
    if (isIban(joinedOne)) add(match, match[0], joinedOne);
  }
  edits.push(...spelledDigits(text), ...piecesBelow(text), ...halves(text));
  return edits;
}

/**
 * Whether a mark and what follows it describe a key: "ghp_ followed by 36 characters". Groups of a
 * key are of one length, or mix cases or digits.
 */
function isProse([mark = '', ...parts]: readonly string[]): boolean {
  if (/\d|[a-z][A-Z]/.test(mark.slice(4)) && !/_v\d_$/.test(mark)) return false;
  const isSaid = parts.every((part) =>
    /^(?:[A-Za-z]?[a-z]+(?:[-_][a-z]+)*|[A-Z]{1,5}|\d{1,4})[-_]?$/.test(part),
  );
  const words = parts.filter((part) => /^[a-z]{2,}/.test(part));
  return isSaid && words.length > 1 && new Set(words.map(({ length }) => length)).size > 1;
}

/** A cell of a table ends where its value does, if other signs separate the characters. */
const CELL_END = ' | ';

function cellsOf(run: string, start: number): readonly { cell: string; start: number }[] {
  if (!run.includes(CELL_END) || !/[.\-_,/*~:;·•+]/.test(run)) return [{ cell: run, start }];
  let at = start;
  return run.split(CELL_END).map((cell) => {
    const from = at;
    at += cell.length + CELL_END.length;
    return { cell, start: from };
  });
}

function addDigits(run: string, at: number, edits: Edit[]): void {
  for (const { cell, start } of cellsOf(run, at)) {
    const replacement = cell.replace(/\D/g, '');
    edits.push({ start, end: start + cell.length, replacement, disguise: ['separators'] });
  }
}

/** Keys of one length, their mark included. */
const KEY_LENGTHS: readonly (readonly [RegExp, number])[] = [
  [/^A[KS]IA/, 20],
  [/^(?:gh[pousr]|npm)_/, 40],
  [/^glpat-/, 26],
  [/^AIza/, 39],
  [/^hf_/, 37],
  [/^gsk_/, 56],
  [/^GOCSPX-/, 35],
  [/^sk_live_/, 32],
  [/^github_pat_/, 93],
  [/^shp[a-z]{2}_/, 38],
  [/^do[opr]_v1_/, 71],
  [/^rubygems_/, 57],
  [/^lin_api_/, 48],
  [/^dapi/, 36],
  [/^NRAK-/, 32],
  [/^pul-/, 44],
  [/^r8_/, 40],
  [/^dckr_pat_/, 36],
];
const MARK =
  /(?:A[KS]IA|(?:gh[pousr]|npm|hf|gsk|sk_live|rk_live|github_pat|shp(?:at|ca|pa|ss)|do[opr]_v1|rubygems|lin_api|r8|dckr_pat|glsa|figd|ntn|whsec|sntry[su]|sb_secret)_|AIza|dapi(?=[\da-f])|ATATT3|hvs\.|(?:glpat|GOCSPX|xox[abp]|xapp|pypi|NRAK|PMAK|pul|xai|key)-|sk[-_]|SG\.|eyJ)/;
const KEY_MARK = new RegExp(`(?<![A-Za-z0-9])${MARK.source}`, 'g');
const KEY_BEGINS = new RegExp(`^${MARK.source}`);
/** "first half ghp_…, second half …": what stands between them is taken out. */
const HALVES = new RegExp(
  String.raw`(?<![A-Za-z0-9])(?:${MARK.source})[\w-]{4,80}(["'\x60]?[,;.]?\s{1,3}(?:\p{L}{1,8}\s){0,3}(?:half|part|piece|rest|Hälfte|Teil|Rest|moitié|partie|suite|mitad|parte|resto|metà|helft|deel|połowa|część)(?:\s(?:is|ist|est|es|è|to|two|2|b))?\s?[:=]?\s?["'\x60]?)(?=[\w-]{4})`,
  'gu',
);

function halves(text: string): Edit[] {
  return [...text.matchAll(HALVES)].map(({ 0: written, 1: between = '', index }) => {
    const end = index + written.length;
    return { start: end - between.length, end, replacement: '', disguise: ['separators'] };
  });
}

/** A line end, blanks, a sign, an emoji; never the end of a text in a document. */
const BREAK = /[^A-Za-z0-9_\-\u2028]{1,4}/y;
const PART = /[A-Za-z0-9_-]{1,250}/y;
const MAX_PARTS = 100;
/** Of keys of any length. */
const [SHORTEST_KEY, MAX_KEY] = [20, 300];

/** Keys with an issuer's mark that anything breaks, even once, anywhere behind the mark. */
function brokenKeys(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: mark, index: start } of text.matchAll(KEY_MARK)) {
    const length = KEY_LENGTHS.find(([expression]) => expression.test(mark))?.[1];
    const parts = [mark];
    let at = start + mark.length;
    let end = 0;
    let size = mark.length;
    for (let i = 0; i < MAX_PARTS && size < (length ?? MAX_KEY); i++) {
      BREAK.lastIndex = at;
      const between = i === 0 ? 0 : (BREAK.exec(text)?.[0].length ?? 0);
      PART.lastIndex = at + between;
      const part = PART.exec(text)?.[0];
      // Of a key of any length, what follows must not be a word or another key.
      const isOver =
        part === undefined ||
        (length === undefined && i > 0 && (isWord(part) || KEY_BEGINS.test(part)));
      if (isOver || (i > 0 && between === 0)) {
        // The first part may be missing: `ghp_ 16C7…`.
        if (i === 0) continue;
        break;
      }
      parts.push(part);
      size += part.length;
      at += between + part.length;
      end = at;
    }
    const isWhole = length === undefined ? size >= SHORTEST_KEY : size === length;
    const replacement = parts.join('');
    const isBroken = end - start > size;
    const digits = replacement.match(/\d/g)?.length ?? 0;
    if (!isWhole || !isBroken || digits < 2 || isProse(parts)) continue;
    edits.push({ start, end, replacement, disguise: ['separators'] });
  }
  return edits;
}

const isWord = (part: string): boolean => /^[A-Z]?[a-z]+$/.test(part);

/** `g h p _ a` and `g-h-p-_-a`: the sign at every second place is removed. */
function joined(written: string): string {
  const second = written[1] ?? '';
  const isWide = /^.[ .\-_|,/*~:;·•]{2}/.test(written);
  const between = [...written].filter((_, i) => i % 2 === 1);
  if (!isWide && between.every((sign) => sign === second)) {
    return [...written].filter((_, i) => i % 2 === 0).join('');
  }
  const sign = /[ .\-_|,/*~:;·•]{1,3}/.exec(written.slice(1))?.[0] ?? ' ';
  const parts = written.split(sign);
  if (parts.length >= 5) return parts.map((part) => (part === '' ? sign : part)).join('');
  return written.replace(/[ .\-_|,/*~:;·•]/g, '');
}

/** The issuer's mark lost its sign with the others: `ghpab12` was `ghp_ab12`. */
function withMark(value: string): string {
  return value
    .replace(/^(gh[pousr]|npm|hf|gsk)_?(?=[A-Za-z0-9]{20})/, '$1_')
    .replace(/^(glpat|pypi|xox[abprs])-?(?=[A-Za-z0-9]{16})/, '$1-')
    .replace(/^(sk|rk)_?(live|test)_?(?=[A-Za-z0-9]{10})/, '$1_$2_')
    .replace(/^sk-?(ant|proj)-?(?=[A-Za-z0-9]{16})/, 'sk-$1-')
    .replace(/^sk-ant-(api\d\d)/, 'sk-ant-$1-');
}
