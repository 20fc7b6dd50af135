/**
 * The kind of each UTF-16 unit, and the plain letter that it stands for: accents, full-width and
 * other compatibility forms are folded away (as NFKD does), and so is case. One table, built at
 * load time, so that reading a text costs one lookup per unit.
 */

/** Kinds of units. From `LETTER` up to, but not including, `LETTER_END` are letters and digits. */
export const SEPARATOR = 0;
export const LETTER = 1;
/** 26 Latin letters, ten digits, 33 Cyrillic letters. */
export const LETTER_END = 70;
export const FIRST_DIGIT = LETTER + 26;
/** A letter that no lexicon uses; it may be part of words. */
export const OTHER_LETTER = 70;
/** Invisible: zero-width characters, direction marks, soft hyphens. */
export const IGNORED = 71;
/** A word of its own: Han, kana, Hangul. */
export const IDEOGRAPH = 72;
export const HIGH_SURROGATE = 73;
export const SENTENCE_END = 74;
export const LINE_END = 75;
export const QUOTE = 76;
export const JOINER = 77;
export const AT_SIGN = 78;
export const COLON = 79;
export const BACKSLASH = 80;
/** Between sentences of Chinese and Japanese, and therefore without a space after it. */
export const WIDE_END = 81;
export const LOW_SURROGATE = 82;

const LATIN = 'abcdefghijklmnopqrstuvwxyz0123456789';
const CYRILLIC = 'абвгдежзийклмнопрстуфхцчшщъыьэюяё';
const OTHERS: Record<string, string> = {
  ß: 's',
  æ: 'a',
  œ: 'o',
  ø: 'o',
  đ: 'd',
  ł: 'l',
  ı: 'i',
  ð: 'd',
  þ: 't',
};
const PLAIN = `${LATIN}${CYRILLIC}`;

/** Letters of other alphabets that look like Latin ones, for words that mix alphabets. */
// biome-ignore format: a table
const LOOKALIKES: Record<string, string> = {
  а: 'a', в: 'b', с: 'c', ԁ: 'd', е: 'e', ё: 'e', һ: 'h', і: 'i', ї: 'i', ј: 'j', к: 'k', м: 'm',
  н: 'h', о: 'o', р: 'p', ѕ: 's', т: 't', у: 'y', х: 'x', ԝ: 'w', α: 'a', β: 'b', ε: 'e', η: 'n',
  ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', υ: 'u', χ: 'x', ω: 'w', ѵ: 'v', ɡ: 'g', ո: 'n',
  ս: 'u', օ: 'o', ց: 'g', յ: 'j', զ: 'q', ɑ: 'a', ʏ: 'y', г: 'r', п: 'n', и: 'u', '@': 'a',
  $: 's', '0': 'o', '1': 'i', '3': 'e', '4': 'a', '5': 's', '7': 't', '8': 'b', '!': 'i',
};

export const KIND_OF: Uint8Array = buildKinds();
const LOOKALIKE_OF = buildLookalikes();
const MATHEMATICAL = 0x1d400;
const MATHEMATICAL_END = 0x1d800;
const ENCLOSED = 0x1f130;
const ENCLOSED_END = 0x1f18a;
const astral = new Map<number, number>();

/** The kind of the Latin letter that a unit looks like; 0 if none. */
export function lookalikeOf(unit: number): number {
  return LOOKALIKE_OF.get(unit) ?? 0;
}

/** The kind of a character beyond the first plane: mathematical and enclosed letters are letters. */
export function kindOfAstral(codePoint: number): number {
  if (codePoint >= 0xe0000 && codePoint <= 0xe01ef) return IGNORED;
  if (codePoint >= 0x20000 && codePoint <= 0x323af) return IDEOGRAPH;
  const isMathematical = codePoint >= MATHEMATICAL && codePoint < MATHEMATICAL_END;
  if (!isMathematical && !(codePoint >= ENCLOSED && codePoint < ENCLOSED_END)) return SEPARATOR;
  let kind = astral.get(codePoint);
  if (kind === undefined) {
    kind = isMathematical
      ? letterKind(String.fromCodePoint(codePoint))
      : LETTER + ((codePoint - ENCLOSED) % 32 < 26 ? (codePoint - ENCLOSED) % 32 : 0);
    astral.set(codePoint, kind);
  }
  return kind;
}

