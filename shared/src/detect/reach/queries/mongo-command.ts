/** MongoDB's commands and filters where they are values, and no text of its shell. */

import { denies, escalates, type WholeReach } from '../reach-finding.ts';
import { EVERYTHING } from './mongo-reach.ts';

type Member = Readonly<Record<string, unknown>>;

/** Operations of a bulk write, of any number of documents. */
const MANY = ['deleteMany', 'updateMany', 'delete_many', 'update_many'];
/** An object without one of these is none of them. */
const KEYS = new Set(['deletes', 'updates', 'dropDatabase', 'drop', '$out', '$merge', ...MANY]);

/**
 * What a command, an operation of a bulk write or a stage of a pipeline does as a whole.
 *
 * @param isCommand whether a command may stand here; otherwise `drop` may mean anything
 */
export function findMongoCommand(record: Member, isCommand: boolean): WholeReach | undefined {
  if (!Object.keys(record).some((key) => KEYS.has(key))) return undefined;
  const { deletes, updates, dropDatabase, drop, $out, $merge } = record;
  if (isCommand && isSet(dropDatabase)) {
    return denies('delete_whole', 'the call removes a whole database (dropDatabase)');
  }
  if (isCommand && isName(drop)) {
    return escalates('delete_whole', 'the call removes a collection');
  }
  if (isName($out) || isObject($out)) {
    return escalates('delete_whole', 'the call replaces a collection');
  }
  if (isName($merge) || isObject($merge)) {
    return escalates('delete_whole', 'the call writes what it finds into a collection');
  }
  const isUnbounded =
    (Array.isArray(deletes) && deletes.some((one) => isOfAll(one) && one.limit !== 1)) ||
    (Array.isArray(updates) && updates.some((one) => isOfAll(one) && one.multi === true)) ||
    MANY.some((key) => isOfAll(record[key]));
  return isUnbounded ? EVERYTHING : undefined;
}

const isObject = (value: unknown): value is Member =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false;

const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';

interface Change {
  readonly q?: unknown;
  readonly filter?: unknown;
  /** 1 for a single document. */
  readonly limit?: unknown;
  readonly multi?: unknown;
}

function isOfAll(one: unknown): one is Change {
  if (!isObject(one)) return false;
  const { q, filter = q } = one as Change;
  return isObject(filter) && matchesAll(filter);
}

/** Deeper filters count as those that match everything. */
const MAX_DEPTH = 16;

/** Whether a filter matches every document. */
export function matchesAll(filter: Member, depth = 0): boolean {
  if (depth > MAX_DEPTH) return true;
  const isAll = (one: unknown) => isObject(one) && matchesAll(one, depth + 1);
  return Object.keys(filter).every((key) => {
    const value = filter[key];
    switch (key) {
      case '$or':
        return Array.isArray(value) && value.some(isAll);
      case '$and':
        return Array.isArray(value) && value.every(isAll);
      case '$nor':
        return Array.isArray(value) && value.length === 0;
      case '$comment':
        return true;
      case '$expr':
      case '$alwaysTrue':
        return value === true || value === 1;
      case '$jsonSchema':
        return isObject(value) && Object.keys(value).length === 0;
      default:
        return isObject(value) && isOfEveryValue(value, key === '_id');
    }
  });
}

/** Whether a condition holds for every value; every document has an `_id`, which is not null. */
function isOfEveryValue(condition: Member, isId: boolean): boolean {
  const keys = Object.keys(condition);
  return (
    keys.length > 0 &&
    keys.every((key) => {
      const value = condition[key];
      if (key === '$nin') return Array.isArray(value) && value.length === 0;
      if (!isId) return false;
      return key === '$exists' ? value === true || value === 1 : key === '$ne' && value === null;
    })
  );
}
