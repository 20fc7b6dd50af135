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

/** Letters as radio operators, and in German, French and Spanish offices, say them. */
const ALPHABETS: readonly string[] = [
  'alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu',
  'alfa bravo charlie delta echo fox golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango uniform viktor whisky x-ray yankee zulu',
  'anton berta cäsar dora emil friedrich gustav heinrich ida julius kaufmann ludwig martha nordpol otto paula quelle richard samuel theodor ulrich viktor wilhelm xanthippe ypsilon zacharias',
  'anatole berthe célestin désiré eugène françois gaston henri irma joseph kléber louis marcel nicolas oscar pierre quintal raoul suzanne thérèse ursule victor william xavier yvonne zoé',
];
const LETTER_OF: ReadonlyMap<string, string> = new Map(
  ALPHABETS.flatMap((words) =>
    words.split(' ').map((word, i): [string, string] => [word, String.fromCharCode(65 + i)]),
  ),
);
const CASES =
  'small|lower ?case|lowercase|lower|little|klein|minuscule|min[úu]scula|minuscola|capital|upper ?case|uppercase|upper|big|gro(?:ß|ss)|majuscule|may[úu]scula|maiuscola';
const SAID = [...LETTER_OF.keys()].join('|');
/** Fewer are names in a row. */
const MIN_SAID = 6;
/** Without the flag `u`, by which the long list of words takes four times as long. */
const LATIN = 'A-Za-z\u00c0-\u024f';
const DIGITS_SAID = [...DIGIT_OF.keys()].filter((word) => /^[\p{L}]{3,}$/u.test(word)).join('|');
const SAID_RUN = new RegExp(
  `(?<![${LATIN}\\d])(?:(?:(?:${CASES}) )?(?:${SAID}|${DIGITS_SAID}|\\d)(?:[ ,./;–-]{1,3}(?=[${LATIN}\\d])|(?![${LATIN}\\d]))){${MIN_SAID},40}`,
  'gi',
);
const SAID_TOKEN = new RegExp(`(?:(${CASES}) )?(x-ray|[\\p{L}]+|\\d)`, 'giu');

/** "four seven Kilo Romeo": letters and digits, some of each; in small letters if they say so. */
function spelledLetters(text: string): Edit[] {
  const edits: Edit[] = [];
  for (const { 0: run, index: start } of text.matchAll(SAID_RUN)) {
    const written = [...run.matchAll(SAID_TOKEN)].map(([, size = '', word = '']) => {
      const lower = word.toLowerCase();
      const letter = LETTER_OF.get(lower);
      if (letter === undefined) return DIGIT_OF.get(lower) ?? lower;
      return /^(?:small|low|litt|klein|min)/i.test(size) ? letter.toLowerCase() : letter;
    });
    const replacement = written.join('');
    if (!/\d.*\d/.test(replacement) || !/[A-Za-z].*[A-Za-z]/.test(replacement)) continue;
    const end = start + run.replace(/[^\p{L}\d]+$/u, '').length;
    edits.push({ start, end, replacement, disguise: ['separators'] });
  }
  return edits;
}

/** What an issuer writes before a key, its signs in words: "ghp underscore …", "sk dash live dash …". */
const SIGN_WORDS: readonly (readonly [sign: string, words: string])[] = [
  [
    '_',
    'underscore|under score|unterstrich|tiret bas|soulign[ée]|gui[oó]n bajo|trattino basso|sublinhado|underline|liggend streepje|podkre[śs]lnik|podkre[śs]lenie|understreck|understrek|podtržítko|alt çizgi|подч[её]ркивание',
  ],
  ['-', HYPHENS],
];
const SIGN_WORD = SIGN_WORDS.map(([, words]) => words).join('|');
const ISSUERS =
  'gh[pousr]|github|glpat|gl pat|sk|pk|rk|npm|hf|gsk|xox[abp]|pypi|dop|shpat|shpss|whsec|glsa|figd|ntn|sntrys|lin|r8|dckr|pul|xai|hvs';
const SPELLED_MARK = new RegExp(
  `(?<![${LATIN}\\d])(?:${ISSUERS}) (?:${SIGN_WORD})(?: (?:live|test|proj|ant|pat|api|v1|api03)(?: (?:${SIGN_WORD}))?){0,2} (?=[A-Za-z0-9]{2})`,
  'gi',
);

function spelledMarks(text: string): Edit[] {
  return [...text.matchAll(SPELLED_MARK)].map(({ 0: written, index: start }) => {
    let mark = written.trim();
    for (const [sign, words] of SIGN_WORDS) {
      mark = mark.replace(new RegExp(` (?:${words})(?: |$)`, 'giu'), sign);
    }
    const end = start + written.length;
    return { start, end, replacement: mark.replaceAll(' ', ''), disguise: ['separators'] };
  });
}

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
  `(?i)\\b(?:${ISSUERS}) (?:${SIGN_WORD}) `,
  ...ALPHABETS.map((words) => {
    const said = words.replaceAll(' ', '|');
    return `(?i)\\b(?:${said})[ ,./;–-]{1,3}(?:[a-z]+ )?(?:${said}|${LONG}|\\d)\\b`;
  }),
  `[${HAN}]{6}`,
  `[${HAN}]{1,4}(?:${HAN_BETWEEN}{1,2}[${HAN}]{1,4}){2}`,
];

const MIN_DIGITS = 6;
const RUN = new RegExp(
  `(?<![${LATIN}])(?:(?:${ALL}|[A-Z])(?:${BETWEEN}|(?![${LATIN}]))){${MIN_DIGITS},80}`,
  'gi',
);
const TOKEN = /[a-z\u00df-\u024f]+/gi;
const HYPHEN = new RegExp(`^(?:${HYPHENS})$`, 'i');
const SIGN = new RegExp(`^(?:${OTHER_SIGNS}|d|union)$`, 'i');
/** "plus four nine …" */
const PLUS = /(?:^|[^\p{L}])(?:plus|más|più|mais|pluss)[ ,]{1,2}$/iu;
/** Fewer digits behind a word for such a number. */
const PIN = new RegExp(
  `(?<=\\b(?:pin|cv[vc]2?|geheimzahl|passcode|(?:door|access|alarm) code)(?: (?:code|is|ist|lautet|est|es))?[ :=]{1,3})(?:${ALL})(?:${PLAIN}(?:${ALL})){2,4}(?![${LATIN}]|${PLAIN}(?:${ALL})(?![a-z]))`,
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
  const said = spelledLetters(text);
  const edits: Edit[] = [...said, ...spelledMarks(text)];
  let next = 0;
  for (const { 0: run, index } of text.matchAll(RUN)) {
    while ((said[next]?.end ?? index + 1) <= index) next++;
    if ((said[next]?.start ?? text.length) < index + run.length) continue;
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
