/** Filters that match everything, in the languages of databases, search servers and clusters. */
import type { Effort } from '../../glob.ts';
import type { ArgumentName } from './arguments/argument-kinds.ts';
import { matchesAll } from './queries/mongo-command.ts';
import { readSqlReadings } from './queries/sql-tokens.ts';
import { truthOf } from './queries/sql-truth.ts';
import { matchesAllText } from './unbounded-tool.ts';

type Member = Readonly<Record<string, unknown>>;

/** Longer conditions are read as texts. */
const MAX_CONDITION = 4_096;

/** Whether a text in a filter's place matches everything: `*`, `1=1`, `true`. */
export function isFilterOfAll(text: string, name: ArgumentName, effort: Effort): boolean {
  if (matchesAllText(text)) return true;
  if (text.length > MAX_CONDITION) return false;
  for (const tokens of readSqlReadings(text, effort)) {
    // A word is one to look for in a query, and a number may be that of a filter.
    const isOne = tokens.length === 1;
    const isWord = isOne && tokens[0]?.kind === 'word' && name.kind !== 'sql';
    if (isOne && !isWord && name.last !== 'where') continue;
    if (truthOf(tokens, effort) === true) return true;
  }
  // What is not read may match everything.
  return effort.left < 0;
}

/** Whether an object in a filter's place matches everything. */
export const isObjectOfAll = (filter: Member): boolean =>
  matchesAll(filter) || findsAll(filter) || selectsAll(filter);

const isObject = (value: unknown): value is Member =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deeper queries count as conditions. */
const MAX_DEPTH = 16;
/** Fields that every document of a search server has. */
const FIELDS = new Set<unknown>(['_id', '_index', '_seq_no', '_version']);
const ALL_TERMS = new Set<unknown>(['*', '*:*']);

/** A query of a search server: `{bool: {}}`, `{exists: {field: '_id'}}`. */
function findsAll(query: unknown, depth = 0): boolean {
  if (!isObject(query) || depth > MAX_DEPTH) return false;
  const [[kind = '', of] = [], ...others] = Object.entries(query);
  if (others.length > 0 || !isObject(of)) return false;
  switch (kind) {
    case 'match_all':
      return true;
    case 'exists':
      return FIELDS.has(of.field);
    case 'query_string':
    case 'simple_query_string':
      return ALL_TERMS.has(of.query);
    case 'constant_score':
      return findsAll(of.filter, depth + 1);
    case 'bool': {
      const { must, filter, should, must_not: not } = of;
      const areAll = [must, filter].flatMap(listed).every((one) => findsAll(one, depth + 1));
      const isOption = listed(should).length === 0 || hasAny(listed(should), depth);
      return areAll && isOption && listed(not).length === 0;
    }
    default:
      return false;
  }
}

const hasAny = (queries: readonly unknown[], depth: number): boolean =>
  queries.some((one) => findsAll(one, depth + 1));

function listed(clause: unknown): readonly unknown[] {
  if (clause === undefined || clause === null) return [];
  return Array.isArray(clause) ? clause : [clause];
}

/** A selector of a cluster without a label: `{matchLabels: {}}`. */
function selectsAll(selector: Member): boolean {
  const { matchLabels, matchExpressions, ...others } = selector;
  const given = [matchLabels, matchExpressions].filter((one) => one !== undefined);
  const isEmpty = (one: unknown) =>
    typeof one === 'object' && one !== null && Object.keys(one).length === 0;
  return given.length > 0 && given.every(isEmpty) && Object.keys(others).length === 0;
}
