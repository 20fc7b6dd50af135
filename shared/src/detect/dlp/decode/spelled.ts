/** Digits that are written as words: `four one one one`, `vier / null / zwei`, `A, one, two`. */
import type { Edit } from './view.ts';

/** In English, German, French, Spanish, Italian, Portuguese and Dutch. */
const WORDS_OF: readonly string[] = [
  'zero oh null nul cero zéro',
  'one eins un uno um een één',
  'two zwei zwo deux dos due dois twee',
  'three drei trois tres tre três drie',
  'four vier quatre cuatro quattro quatro',
  'five fünf fuenf cinq cinco cinque vijf',
  'six sechs seis sei meia zes',
  'seven sieben sept siete sette sete zeven',
  'eight acht huit ocho otto oito',
  'nine neun neuf nueve nove negen',
];
const DIGIT_OF: ReadonlyMap<string, string> = new Map(
  WORDS_OF.flatMap((words, digit) => words.split(' ').map((word) => [word, String(digit)])),
);
/** How often the next digit is written. */
const TIMES: ReadonlyMap<string, number> = new Map([
  ['double', 2],
  ['triple', 3],
]);

const ALL = [...DIGIT_OF.keys(), ...TIMES.keys()].join('|');
/** Of three ASCII letters or more: the others begin many words. */
const LONG = [...DIGIT_OF.keys()].filter((word) => /^[a-z]{3,}$/.test(word)).join('|');
const BETWEEN = '[ ,./;|-]{1,3}';

/** Where a text may contain some. */
export const SPELLED_DIGITS = `(?i)\\b(?:${LONG})${BETWEEN}(?:(?:${ALL})${BETWEEN}){3}`;

const MIN_DIGITS = 6;
const RUN = new RegExp(
  `(?<![A-Za-z\\u00c0-\\u024f])(?:(?:${ALL}|[A-Z])(?:${BETWEEN}|(?![A-Za-z\\u00c0-\\u024f]))){${MIN_DIGITS},80}`,
  'gi',
);
const TOKEN = /[a-z\u00df-\u024f]+/gi;
/** So many digits are a number without letters, or one that begins with two: a card, an IBAN. */
const LONG_NUMBER = 12;

interface Token {
  readonly at: number;
  readonly end: number;
  /** A digit, a capital letter, or how often the next digit is written; undefined for others. */
  readonly value: string | number | undefined;
}

/** Only called for a text with the mark of one. */
export function spelledDigits(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: run, index } of text.matchAll(RUN)) {
    let row: Token[] = [];
    const close = (): void => {
      const edit = digitsOf(row);
      if (edit) edits.push(edit);
      row = [];
    };
    for (const { 0: word, index: at } of run.matchAll(TOKEN)) {
      const value = tokenOf(word);
      if (value === undefined) close();
      else row.push({ at: index + at, end: index + at + word.length, value });
    }
    close();
  }
  return edits;
}

function tokenOf(word: string): string | number | undefined {
  if (word.length === 1) return /[A-Z]/.test(word) ? word : undefined;
  const lower = word.toLowerCase();
  return DIGIT_OF.get(lower) ?? TIMES.get(lower);
}

const isLetter = ({ value }: Token): boolean => typeof value === 'string' && /[A-Z]/.test(value);

function digitsOf(tokens: readonly Token[]): Edit | undefined {
  const count = tokens.filter(
    (token) => typeof token.value === 'string' && !isLetter(token),
  ).length;
  const first = tokens[0];
  const second = tokens[1];
  if (count < MIN_DIGITS || !first || !second) return undefined;
  const isAlone = isLetter(first) && !isLetter(second);
  const row = isAlone && count >= LONG_NUMBER ? tokens.slice(1) : tokens;
  const written = row.map(({ value = '' }, i) => {
    if (typeof value === 'string') return value;
    const next = row[i + 1]?.value;
    return typeof next === 'string' ? next.repeat(value - 1) : '';
  });
  const [start, end] = [row[0]?.at ?? first.at, row.at(-1)?.end ?? first.end];
  return { start, end, replacement: written.join(''), disguise: ['separators'] };
}
