/**
 * All targets of a call: every argument, at any depth, whose name is that of a path, a URI, a
 * table, a recipient or the like, and every text in the form of a path, a URI or an address. The
 * `target:` scopes of roles have to match all of them. In doubt a text counts as a target: one
 * target too many denies a call, one too few would let it through.
 */

import { readTarget, variantsOf } from '@governance/shared/mcp/target-readings';
import { wordsOfName } from '@governance/shared/mcp/words-of-name';
import { TOOL_CALL, targetOf } from './call-kinds.ts';
import type { Ask } from './calls.ts';

/** Limits of all targets of a call together. A call beyond them is covered by no scope. */
const MAX_TARGETS = 1_000;
const MAX_CHARACTERS = 64 * 1024;

const TARGET_WORDS = new Set(
  (
    'path paths file files filename filenames filepath filepaths dir dirs directory directories folder folders root roots cwd location locations ' +
    'destination destinations dest dst target targets source sources src from to parent ' +
    'uri uris url urls link links href endpoint host hosts hostname hostnames domain domains server address addresses ip origin website site ' +
    'table tables collection collections database databases db schema schemas bucket buckets index indices keyspace topic queue stream dataset ' +
    'recipient recipients email emails mail cc bcc user users username usernames member members phone channel channels chat room rooms group groups conversation ' +
    'repository repositories repo repos project projects org organization owner workspace namespace namespaces cluster account accounts ' +
    'name names sql command commands cmd statement statements ' +
    'object objects key keys resource resources document documents doc id ids'
  ).split(' '),
);
/** Endings of words written together: `outpath`, `logfile`, `baseurl`. */
const TARGET_ENDS = [
  'path',
  'paths',
  'file',
  'files',
  'filename',
  'dir',
  'url',
  'urls',
  'uri',
  'uris',
  'folder',
  'email',
  'table',
];
/** Names whose numbers are amounts or positions, and no targets. */
const COUNTED = new Set('from index indices source sources links files lines'.split(' '));
/** Names of members that hold the target, where an ancestor has the name of a target. */
const VALUE_WORDS = new Set('value values val ref item items'.split(' '));
/** Names of texts that are content and never targets. */
const CONTENT_WORDS = new Set(
  'content contents text body message description title comment prompt code html markdown summary note notes data'.split(
    ' ',
  ),
);

/**
 * The readings of all targets of a call (`readTarget`).
 *
 * @returns null where a target cannot be read or there are too many; empty where there is none
 */
export function readingsOfCall(
  ask: Pick<Ask, 'method' | 'name' | 'args' | 'retry'>,
): string[] | null {
  const targets = new Set<string>();
  if (ask.method !== TOOL_CALL) {
    const target = targetOf(ask);
    if (target !== ask.name) targets.add(target);
  }
  const finder = new TargetFinder(targets);
  finder.visit(ask.args);
  if (ask.retry?.inputResponses) finder.visit(ask.retry.inputResponses);
  if (finder.isTooMany) return null;
  const readings = new Set<string>();
  for (const target of targets) {
    const found = readTarget(target);
    if (found === null) return null;
    for (const reading of found) readings.add(reading);
  }
  return [...readings];
}

class TargetFinder {
  isTooMany = false;
  #characters = 0;
  readonly #found: Set<string>;

  constructor(found: Set<string>) {
    this.#found = found;
  }

  /**
   * Adds the targets in a value.
   *
   * @param isNamed whether the name of the value, or of an ancestor, is that of a target
   * @returns whether a target was found in it
   */
  visit(value: object, isNamed = false): boolean {
    let hasFound = false;
    for (const [key, member] of Object.entries(value)) {
      if (this.isTooMany) return true;
      const isOfList = Array.isArray(value);
      // A key may be a target too: `{"files": {"/etc/hosts": …}}`.
      if (!isOfList && isTargetForm(key)) hasFound = this.#add(key);
      const kind = isOfList ? 'unknown' : kindOf(key, isNamed);
      hasFound = this.#member(member, kind, isNamed) || hasFound;
    }
    return hasFound;
  }

  #member(value: unknown, kind: KeyKind, isBelowNamed: boolean): boolean {
    if (typeof value === 'string') {
      if (kind === 'content') return false;
      return kind !== 'unknown' || isTargetForm(value) ? this.#add(value) : false;
    }
    if (typeof value === 'number') return kind === 'number' && this.#add(String(value));
    if (typeof value !== 'object' || value === null) return false;
    const isNamed = kind === 'target' || kind === 'number';
    if (isNamed && Array.isArray(value)) {
      return value.map((one) => this.#member(one, kind, true)).includes(true);
    }
    // Everything below a target's name belongs to it.
    return this.visit(value, isNamed || isBelowNamed) || (isNamed && this.#addTexts(value));
  }

  /** Adds all texts in it, at any depth, except content. */
  #addTexts(value: object): boolean {
    let hasFound = false;
    for (const [key, one] of Object.entries(value)) {
      if (this.isTooMany) return true;
      if (!Array.isArray(value) && kindOf(key) === 'content') continue;
      if (typeof one === 'string') hasFound = this.#add(one);
      else if (typeof one === 'object' && one !== null) hasFound = this.#addTexts(one) || hasFound;
    }
    return hasFound;
  }

  #add(text: string): boolean {
    this.#characters += text.length;
    this.#found.add(text);
    this.isTooMany = this.#found.size > MAX_TARGETS || this.#characters > MAX_CHARACTERS;
    return true;
  }
}

/** What a member's name makes of its value. `number`: a target even where it is a number. */
type KeyKind = 'target' | 'number' | 'content' | 'unknown';

function kindOf(key: string, isOfTarget = false): KeyKind {
  const words = wordsOfName(key.slice(0, 200));
  const isTarget = words.some(
    (word) =>
      TARGET_WORDS.has(word) ||
      (word !== 'profile' && TARGET_ENDS.some((end) => word.endsWith(end))),
  );
  const last = words.at(-1) ?? '';
  // The last word decides: `file_content` is content, `content_path` a path.
  if (CONTENT_WORDS.has(last)) return 'content';
  if (!isTarget) return isOfTarget && VALUE_WORDS.has(last) ? 'number' : 'unknown';
  return COUNTED.has(last) || !TARGET_WORDS.has(last) ? 'target' : 'number';
}

const BEGINNINGS =
  /^(?:[/~\\]|\.{1,2}[/\\]|[a-z]:[\\/]|[a-z][a-z0-9+.-]{0,40}:\/\/|file:|mailto:|(?:https?|wss?|ftp):\S)/i;
/** Servers may take a text without its quotes. */
const QUOTES = /^[\s"'`]+/;

/** Whether a text has the form of a path, a URI or an address, also where a server decodes it. */
function isTargetForm(text: string): boolean {
  const variants = variantsOf(text);
  return variants === null || [...variants].some(hasTargetForm);
}

function hasTargetForm(text: string): boolean {
  if (BEGINNINGS.test(text.replace(QUOTES, ''))) return true;
  if (/[\\/]\.\.(?:[\\/]|$)/.test(text)) return true;
  const at = text.indexOf('@');
  return at > 0 && at < text.length - 1 && !/\s/.test(text);
}