/**
 * The byte of text that an invisible character stands for: a tag character (U+E0020 to U+E007E) for
 * its ASCII one, a variation selector (U+E0100 to U+E01EF) for one from 16 on. Undefined for others.
 */
export function byteOfInvisible(codePoint: number): number | undefined {
  if (codePoint >= 0xe0020 && codePoint <= 0xe007e) return codePoint - 0xe0000;
  const byte = codePoint - 0xe0100 + 16;
  // The first select forms of ideographs, and stand for no letter.
  return byte >= 0x20 && byte <= 0xff ? byte : undefined;
}

function letterKind(character: string): number {
  const folded = character.normalize('NFKD').toLowerCase();
  for (const part of folded) {
    const at = PLAIN.indexOf(OTHERS[part] ?? part);
    if (at >= 0) return LETTER + at;
  }
  return SEPARATOR;
}

function buildKinds(): Uint8Array {
  const kinds = new Uint8Array(0x10000);
  const isLetter = /^\p{L}$/u;
  // biome-ignore format: a table
  const ranges: readonly [number, number][] = [
    [0x30, 0x24f], [0x250, 0x2af], [0x370, 0x58f], [0x1d00, 0x1fff], [0x2070, 0x209f],
    [0x2100, 0x218f], [0x2460, 0x24ff], [0xfb00, 0xfb06], [0xff10, 0xff5a],
  ];
  for (const [from, to] of ranges) {
    for (let unit = from; unit <= to; unit += 1) {
      const character = String.fromCharCode(unit);
      const kind = letterKind(character);
      kinds[unit] = kind !== SEPARATOR ? kind : isLetter.test(character) ? OTHER_LETTER : SEPARATOR;
    }
  }
  kinds.fill(OTHER_LETTER, 0x590, 0x1100);
  kinds.fill(IDEOGRAPH, 0x3040, 0x3100);
  kinds.fill(IDEOGRAPH, 0x3400, 0xa000);
  kinds.fill(IDEOGRAPH, 0xac00, 0xd7b0);
  kinds.fill(IDEOGRAPH, 0xff66, 0xffa0);
  kinds.fill(HIGH_SURROGATE, 0xd800, 0xdc00);
  kinds.fill(LOW_SURROGATE, 0xdc00, 0xe000);
  kinds.fill(IGNORED, 0x300, 0x370);
  kinds.fill(IGNORED, 0x200b, 0x2010);
  kinds.fill(IGNORED, 0x202a, 0x202f);
  kinds.fill(IGNORED, 0x2060, 0x2070);
  kinds.fill(IGNORED, 0xfe00, 0xfe10);
  for (const unit of [0xad, 0x34f, 0x61c, 0x180e, 0xfeff, 0x115f, 0x1160]) kinds[unit] = IGNORED;
  const others: readonly [string, number][] = [
    ['.!?;…', SENTENCE_END],
    ['。！？；', WIDE_END],
    ['\n\r\t\v\f\u2028\u2029|', LINE_END],
    ['"\'`“”„‟«»‹›「」『』‘’‚', QUOTE],
    ['_', JOINER],
    ['@', AT_SIGN],
    [':', COLON],
    ['\\', BACKSLASH],
  ];
  for (const [characters, kind] of others) {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  }
  return kinds;
}

function buildLookalikes(): Map<number, number> {
  const lookalikes = new Map<number, number>();
  for (const [from, to] of Object.entries(LOOKALIKES)) {
    lookalikes.set(from.charCodeAt(0), LETTER + LATIN.indexOf(to));
  }
  return lookalikes;
}

export const FIRST_ODD = 0x250;

/** Whether a unit from there on is a small capital, a phonetic letter, or of full width. */
export function isOdd(unit: number): boolean {
  return unit < 0x2b0 || unit >= 0xff00 || (unit >= 0x1d00 && unit < 0x1dc0);
}
