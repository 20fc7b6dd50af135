/**
 * Removes members by their names, at any depth, also within texts that are JSON themselves. A text
 * that seems to name such a member, but is no valid JSON, is removed as a whole.
 */

import { REDACTED } from '../call/cover-texts.ts';

/** Deeper values are removed: no message of the gateway has as many levels. */
export const MAX_DEPTH = 200;
/** How often escapes are undone: a text that has more may name anything. */
const MAX_ESCAPED = 4;

/**
 * @param names in lower case
 * @param removed receives the texts of removed members, which may occur elsewhere too
 */
export function redactFields(
  value: unknown,
  names: ReadonlySet<string>,
  removed: Set<string> = new Set(),
  depth = 0,
): unknown {
  if (typeof value === 'string') return redactText(value, names, removed, depth);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  const inner = (item: unknown) => redactFields(item, names, removed, depth + 1);
  if (Array.isArray(value)) return value.map(inner);
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    if (names.has(name.toLowerCase())) collectTexts(member, removed, depth + 1);
    else kept.push([name, inner(member)]);
  }
  return Object.fromEntries(kept);
}

function collectTexts(value: unknown, texts: Set<string>, depth: number): void {
  if (depth >= MAX_DEPTH || value === null) return;
  if (typeof value === 'string' || typeof value === 'number') texts.add(String(value));
  if (typeof value !== 'object') return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value) && isContent(name)) texts.add(name);
    collectTexts(member, texts, depth + 1);
  }
}

/** Digits from which a member's name is no word of a schema, but a number of somebody. */
const MIN_DIGITS = 4;

/** Whether a name is content, as in a map by address or number. Words stand in every message. */
function isContent(name: string): boolean {
  return name.includes('@', 1) || name.replaceAll(/\D/g, '').length >= MIN_DIGITS;
}

/** Redacts a text that is JSON, as most results of servers are. */
function redactText(
  text: string,
  names: ReadonlySet<string>,
  removed: Set<string>,
  depth: number,
): string {
  if (!mayName(text, names)) return text;
  if (depth >= MAX_DEPTH) return REDACTED;
  try {
    // Serialised again even where nothing was removed: of a duplicate key only one value was read.
    const value: unknown = JSON.parse(text);
    return JSON.stringify(redactFields(value, names, removed, depth + 1));
  } catch {
    return REDACTED;
  }
}

const ESCAPE = /\\(?:u[0-9a-f]{4}|u\{[0-9a-f]{1,6}\}|x[0-9a-f]{2})/;
/** With all backslashes before it, which escape its own. From the first one: linear in the text. */
const ESCAPES = /(?<!\\)\\+(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,6})\}|x([0-9a-f]{2}))/g;

/** Whether a text may have one of the names as a JSON key, in quotes that may be escaped. */
function mayName(text: string, names: ReadonlySet<string>): boolean {
  if (!text.includes(':')) return false;
  const lower = unescaped(text.toLowerCase());
  if (lower === undefined) return true;
  const plain = lower.replaceAll('\\', '');
  let letters: string | undefined;
  for (const written of names) {
    const name = (unescaped(written) ?? written).replaceAll('\\', '');
    if (CONTROL.test(name)) {
      letters ??= lettered(plain);
      if (letters.includes(lettered(name))) return true;
      continue;
    }
    if (name === '') return true;
    for (let at = plain.indexOf(name); at !== -1; at = plain.indexOf(name, at + name.length)) {
      if (isKeyEnd(plain, at + name.length)) return true;
    }
  }
  return false;
}

/**
 * A key may be written with escapes, in JSON within JSON with escapes of escapes.
 *
 * @returns undefined where there are too many levels of them
 */
function unescaped(text: string): string | undefined {
  let plain = text;
  for (let times = 0; ESCAPE.test(plain); times++) {
    if (times >= MAX_ESCAPED) return undefined;
    plain = plain.replaceAll(ESCAPES, (_, short?: string, long?: string, byte?: string) => {
      const code = Number.parseInt(short ?? long ?? byte ?? '', 16);
      return code > 0x10ffff ? '' : String.fromCodePoint(code).toLowerCase();
    });
  }
  return plain;
}

/** What JSON escapes by a letter, which is left of `\t` without its backslash. */
const CONTROL = /[\b\t\n\f\r]/;
const LETTERS: Readonly<Record<string, string>> = {
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\f': 'f',
  '\r': 'r',
};

/** The same text, whether control characters stand in it or their escapes. */
function lettered(text: string): string {
  return text.replace(/[\b\t\n\f\r]/g, (sign) => LETTERS[sign] ?? '');
}

/** Whether a quote, white space and a colon follow; a comment may stand before the colon. */
function isKeyEnd(text: string, from: number): boolean {
  let at = from;
  if (text[at] !== '"' && text[at] !== "'") return false;
  at++;
  while (at < text.length && /\s/.test(text[at] as string)) at++;
  return text[at] === ':' || (text[at] === '/' && (text[at + 1] === '*' || text[at + 1] === '/'));
}
