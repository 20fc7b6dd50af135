/**
 * Removes members by their names, at any depth, also within texts that are JSON themselves. A text
 * that seems to name such a member, but is no valid JSON, is removed as a whole.
 */

import { REDACTED } from '../cover-texts.ts';

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
  for (const member of Object.values(value)) collectTexts(member, texts, depth + 1);
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

const ESCAPE = /\\u[0-9a-f]{4}/;
/** With all backslashes before it, which escape its own. From the first one: linear in the text. */
const ESCAPES = /(?<!\\)\\+u([0-9a-f]{4})/g;

/** Whether a text may have one of the names as a JSON key, in quotes that may be escaped. */
function mayName(text: string, names: ReadonlySet<string>): boolean {
  if (!text.includes(':')) return false;
  // A key may be written with escapes, in JSON within JSON with escapes of escapes.
  let lower = text.toLowerCase();
  for (let times = 0; ESCAPE.test(lower); times++) {
    if (times >= MAX_ESCAPED) return true;
    lower = lower.replaceAll(ESCAPES, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)).toLowerCase(),
    );
  }
  for (const name of names) {
    for (let at = lower.indexOf(name); at !== -1; at = lower.indexOf(name, at + name.length)) {
      if (isKeyEnd(lower, at + name.length)) return true;
    }
  }
  return false;
}

/** Whether backslashes, a quote, white space and a colon follow. */
function isKeyEnd(text: string, from: number): boolean {
  let at = from;
  while (text[at] === '\\') at++;
  if (text[at] !== '"' && text[at] !== "'") return false;
  at++;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}
