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

/**
 * Look-alikes, other forms of a character, invisible characters.
 *
 * @param units of the text (../../units.ts)
 */
export function foldedCharacters(text: string, units: Uint16Array): Edit[] {
  const edits: Edit[] = [];
  if (!mayBeFolded(text, units)) return edits;
  for (const match of text.matchAll(NOT_PLAIN)) {
    const character = match[0];
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

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  commat: '@',
  period: '.',
  sol: '/',
  colon: ':',
  equals: '=',
  lowbar: '_',
  hyphen: '-',
  dash: '-',
  shy: '',
  zwj: '',
  zwnj: '',
  num: '#',
  excl: '!',
  dollar: '$',
  percnt: '%',
  plus: '+',
  comma: ',',
  semi: ';',
  lpar: '(',
  rpar: ')',
  ast: '*',
  bsol: '\\',
  lsqb: '[',
  rsqb: ']',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  ndash: '-',
  mdash: '-',
};

const PERCENT = /(?:%(?:25)?[0-9A-Fa-f]{2})+/g;
/** From old JavaScript, Unicode tables and style sheets: `%u0041`, `U+0041`, `\41 `. */
const CODE_POINT = /(?:%u|U\+)([0-9A-Fa-f]{4,6})(?: (?=U\+))?|\\(?![0-7]{3} )([0-9A-Fa-f]{2,6}) /g;
/** A line continuation within a word. */
const CONTINUED = /(?<=\S)\\\r?\n(?=\S)/g;
const ENTITY = /&(?:#0{0,16}(\d{1,7})|#[xX]0{0,16}([0-9A-Fa-f]{1,6})|([A-Za-z]{2,8})(?=;));?/y;
const BACKSLASH =
  /\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([0-7]{2,3}))/g;
const QUOTED_PRINTABLE = /=(?:([0-9A-F]{2})|\r?\n)/g;
/** Markup within a word: `41<b>11</b>`, `AK<!-- -->IA`. */
const MARKUP =
  /(?<=[A-Za-z0-9_-])(?:<\/?[A-Za-z!][^<>]{0,60}>|\/\*[^*]{0,40}\*\/){1,3}(?=[A-Za-z0-9_-])/y;

/** Names of disguises, allocated once: a text may have an edit every few characters. */
const [URL_ESCAPE, HTML, ESCAPE] = [['url'], ['html'], ['escape']] as const;
const [PRINTABLE, TAG] = [['quoted_printable'], ['markup']] as const;

/** Escapes of URLs, HTML, programs and mails; each is replaced by what it stands for. */
export function escapes(text: string): Edit[] {
  const edits: Edit[] = [];
  if (text.includes('%')) {
    for (const match of text.matchAll(PERCENT)) {
      const bytes = Buffer.from(match[0].replace(/%25/g, '%').replaceAll('%', ''), 'hex');
      addEdit(edits, match, bytes.toString('utf8'), URL_ESCAPE);
    }
  }
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    ENTITY.lastIndex = at;
    const match = ENTITY.exec(text);
    if (!match) continue;
    const [, decimal, hex, name = ''] = match;
    if (decimal !== undefined) addEdit(edits, match, character(Number(decimal)), HTML);
    else if (hex !== undefined) addEdit(edits, match, character(Number.parseInt(hex, 16)), HTML);
    else if (Object.hasOwn(ENTITIES, name)) addEdit(edits, match, ENTITIES[name], HTML);
  }
  const hasCodePoints = text.includes('%u') || text.includes('U+') || text.includes('\\');
  if (hasCodePoints && /%u|U\+|\\[0-9A-Fa-f]/.test(text)) {
    for (const match of text.matchAll(CODE_POINT)) {
      addEdit(edits, match, character(Number.parseInt(match[1] ?? match[2] ?? '', 16)), ESCAPE);
    }
  }
  if (text.includes('\\')) {
    // The expression alone would look behind at every character.
    const isContinued = text.includes('\\\n') || text.includes('\\\r');
    for (const match of isContinued ? text.matchAll(CONTINUED) : [])
      addEdit(edits, match, '', ESCAPE);
    for (const match of text.matchAll(BACKSLASH)) {
      const [, braces, four, eight, two, octal] = match;
      const hex = braces ?? four ?? eight ?? two;
      const code = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
      addEdit(edits, match, character(code), ESCAPE);
    }
  }
  // A soft line break by itself could also be base64 padding.
  if (text.includes('=') && /=(?:[2-7][0-9A-F]=|3D)|=20(?![0-9A-Za-z])/.test(text)) {
    for (const match of text.matchAll(QUOTED_PRINTABLE)) {
      const code = match[1] === undefined ? undefined : Number.parseInt(match[1], 16);
      if (code === undefined) addEdit(edits, match, '', PRINTABLE);
      else if (code >= 0x20 && code < 0x7f)
        addEdit(edits, match, String.fromCharCode(code), PRINTABLE);
    }
  }
  for (const match of markup(text)) addEdit(edits, match, '', TAG);
  return edits;
}

function addEdit(
  edits: Edit[],
  match: RegExpExecArray,
  replacement: string | undefined,
  disguise: readonly string[],
): void {
  if (replacement === undefined || replacement === match[0]) return;
  const start = match.index;
  edits.push({ start, end: start + match[0].length, replacement, disguise });
}

/**
 * Tried only where markup begins, since the expression alone would look behind at every character.
 */
function markup(text: string): RegExpExecArray[] {
  const matches: RegExpExecArray[] = [];
  let tag = text.indexOf('<');
  let remark = text.indexOf('/*');
  while (tag >= 0 || remark >= 0) {
    MARKUP.lastIndex = tag < 0 || (remark >= 0 && remark < tag) ? remark : tag;
    let next = MARKUP.lastIndex + 1;
    const match = MARKUP.exec(text);
    if (match) {
      matches.push(match);
      next = match.index + match[0].length;
    }
    if (tag >= 0 && tag < next) tag = text.indexOf('<', next);
    if (remark >= 0 && remark < next) remark = text.indexOf('/*', next);
  }
  return matches;
}

function character(code: number): string | undefined {
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
