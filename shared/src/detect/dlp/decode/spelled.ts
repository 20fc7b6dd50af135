/** Digits that are written as words: `four one one one`, `vier / null / zwei`, `A, one, two`. */
import type { Edit } from './view.ts';

/**
 * In English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Danish,
 * Norwegian and Turkish.
 */
const WORDS_OF: readonly string[] = [
  'zero oh null nul cero zéro nought noll sıfır',
  'one eins un uno um een één jeden ett en bir',
  'two zwei zwo deux dos due dois twee dwa två to iki',
  'three drei trois tres tre três drie trzy üç',
  'four vier quatre cuatro quattro quatro cztery fyra fire dört',
  'five fünf fuenf cinq cinco cinque vijf pięć fem beş',
  'six sechs seis sei meia zes sześć sex seks altı',
  'seven sieben sept siete sette sete zeven siedem sju syv yedi',
  'eight acht huit ocho otto oito osiem åtta otte åtte sekiz',
  'nine neun neuf nueve nove negen dziewięć nio ni dokuz',
];
/** What people read aloud for the sign between two groups of digits. */
const HYPHENS =
  "dash|hyphen|minus|bindestrich|strich|tiret|trait|trait d[’']union|gui[oó]n|raya|trattino|lineetta|hífen|traço|tracinho|streepje|koppelteken|myślnik|kreska|bindestreck|streck|bindestreg|bindestrek|strek|tire";
const OTHER_SIGNS =
  'space|blank|dot|point|period|slash|leerzeichen|punkt|schrägstrich|espace|barre|espacio|punto|spazio|barra|espaço|ponto|spatie|punt|spacja|kropka|mellanslag|mellomrom|mellemrum|boşluk|nokta';
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
const PLAIN = '[ ,./;|-]{1,3}';
const BETWEEN = `${PLAIN}(?:(?:${HYPHENS}|${OTHER_SIGNS})${PLAIN})?`;

/** In Chinese and Japanese nothing stands between them, or a blank or sign. */
const HAN_DIGITS = '零一二三四五六七八九';
const HAN = `${HAN_DIGITS}〇幺两`;
const HAN_BETWEEN = '[-－—、，, \u3000]';
const HAN_RUN = new RegExp(
  `[${HAN}](?:${HAN_BETWEEN}{0,2}[${HAN}]){5,30}(?:${HAN_BETWEEN}{0,2}[XxＸ](?![A-Za-z]))?`,
  'g',
);

/** Where a text may contain some: two, with a word at most between them. */
export const SPELLED_DIGITS: readonly string[] = [
  `(?i)\\b(?:${LONG})${PLAIN}(?:[a-zà-ɏ]+${PLAIN})?(?:${LONG})${PLAIN}`,
  `[${HAN}]{6}`,
  `[${HAN}]{1,4}(?:${HAN_BETWEEN}{1,2}[${HAN}]{1,4}){2}`,
];

const MIN_DIGITS = 6;
const RUN = new RegExp(
  `(?<![A-Za-z\\u00c0-\\u024f])(?:(?:${ALL}|[A-Z])(?:${BETWEEN}|(?![A-Za-z\\u00c0-\\u024f]))){${MIN_DIGITS},80}`,
  'gi',
);
const TOKEN = /[a-z\u00df-\u024f]+/gi;
const HYPHEN = new RegExp(`^(?:${HYPHENS})$`, 'i');
const SIGN = new RegExp(`^(?:${OTHER_SIGNS}|d|union)$`, 'i');
/** "plus four nine …" */
const PLUS = /(?:^|[^\p{L}])(?:plus|más|più|mais|pluss)[ ,]{1,2}$/iu;
/** Fewer digits behind a word for such a number. */
const PIN = new RegExp(
  `(?<=\\b(?:pin|cv[vc]2?|geheimzahl|passcode|(?:door|access|alarm) code)(?: (?:code|is|ist|lautet|est|es))?[ :=]{1,3})(?:${ALL})(?:${PLAIN}(?:${ALL})){2,4}(?![A-Za-z\u00c0-\u024f]|${PLAIN}(?:${ALL})(?![a-z]))`,
  'gi',
);
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
      // Only between two digits: behind the last one, it is what comes next.
      const isSign = row.length > 0 && SIGN.test(word);
      if (isSign) continue;
      const value = row.length > 0 && HYPHEN.test(word) ? '-' : tokenOf(word);
      if (value === undefined) close();
      else row.push({ at: index + at, end: index + at + word.length, value });
    }
    close();
  }
  for (const { 0: run, index: start } of text.matchAll(PIN)) {
    const replacement = [...run.matchAll(TOKEN)].map(([word]) => tokenOf(word) ?? '').join('');
    if (!/^\d{3,5}$/.test(replacement)) continue;
    edits.push({ start, end: start + run.length, replacement, disguise: ['separators'] });
  }
  for (const { 0: run, index: start } of text.matchAll(HAN_RUN)) {
    const replacement = [...run].map(hanDigit).join('');
    // "一一" and counts in a row are words, too.
    if (new Set(replacement).size < 3 || /一、二/.test(run)) continue;
    edits.push({ start, end: start + run.length, replacement, disguise: ['separators'] });
  }
  for (const [i, edit] of edits.entries()) {
    const plus = PLUS.exec(text.slice(Math.max(0, edit.start - 8), edit.start))?.[0];
    if (plus === undefined || !/^\d/.test(edit.replacement)) continue;
    const start = edit.start - plus.replace(/^[^\p{L}]/u, '').length;
    edits[i] = { ...edit, start, replacement: `+${edit.replacement}` };
  }
  return edits;
}

function hanDigit(character: string): string {
  if (/[XxＸ]/.test(character)) return 'X';
  if (character === '〇') return '0';
  if (character === '幺') return '1';
  if (character === '两') return '2';
  const digit = HAN_DIGITS.indexOf(character);
  return digit < 0 ? '' : String(digit);
}

function tokenOf(word: string): string | number | undefined {
  if (word.length === 1) return /[A-Z]/.test(word) ? word : undefined;
  const lower = word.toLowerCase();
  return DIGIT_OF.get(lower) ?? TIMES.get(lower);
}

const isLetter = ({ value }: Token): boolean => typeof value === 'string' && /[A-Z]/.test(value);

function digitsOf(tokens: readonly Token[]): Edit | undefined {
  const count = tokens.filter(
    ({ value }) => typeof value === 'string' && /^\d$/.test(value),
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
  while (written.at(-1) === '-') written.pop();
  const [start, end] = [row[0]?.at ?? first.at, row.at(-1)?.end ?? first.end];
  return { start, end, replacement: written.join(''), disguise: ['separators'] };
}
