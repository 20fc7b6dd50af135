/**
 * The URIs that a call requests, which determine the source of its answer. Everything that a tool
 * might take for a URI counts: also within a text, in a member's name, and in invalid forms that
 * parsers repair.
 */
import type { Ask } from '../call/calls.ts';
import { bareHosts, unescapedForms } from './further-readings.ts';

/** Limits of the search. Beyond them, `isWhole` is false. */
const MAX_URIS = 100;
const MAX_VALUES = 5_000;
const MAX_URI = 2_048;
const MAX_CHARACTERS = 1024 * 1024;
const MAX_SCHEME = 31;
/** Most places at which a URI may begin. */
const MAX_PLACES = 1_000;
/** Different hosts without a scheme; file names and code look alike. */
const MAX_HOSTS = 300;

export interface RequestedUris {
  readonly uris: readonly string[];
  /** Whether these are all URIs; if not, the call may request others. */
  readonly isWhole: boolean;
  /** What a tool might read besides; a rule that trusts disregards it. */
  readonly further: FurtherUris;
}

/** What the arguments' unescaped forms name, and hosts without a scheme. */
export interface FurtherUris {
  readonly uris: readonly string[];
  readonly hosts: readonly string[];
  readonly isWhole: boolean;
}

export const NOTHING_FURTHER: FurtherUris = { uris: [], hosts: [], isWhole: true };

/** @param ask caller-controlled */
export function requestedUris({ args, retry }: Pick<Ask, 'args' | 'retry'>): RequestedUris {
  const search = new Search();
  const further = new FurtherSearch();
  // A `resources/read` may use a scheme without an authority.
  if (typeof args.uri === 'string') search.add(args.uri);
  const waiting: unknown[] = [args, retry];
  for (let seen = 0; seen < waiting.length && search.isWhole; seen++) {
    const value = waiting[seen];
    if (typeof value === 'string') {
      search.read(value);
      further.read(value);
    }
    if (typeof value !== 'object' || value === null) continue;
    const values: unknown[] = Array.isArray(value) ? value : Object.entries(value).flat();
    if (waiting.length + values.length > MAX_VALUES) search.isWhole = false;
    else for (const one of values) waiting.push(one);
  }
  return { uris: [...search.uris], isWhole: search.isWhole, further: further.found };
}

/** For these schemes, parsers also accept an authority without two slashes. */
const BARE = /^(?:https?|wss?|ftp|file):/i;
const SCHEME_CHARACTER = /[A-Za-z0-9+.-]/;
/** Characters that end a URI within a text. */
const END = /[\s"'<>`]/;

/** Takes linear time: each place costs at most the length of the longest URI. */
class Search {
  readonly uris = new Set<string>();
  isWhole = true;
  #characters = MAX_CHARACTERS;
  #places = MAX_PLACES;

  add(uri: string): void {
    if (uri.length > MAX_URI) this.isWhole = false;
    else if (this.uris.size < MAX_URIS) this.uris.add(uri);
    else if (!this.uris.has(uri)) this.isWhole = false;
  }

  read(given: string): void {
    this.#characters -= given.length;
    if (this.#characters < 0) {
      this.isWhole = false;
      return;
    }
    // Parsers of URLs drop these characters too.
    const text = given.replace(/[\t\r\n]/g, '').trim();
    if (BARE.test(text) && !text.includes('://')) this.add(uriAt(text, 0));
    for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
      if (--this.#places < 0) this.isWhole = false;
      if (!this.isWhole) return;
      let from = at;
      while (at - from < MAX_SCHEME && SCHEME_CHARACTER.test(text[from - 1] ?? '')) from--;
      if (from < at) this.add(uriAt(text, from));
    }
    // A URI without a scheme (`//host`) is relative to an unknown base: https is assumed.
    if (/^[\\/]{2}[^\\/]/.test(text)) this.add(`https:${uriAt(text, 0).replaceAll('\\', '/')}`);
  }
}

class FurtherSearch {
  readonly #unescaped = new Search();
  readonly #hosts = new Set<string>();
  #isWhole = true;

  get found(): FurtherUris {
    const { uris, isWhole } = this.#unescaped;
    return { uris: [...uris], hosts: [...this.#hosts], isWhole: isWhole && this.#isWhole };
  }

  read(text: string): void {
    if (text.length > MAX_CHARACTERS) return;
    const forms = unescapedForms(text);
    for (const form of forms) this.#unescaped.read(form);
    for (const form of [text, ...forms]) this.#readHosts(form);
  }

  #readHosts(text: string): void {
    if (!this.#isWhole) return;
    for (const host of bareHosts(text, MAX_URI)) {
      if (this.#hosts.size >= MAX_HOSTS && !this.#hosts.has(host)) this.#isWhole = false;
      if (!this.#isWhole) return;
      this.#hosts.add(host);
    }
  }
}

/** The URI that begins at an offset, up to its end or just beyond the length limit. */
function uriAt(text: string, from: number): string {
  const piece = text.slice(from, from + MAX_URI + 1);
  const end = piece.search(END);
  return end < 0 ? piece : piece.slice(0, end);
}
