/** Tools that change many things at once, without an argument that says which. */
import { readArgumentName } from './argument-kinds.ts';
import type { ReachCall } from './reach-finding.ts';
import { wordSet } from './word-set.ts';

/** Arguments that say how many things a call may change. */
export const COUNTS = wordSet('limit count max size quantity total num');
/** Arguments that say which things a call changes. */
export const FILTERS = wordSet('filter where criteria selector match conditions condition');
/** Arguments that say where the things are, and what becomes of them. */
const STORES = wordSet(
  'collection database db table index indexname schema namespace keyspace bucket container dataset project update updates set data changes values options hint comment folder mailbox inbox',
);
const MANY = wordSet('many all');
/** What holds everything that was deleted before. */
const BINS = wordSet('trash bin recyclebin');

/**
 * Whether nothing bounds a call such as `delete-many`: it names a store at most.
 *
 * @param words of the tool's name
 */
export function selectsNothing({ action, args }: ReachCall, words: readonly string[]): boolean {
  if (words[0] === 'empty' && words.some((word) => BINS.has(word))) return true;
  const isChange = action === 'delete' || (action === 'write' && words.includes('update'));
  if (!isChange || !words.some((word) => MANY.has(word))) return false;
  return Object.entries(args).every(([key, value]) => {
    const name = readArgumentName(key);
    if (typeof value === 'number') return !name.words.some((word) => COUNTS.has(word));
    return typeof value === 'boolean' || isNothing(value) || STORES.has(name.last);
  });
}

const isNothing = (value: unknown): boolean => value === null || value === '';
