/**
 * Finds e-mail addresses of the usual form in one pass from left to right, without backtracking,
 * since the text comes from an agent or a server.
 */

export interface FoundAddress {
  start: number;
  end: number;
  /** With `@`, even where the text encodes it. */
  address: string;
}

/** `@`, also wide or small, and as encoded in a URL, in JSON or in HTML. */
const AT_SIGNS = [
  ...['@', '\uff20', '\ufe6b'],
  ...['%40', '\\u0040', '\\uff20', '\\uFF20'],
  ...['&#64;', '&#064;', '&#x40;', '&#X40;', '&commat;'],
];

const LOCAL = /[\p{L}\p{N}\p{M}._+-]/u;
/** Allowed in an address too, but mostly punctuation around one. */
const RARE = /[!#$%&'*/=?^`{|}~]/;
const DOMAIN = /[\p{L}\p{N}\p{M}.-]/u;
const TOP_LEVEL = /^(?:[\p{L}\p{M}]{2,}|xn--[\p{L}\p{N}-]+)$/iu;

export function findAddresses(text: string): FoundAddress[] {
  const found: FoundAddress[] = [];
  let from = 0;
  for (const { at, after } of atSigns(text)) {
    if (at < from) continue;
    const start = localStart(text, at, from);
    const end = domainEnd(text, after);
    if (start === at || end === after) continue;
    const local = text.slice(start, at).replaceAll('\\"', '"');
    const address = `${local}@${text.slice(after, end)}`;
    found.push({ start, end, address });
    from = end;
  }
  return found;
}

function* atSigns(text: string): Generator<{ at: number; after: number }> {
  const next = AT_SIGNS.map((sign) => ({ sign, at: text.indexOf(sign) }));
  for (;;) {
    let first: { sign: string; at: number } | undefined;
    for (const one of next) if (one.at !== -1 && one.at < (first?.at ?? Infinity)) first = one;
    if (!first) return;
    const { sign, at } = first;
    yield { at, after: at + sign.length };
    first.at = text.indexOf(sign, at + sign.length);
  }
}

/** @returns `at` where there is no local part */
function localStart(text: string, at: number, from: number): number {
  if (text[at - 1] === '"') return quotedStart(text, at, from);
  let start = at;
  while (start > from && isOf(LOCAL, text, start - 1)) start--;
  if (start === at) while (start > from && RARE.test(text.charAt(start - 1))) start--;
  // The end of an escape before the address, as in "%20anna" or "\nanna", is not part of it.
  const inner = start + (start > from ? escapeEnd(text.slice(start - 1, start + 5)) : 0);
  if (inner < at) start = inner;
  let word = start;
  while (text[word] === '.' || text[word] === '-') word++;
  return word < at ? word : start;
}

/** Most characters between the quotes of a local part, as RFC 5321 has it. */
const MAX_QUOTED = 64;
/** Not within a word, where it would be the end of another quotation. */
const BEFORE_QUOTE = /^(?:|[\s<([,;:=\\])$/;

/** The start of `"anna b"@`, with the backslash before it where the quotes are escaped. */
function quotedStart(text: string, at: number, from: number): number {
  const isEscaped = text[at - 2] === '\\';
  const end = isEscaped ? at - 2 : at - 1;
  let open = end - 1;
  while (open > from && open > end - MAX_QUOTED && text[open] !== '"') open--;
  if (open < from || text[open] !== '"') return at;
  const start = isEscaped && open > from && text[open - 1] === '\\' ? open - 1 : open;
  const before = start === 0 ? '' : text.charAt(start - 1);
  const isQuoted = BEFORE_QUOTE.test(before) || (start < open && before === '"');
  return isQuoted && /[\p{L}\p{N}]/u.test(text.slice(open, end)) ? start : at;
}

/** The characters of the escape that a text begins with, without its `%` or backslash. */
function escapeEnd(text: string): number {
  if (/^%[0-9a-f]{2}/i.test(text)) return 2;
  if (/^\\u[0-9a-f]{4}/i.test(text)) return 5;
  return /^\\[bfnrt]/.test(text) ? 1 : 0;
}

/** @returns `after` where there is no domain */
function domainEnd(text: string, after: number): number {
  let end = after;
  while (end < text.length && isOf(DOMAIN, text, end)) {
    if (text[end] === '.' && text[end + 1] === '.') break;
    end++;
  }
  // Dots are searched only within the domain, not in the text before it.
  const domain = text.slice(after, end);
  let length = domain.length;
  // Drops what follows the domain, as in "anna@corp.example." or "anna@corp.example.2".
  for (;;) {
    const dot = length === 0 ? -1 : domain.lastIndexOf('.', length - 1);
    if (dot < 1) return after;
    while (domain[length - 1] === '-') length--;
    if (TOP_LEVEL.test(domain.slice(dot + 1, length))) return after + length;
    length = dot;
  }
}

/** A table for ASCII, faster than a regular expression. */
const PLAIN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9.-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

function isOf(characters: RegExp, text: string, at: number): boolean {
  return PLAIN[text.charCodeAt(at)] === 1 || characters.test(text.charAt(at));
}
