/** Characters that are not written as they are read: escapes, look-alikes, invisible ones. */
import type { Edit } from './view.ts';

// Cyrillic, Greek, Armenian and other letters that look like Latin ones (Unicode TR 39).
const LOOK_ALIKES: Readonly<Record<string, string>> = {
  а: 'a',
  в: 'B',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  ё: 'e',
  һ: 'h',
  і: 'i',
  ї: 'i',
  ј: 'j',
  к: 'k',
  м: 'M',
  н: 'H',
  о: 'o',
  р: 'p',
  ԛ: 'q',
  ѕ: 's',
  т: 'T',
  у: 'y',
  ѵ: 'v',
  ԝ: 'w',
  х: 'x',
  ү: 'y',
  г: 'r',
  А: 'A',
  В: 'B',
  С: 'C',
  Е: 'E',
  Н: 'H',
  І: 'I',
  Ј: 'J',
  К: 'K',
  М: 'M',
  О: 'O',
  Р: 'P',
  Ѕ: 'S',
  Т: 'T',
  У: 'Y',
  Ү: 'Y',
  Х: 'X',
  З: '3',
  б: '6',
  ь: 'b',
  Ь: 'b',
  Ԍ: 'G',
  Ԛ: 'Q',
  Ԝ: 'W',
  п: 'n',
  α: 'a',
  β: 'B',
  γ: 'y',
  ε: 'e',
  ι: 'i',
  κ: 'k',
  ν: 'v',
  ο: 'o',
  ρ: 'p',
  σ: 'o',
  τ: 't',
  υ: 'u',
  χ: 'x',
  ω: 'w',
  η: 'n',
  Α: 'A',
  Β: 'B',
  Ε: 'E',
  Ζ: 'Z',
  Η: 'H',
  Ι: 'I',
  Κ: 'K',
  Μ: 'M',
  Ν: 'N',
  Ο: 'O',
  Ρ: 'P',
  Τ: 'T',
  Υ: 'Y',
  Χ: 'X',
  ϲ: 'c',
  Ϲ: 'C',
  ϳ: 'j',
  ա: 'w',
  օ: 'o',
  ո: 'n',
  ս: 'u',
  հ: 'h',
  զ: 'q',
  ɑ: 'a',
  ɡ: 'g',
  ı: 'i',
  ȷ: 'j',
  ꞁ: 'l',
  ӏ: 'l',
  Ӏ: 'I',
  ℓ: 'l',
  ⅼ: 'l',
  '∣': 'l',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '‒': '-',
  '−': '-',
  '﹣': '-',
  '·': '.',
  '․': '.',
  '∙': '.',
  '⁄': '/',
  '∕': '/',
  '։': ':',
  '∶': ':',
  '＠': '@',
  '\u00a0': ' ',
  '\u2007': ' ',
  '\u2009': ' ',
  '\u200a': ' ',
  '\u2002': ' ',
  '\u2003': ' ',
  '\u202f': ' ',
  '\u3000': ' ',
};

/**
 * Letters of other scripts, and small capitals, that look like Latin ones, each mapped
 * individually.
 */
const MORE_LOOK_ALIKES = {
  ...pairs('ᎪᏴᏟᎠᎬᎻᎥᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃᏀᏎ', 'ABCDEHiJKLMPRSTVWZGS'),
  ...pairs('ᏆᏩᏫᏮᎵᎴᎶᎽᏂᏏᏳᏒ', 'TGwbPSGYhbGR'),
  ...pairs('ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓤꓦꓧꓨꓪꓫꓬꓮꓰꓲꓳꓴ', 'BPDTGKJCZFMNLSRRVHGWXYAEIOU'),
  ...pairs('ⲀⲂⲈⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬⲟⲣⲥ', 'ABEHIKMNOPCTYXopc'),
  ...pairs('ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnopqrstuvwyz'),
  ...pairs('ɩɪʟƖƐʋᴠᴡꮃꮯꮪꮓꭰꭼꮇꮋꮲꮶꮮꮖ', 'iilIEvvwwcszDeMHpKLI'),
};

function pairs(alike: string, latin: string): Record<string, string> {
  return Object.fromEntries([...alike].map((character, i) => [character, latin[i] ?? '']));
}

/** The letter A of symbol alphabets: circled, squared, regional indicators. */
const SIGN_ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6];

/** Zero width, soft hyphen, direction marks, variation selectors, combining marks, fillers. */
const INVISIBLE = /\p{Cf}|\p{Mn}|\p{Me}|[\u115f\u1160]/u;

/** The digit zero of each script whose digits are used in place of ASCII ones. */
const ZEROES = [
  0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0,
  0xf20, 0x1040, 0x17e0, 0x1810,
];

const ALIKES = new Map(Object.entries({ ...MORE_LOOK_ALIKES, ...LOOK_ALIKES }));

const NOT_PLAIN = /[\u00a0-\u{10ffff}]/gu;

type CharacterReading = Pick<Edit, 'replacement' | 'disguise'>;

const readings = new Map<string, CharacterReading | undefined>();
/** Readings that are cached: more than any language's text has characters. */
const MAX_READINGS = 20_000;

