/**
 * The URIs that a call asks for: they say of which source its answer is. Whatever a tool might take
 * for one counts: in the middle of a text, in a member's name, and in the spellings that parsers
 * mend.
 */
import type { Ask } from '../calls.ts';

/** What is beyond is not looked at, and `isWhole` says so. */
const MAX_URIS = 100;
const MAX_VALUES = 5_000;
const MAX_URI = 2_048;
const MAX_CHARACTERS = 1024 * 1024;
const MAX_SCHEME = 31;

export interface RequestedUris {
  readonly uris: readonly string[];
  /** Whether these are all; else the call may ask for others. */
  readonly isWhole: boolean;
}

/** @param ask caller-controlled */
export function requestedUris({ args, retry }: Pick<Ask, 'args' | 'retry'>): RequestedUris {
  const uris = new Set<string>();
  // A read's may have a scheme without an authority.
  if (typeof args.uri === 'string') uris.add(args.uri);
  const waiting: unknown[] = [args, retry];
  let isWhole = true;
  let left = MAX_CHARACTERS;
  const add = (text: string) => {
    left -= text.length;
    if (left < 0) isWhole = false;
    else for (const uri of urisIn(text)) uris.add(uri);
  };
  for (let seen = 0; seen < waiting.length && isWhole && uris.size <= MAX_URIS; seen++) {
    const value = waiting[seen];
    if (typeof value === 'string') add(value);
    if (typeof value !== 'object' || value === null) continue;
    const values: unknown[] = Array.isArray(value) ? value : Object.entries(value).flat();
    if (waiting.length + values.length > MAX_VALUES) isWhole = false;
    else for (const one of values) waiting.push(one);
  }
  const found = [...uris];
  const hasRoom = found.length <= MAX_URIS && found.every((uri) => uri.length <= MAX_URI);
  return {
    uris: found.filter((uri) => uri.length <= MAX_URI).slice(0, MAX_URIS),
    isWhole: isWhole && hasRoom,
  };
}

/** Of special schemes, parsers see an authority without two slashes as well. */
const BARE = /^(?:https?|wss?|ftp|file):/i;
const SCHEME_CHARACTER = /[A-Za-z0-9+.-]/;
/** What ends a URI within a text. */
const END = /[\s"'<>`]/g;

function urisIn(given: string): string[] {
  // As parsers of URLs do.
  const text = given.replace(/[\t\r\n]/g, '').trim();
  const found: string[] = [];
  if (BARE.test(text) && !text.includes('://')) found.push(text.split(END)[0] ?? '');
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    let from = at;
    while (from > 0 && at - from < MAX_SCHEME && SCHEME_CHARACTER.test(text[from - 1] ?? ''))
      from--;
    END.lastIndex = at;
    const end = END.exec(text)?.index ?? text.length;
    if (from < at) found.push(text.slice(from, end));
    if (found.length > MAX_URIS) break;
  }
  // Without a scheme it is relative to one that nobody knows.
  if (/^[\\/]{2}[^\\/]/.test(text)) found.push(`https:${text.replaceAll('\\', '/')}`);
  return found;
}
