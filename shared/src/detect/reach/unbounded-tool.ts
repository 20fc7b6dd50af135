/** Tools that change many things at once, without an argument that says which. */
import { type ArgumentName, readArgumentName } from './arguments/argument-kinds.ts';
import { isDeletion } from './deleted-store.ts';
import type { ReachCall } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

/** Arguments that say how many things a call may change. */
const COUNTS = wordSet('limit count max size quantity total num');
/** Words of ages and sizes: `max_age_hours`. */
const MEASURES = wordSet(
  'age ms seconds second minutes minute hours hour days day weeks week months month years year bytes kb mb gb timeout',
);

export const isCount = (words: readonly string[]): boolean =>
  words.some((word) => COUNTS.has(word)) && !words.some((word) => MEASURES.has(word));
/** Arguments that say which things a call changes. */
export const FILTERS = wordSet('filter where criteria selector match conditions condition');
/** Arguments that say where the things are, and what becomes of them. */
const STORES = wordSet(
  'collection database db table index indexname uid schema namespace keyspace bucket container dataset project update updates set data changes values options hint comment folder mailbox inbox',
);
const MANY = wordSet('many all');
/** Filters in a query language that match everything. */
const ALL_TEXTS = new Set(['', '{}', '*', '*:*', 'in:anywhere', 'in:all']);
export const matchesAllText = (text: string): boolean => ALL_TEXTS.has(text.trim().toLowerCase());

/** Arguments that say how the names of things begin, or what they look like. */
const PREFIXES = wordSet('prefix pattern regex glob');
const ALL_PREFIXES = new Set(['', '/', '*', '**', '.*', '^.*$', '%']);
const NAMES = wordSet('id ids vmid name names target targets scope items selection which');

/** Whether an argument of a delete says that it deletes all: `prefix: ''`, `vmid: 'all'`. */
export function isAllOf(text: string, { last }: ArgumentName): boolean {
  const value = text.trim().toLowerCase();
  return PREFIXES.has(last) ? ALL_PREFIXES.has(value) : value === 'all' && NAMES.has(last);
}

/** What holds everything that was deleted before. */
const BINS = wordSet('trash bin recyclebin');

/** Words of what holds the things that a tool deletes all of: `remove_all_members` of a team. */
const HOLDERS = wordSet(
  'team group org organization workspace tenant channel chat room list board project repo repository owner document page calendar guild server site user account job pipeline id uid slug',
);
/** What is made again by itself, and no data. */
const PASSING = wordSet(
  'breakpoints tabs windows pages timeouts jobs cookies filters highlights watches watchpoints caches cache listeners mocks formatting markers overlays selections timers',
);
/** Verbs after which things are gone for whoever uses them. */
const ENDS = wordSet(
  'archive deactivate disable suspend revoke unpublish unsubscribe cancel ban void',
);
/** Those of them that say so of others' things even where no argument says whose. */
const ENDS_OF_ALL = wordSet('archive deactivate suspend unpublish ban');
/** Whose things one person may well end. */
const PERSONS = wordSet('user account customer member contact owner');
/** Verbs that leave what they name empty, and the only words of what is named then. */
const EMPTIES = wordSet('clear empty truncate');
const EMPTIED = wordSet('collection table index indexname queue topic bucket');

/** Arguments with these words select, whatever else they say. */
const SELECTS = wordSet('from sender before after older since until status label tag prefix');

/** Whether a tool deletes all things of what one of its arguments names. */
function deletesAllOf(words: readonly string[], names: readonly ArgumentName[]): boolean {
  const at = words.indexOf('all');
  const verb = words[at - 1] ?? '';
  const isEnd =
    ENDS.has(verb) && !names.some(({ words: own }) => own.some((one) => PERSONS.has(one)));
  if (at < 1 || !(isDeletion(verb) || isEnd) || PASSING.has(words.at(-1) ?? '')) {
    return false;
  }
  if (names.length === 0) return ENDS_OF_ALL.has(verb);
  const thing = words.at(-1) ?? '';
  return names.every(
    ({ words: own, last }) =>
      HOLDERS.has(last) && !own.some((word) => SELECTS.has(word) || thing.startsWith(word)),
  );
}

/**
 * Whether nothing bounds a call such as `delete-many`: it names a store at most.
 *
 * @param words of the tool's name
 */
export function selectsNothing({ action, args }: ReachCall, words: readonly string[]): boolean {
  if (words[0] === 'empty' && words.some((word) => BINS.has(word))) return true;
  const named = Object.keys(args).filter((key) => typeof args[key] === 'string');
  const names = named.map(readArgumentName);
  const isOfOne = Object.values(args).every((one) => !['object', 'number'].includes(typeof one));
  if (isOfOne && deletesAllOf(words, names)) return true;
  const isEmptied = EMPTIES.has(words[0] ?? '') && !PASSING.has(words.at(-1) ?? '');
  if (
    isEmptied &&
    isOfOne &&
    named.length > 0 &&
    names.every(({ words: own }) => own.some((one) => EMPTIED.has(one)))
  ) {
    return true;
  }
  const isChange = action === 'delete' || (action === 'write' && words.includes('update'));
  if (!isChange || !words.some((word) => MANY.has(word))) return false;
  return Object.entries(args).every(([key, value]) => {
    const name = readArgumentName(key);
    if (typeof value === 'number') return !isCount(name.words);
    return typeof value === 'boolean' || isNothing(value) || STORES.has(name.last);
  });
}

const isNothing = (value: unknown): boolean => value === null || value === '';