function reading(character: string): CharacterReading | undefined {
  const code = character.codePointAt(0) ?? 0;
  // Tag characters: each stands for an ASCII character.
  if (code >= 0xe0020 && code <= 0xe007e) {
    return { replacement: String.fromCharCode(code - 0xe0000), disguise: ['invisible'] };
  }
  if (INVISIBLE.test(character)) return { replacement: '', disguise: ['invisible'] };
  const zero = ZEROES.find((first) => code >= first && code <= first + 9);
  if (zero !== undefined) return { replacement: String(code - zero), disguise: ['other_digits'] };
  const first = SIGN_ALPHABETS.find((a) => code >= a && code < a + 26);
  if (first !== undefined) {
    return { replacement: String.fromCharCode(code - first + 65), disguise: ['homoglyph'] };
  }
  const alike = ALIKES.get(character);
  if (alike !== undefined) {
    return { replacement: alike, disguise: [/\w/.test(alike) ? 'homoglyph' : 'separators'] };
  }
  const folded = character.normalize('NFKC');
  // Bounds the growth: a character becomes four at most.
  if (folded === character || folded.length > 4) return undefined;
  const plain = [...folded].map((part) => ALIKES.get(part) ?? part).join('');
  return {
    replacement: plain.replace(/[\u0300-\u036f\u20d0-\u20ff]/g, ''),
    disguise: ['full_width'],
  };
}

/** The separator between texts of a document; never a disguise. */
const LINE_SEPARATOR = 0x2028;

/** First characters of escapes, markup and look-alikes; or pairs that only count together. */
const BEGINS = 1;
const SLASH = 2;
const STAR = 4;
const MARKS = new Uint8Array(0x10000).fill(BEGINS, 0xa0);
// The plus is for `U+0041`.
for (const sign of '%&\\=<+') MARKS[sign.charCodeAt(0)] = BEGINS;
MARKS[LINE_SEPARATOR] = 0;
MARKS['/'.charCodeAt(0)] = SLASH;
MARKS['*'.charCodeAt(0)] = STAR;

/** Above this length, one search per sign costs less than a loop. */
const SHORT = 256;

/**
 * Whether `escapes` or `foldedCharacters` may find anything: most texts have no sign of either.
 *
 * @param units of the text (../../units.ts)
 */
export function mayBeEscaped(text: string, units: Uint16Array): boolean {
  const { length } = text;
  if (length > SHORT) return SIGNS.some((sign) => text.includes(sign)) || mayBeFolded(text, units);
  const sorts = MARKS;
  let marks = 0;
  for (let at = 0; at < length; at++) marks |= sorts[units[at] as number] as number;
  return (marks & BEGINS) !== 0 || marks === (SLASH | STAR);
}

const SIGNS = ['%', '&', '\\', '=', '<', 'U+', '/*'];

const isFolded = (unit: number): boolean => unit >= 0xa0 && unit !== LINE_SEPARATOR;

function mayBeFolded(text: string, units: Uint16Array): boolean {
  const { length } = text;
  // In ASCII every character is one byte: the fastest test.
  if (Buffer.byteLength(text) === length) return false;
  for (let at = 0; at < length; at++) {
    if (isFolded(units[at] as number)) return true;
  }
  return false;
}

/** Greek and Cyrillic. */
const isOtherAlphabet = (unit: number): boolean => unit >= 0x370 && unit < 0x530;
const isAscii = (unit: number): boolean =>
  (unit >= 0x41 && unit <= 0x5a) ||
  (unit >= 0x61 && unit <= 0x7a) ||
  (unit >= 0x30 && unit <= 0x39);

/**
 * The end of the word that a Greek or Cyrillic letter stands in, and whether it is a word of that
 * language: one with a letter that no Latin one looks like, and without Latin letters and digits.
 * Read once for each word, so that labels stand when something else is decoded.
 *
 * @param from where the previous word ended
 */
function wordAt(units: Uint16Array, at: number, from: number): [number, boolean] {
  let isNative = false;
  let start = at;
  while (start > from && isAscii(units[start - 1] as number)) start--;
  let hasOthers = start < at;
  let end = at;
  for (; end < units.length; end++) {
    const unit = units[end] as number;
    if (isAscii(unit)) hasOthers = true;
    else if (!isOtherAlphabet(unit)) break;
    else isNative ||= !ALIKES.has(String.fromCharCode(unit));
  }
  return [end, isNative && !hasOthers];
}

/**
 * Look-alikes, other forms of a character, invisible characters.
 *
 * @param units of the text (../../units.ts)
 */
export function foldedCharacters(text: string, units: Uint16Array): Edit[] {
  const edits: Edit[] = [];
  if (!mayBeFolded(text, units)) return edits;
  let wordEnd = 0;
  let isNative = false;
  for (const match of text.matchAll(NOT_PLAIN)) {
    const character = match[0];
    if (isOtherAlphabet(units[match.index] as number)) {
      if (match.index >= wordEnd) [wordEnd, isNative] = wordAt(units, match.index, wordEnd);
      if (isNative) continue;
    }
    if (!readings.has(character)) {
      if (readings.size >= MAX_READINGS) readings.clear();
      readings.set(character, reading(character));
    }
    const read = readings.get(character);
    if (!read || read.replacement === character) continue;
    const { replacement, disguise } = read;
    const start = match.index;
    edits.push({ start, end: start + character.length, replacement, disguise });
  }
  return edits;
}
