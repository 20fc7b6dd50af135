/** Escapes of URLs, HTML, programs, mails and style sheets; markup within a word. */
import type { Edit } from './view.ts';

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
/** Its first alternative is a character of UTF-8 in several bytes. */
const BACKSLASH =
  /((?:\\x[C-Fc-f][0-9A-Fa-f]|\\3[0-7]{2})(?:\\x[89ABab][0-9A-Fa-f]|\\2[0-7]{2}){1,3})|\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([0-7]{2,3}))/g;
/** Bytes of WebAssembly's text format: `\70\6f`. Of a run without such digits each may be octal. */
const HEX_BYTES = /(?:\\[0-9A-Fa-f]{2}){6,}/g;
const NOT_OCTAL = /\\(?:[0-9A-Fa-f][89A-Fa-f]|[89A-Fa-f][0-9A-Fa-f])/;
const QUOTED_PRINTABLE = /(=[C-F][0-9A-F](?:=[89AB][0-9A-F]){1,3})|=(?:([0-9A-F]{2})|\r?\n)/g;
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
    for (const match of text.matchAll(HEX_BYTES)) {
      if (!NOT_OCTAL.test(match[0])) continue;
      const bytes = Buffer.from(match[0].replaceAll('\\', ''), 'hex');
      addEdit(edits, match, bytes.toString('utf8'), ESCAPE);
    }
    for (const match of text.matchAll(BACKSLASH)) {
      const [, several, braces, four, eight, two, octal] = match;
      if (several !== undefined) {
        addEdit(edits, match, ofSeveralBytes(several), ESCAPE);
        continue;
      }
      const hex = braces ?? four ?? eight ?? two;
      const code = hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16);
      addEdit(edits, match, character(code), ESCAPE);
    }
  }
  // A soft line break by itself could also be base64 padding.
  if (text.includes('=') && /=(?:[2-7][0-9A-F]=|3D)|=20(?![0-9A-Za-z])/.test(text)) {
    for (const match of text.matchAll(QUOTED_PRINTABLE)) {
      const [, several, one] = match;
      const code = one === undefined ? undefined : Number.parseInt(one, 16);
      if (several !== undefined) addEdit(edits, match, ofSeveralBytes(several), PRINTABLE);
      else if (code === undefined) addEdit(edits, match, '', PRINTABLE);
      else if (code >= 0x20 && code < 0x7f)
        addEdit(edits, match, String.fromCharCode(code), PRINTABLE);
    }
  }
  for (const match of markup(text)) addEdit(edits, match, '', TAG);
  return edits;
}

/** A character of UTF-8 whose bytes are escaped in hex or octal; others are taken for Latin-1. */
function ofSeveralBytes(escaped: string): string {
  const bytes = Buffer.from(
    [...escaped.matchAll(/[x=]([0-9A-Fa-f]{2})|\\([0-7]{3})/g)].map(([, hex, octal]) =>
      hex === undefined ? Number.parseInt(octal ?? '', 8) : Number.parseInt(hex, 16),
    ),
  );
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? bytes.toString('latin1') : text;
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
