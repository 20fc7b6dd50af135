/** Separators between the characters, or groups of characters, of a value. */
import type { Edit } from './view.ts';

/** One character, a sign, one character, a sign …: `4-1-1-1`, `A K I A`, `h.u.n.t`, `4 - 1 - 1`. */
const SINGLE =
  /(?<![A-Za-z0-9])[A-Za-z0-9@+](?:[ .\-_|,/*~:;·•]{1,3}[A-Za-z0-9@_./:+=-](?![A-Za-z0-9])){6,}/g;
/** Groups of two to eight after an issuer's mark. */
const MARKED =
  /(?<![A-Za-z0-9])(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk[-_][a-z]{0,8}[-_]?|xox[abp]-|AIza|npm_|hf_|gsk_|eyJ|SG\.|GOCSPX-|pypi-)[A-Za-z0-9_-]{0,12}(?:[ .|,\n]{1,2}[A-Za-z0-9_\-+/=]{2,16}(?![A-Za-z0-9_])){2,40}/g;
/** Digits in groups, with separators unusual for cards and numbers. */
const DIGITS =
  /(?<![\dA-Za-z])\d{1,6}(?:(?: ?[|,~:;·•+]{1,3} ?| {2,4}| ?[-./_]{2,3} ?| [-./_] )\d{1,6}){2,18}(?![\dA-Za-z])/g;
/** An IBAN, or a number of letters and digits, with unusual separators. */
const MIXED =
  /(?<![A-Za-z0-9])[A-Z]{2} ?[.\-_/|:] ?\d{2}(?: ?[.\-_/|: ] ?[A-Z0-9]{1,6}){2,9}(?![A-Za-z0-9])/g;
const SPELLED =
  /(?<![A-Za-z])(?:(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun)(?:[ ,.-]{1,3}|$|(?=[^A-Za-z]))){6,}/gi;

const NUMBER_WORDS: Readonly<Record<string, string>> = {
  zero: '0',
  oh: '0',
  null: '0',
  one: '1',
  eins: '1',
  two: '2',
  zwei: '2',
  three: '3',
  drei: '3',
  four: '4',
  vier: '4',
  five: '5',
  fünf: '5',
  six: '6',
  sechs: '6',
  seven: '7',
  sieben: '7',
  eight: '8',
  acht: '8',
  nine: '9',
  neun: '9',
};

/** Values whose parts are separated by signs; the signs are removed. */
export function separated(text: string): Edit[] {
  const edits: Edit[] = [];
  const add = (match: RegExpExecArray, written: string, replacement: string): void => {
    const start = match.index;
    const end = start + written.length;
    edits.push({ start, end, replacement, disguise: ['separators'] });
  };
  for (const match of text.matchAll(SINGLE)) {
    const [written] = match;
    add(match, written, withMark(joined(written)));
  }
  for (const match of text.matchAll(MARKED))
    add(match, match[0], match[0].replace(/[ .|,\n]/g, ''));
  for (const match of text.matchAll(DIGITS)) add(match, match[0], match[0].replace(/\D/g, ''));
  for (const match of text.matchAll(MIXED))
    add(match, match[0], match[0].replace(/[^A-Z0-9]/g, ''));
  for (const match of text.matchAll(SPELLED)) {
    const words = match[0].toLowerCase().match(/[a-zü]+/g) ?? [];
    const digits = words.map((word, i) =>
      word === 'double' ? (NUMBER_WORDS[words[i + 1] ?? ''] ?? '') : (NUMBER_WORDS[word] ?? ''),
    );
    add(match, match[0].trimEnd(), `${digits.join('')}`);
  }
  return edits;
}

/** `g h p _ a` and `g-h-p-_-a`: the sign at every second place is removed. */
function joined(written: string): string {
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
