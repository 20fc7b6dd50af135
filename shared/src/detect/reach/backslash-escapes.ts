/** Texts with backslash escapes, as bash reads `$'…'` and PostgreSQL `E'…'` and `U&'…'`. */

const ESCAPE =
  /\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|(.))/gs;
const NAMED: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Escapes as in C. */
export function decodeEscapes(text: string): string {
  if (!text.includes('\\')) return text;
  return text.replace(
    ESCAPE,
    (_all, octal?: string, byte?: string, short?: string, long?: string, sign = '') => {
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
      const hex = byte ?? short ?? long;
      return hex === undefined ? (NAMED[sign] ?? sign) : characterOf(hex);
    },
  );
}

/** `\002f` and `\+00002f`, where another sign may stand for the backslash. */
export function decodeUnicodeEscapes(text: string, sign = '\\'): string {
  const plain = text.replaceAll(sign, '\\');
  return plain.replace(
    /\\(?:\\|([0-9A-Fa-f]{4})|\+([0-9A-Fa-f]{6}))/g,
    (_all, short?: string, long?: string) => {
      const hex = short ?? long;
      return hex === undefined ? '\\' : characterOf(hex);
    },
  );
}

function characterOf(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code > 0x10ffff ? '' : String.fromCodePoint(code);
}

/** Where the quote of `$'…'` closes. */
export function escapedEnd(line: string, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== "'") at += line[at] === '\\' ? 2 : 1;
  return at;
}
