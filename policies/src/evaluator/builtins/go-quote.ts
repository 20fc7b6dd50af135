/** Go's strconv.Quote and its relatives: how OPA prints a string inside a collection and for %q. */

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(character: string): boolean {
  return PRINTABLE.test(character);
}

/** strconv.Quote, or strconv.QuoteToASCII when `ascii`. */
export function quoteString(text: string, ascii = false): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let out = '"';
  for (const character of text) out += escapeCharacter(character, '"', ascii);
  return `${out}"`;
}

/** strconv.QuoteRune, or strconv.QuoteRuneToASCII when `ascii`. */
export function quoteCharacter(character: string, ascii = false): string {
  return `'${escapeCharacter(character, "'", ascii)}'`;
}

/** strconv.CanBackquote: one line without control characters, backquotes or a byte order mark. */
export function canBackquote(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the question
  return !/[\u0000-\u0008\u000a-\u001f`\u007f\ufeff]/.test(text);
}

function escapeCharacter(character: string, quote: string, ascii: boolean): string {
  if (character === quote || character === '\\') return `\\${character}`;
  const code = character.codePointAt(0) as number;
  if (code < 0x80 || !ascii) if (isPrintable(character)) return character;
  const simple = SIMPLE_ESCAPES[character];
  if (simple !== undefined) return simple;
  if (code < 0x20 || code === 0x7f) return `\\x${hex(code, 2)}`;
  if (code < 0x10000) return `\\u${hex(code, 4)}`;
  return `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
