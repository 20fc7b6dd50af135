/** How many things SQL changes, where it lists them: rows of VALUES, and values of an IN (…). */
import type { Effort } from '../../../glob.ts';
import { wordSet } from '../word-set.ts';
import type { SqlToken } from './sql-token.ts';
import { readSqlReadings } from './sql-tokens.ts';

const MAY = /\b(?:insert|replace|merge|update|delete)\b/i;
const CHANGES = wordSet('INSERT MERGE UPDATE DELETE');
/** Those that change what an IN (…) lists. */
const SELECTS = wordSet('UPDATE DELETE');
/** Words that may stand between the rows of VALUES. */
const OF_ROWS = wordSet('ROW DEFAULT');
const OF_VALUES = wordSet('VALUES VALUE');
const OF_QUERY = wordSet('SELECT WITH VALUES');

/**
 * @param threshold fewer signs between things are not looked at
 * @param effort is used up by what is read
 */
export function countSqlThings(sql: string, threshold: number, effort: Effort): number {
  if (!MAY.test(sql) || !hasMoreSigns(sql, threshold)) return 0;
  let most = 0;
  for (const tokens of readSqlReadings(sql, effort)) most = Math.max(most, countOf(tokens));
  return most;
}

/** What stands between things: in lists commas, otherwise the ends or the beginnings of statements. */
function hasMoreSigns(sql: string, threshold: number): boolean {
  let left = threshold;
  for (const _ of sql.matchAll(/[,;]|\b(?:into|or)\b/gi)) if (--left <= 0) return true;
  return left <= 0;
}

function countOf(tokens: readonly SqlToken[]): number {
  let count = 0;
  let statements = 0;
  let depth = 0;
  let changes = false;
  let selects = false;
  /** Of EXPLAIN, which changes nothing unless it analyzes. */
  let isPlan = false;
  /** How deep the rows stand, and the values of a list; -1 outside of them. */
  let rowsAt = -1;
  let listAt = -1;
  for (const [at, { kind, text }] of tokens.entries()) {
    if (kind === 'word') {
      const isFirst = at === 0 || tokens[at - 1]?.text === ';';
      isPlan = isFirst ? text === 'EXPLAIN' : isPlan && !text.startsWith('ANALY');
      const isReplace = text === 'REPLACE' && tokens[at + 1]?.text === 'INTO';
      changes ||= !isPlan && (CHANGES.has(text) || isReplace);
      selects ||= !isPlan && SELECTS.has(text);
      // Of an upsert it is a function: `SET a = VALUES(a)`.
      // One row each, unless the statement lists what it changes.
      if (isFirst && SELECTS.has(text) && !isPlan) statements++;
      if (selects && text === 'OR') count++;
      if (OF_VALUES.has(text) && tokens[at - 1]?.text !== '=') rowsAt = depth;
      else if (depth === rowsAt && !OF_ROWS.has(text)) rowsAt = -1;
    } else if (kind === 'name' && isWord(tokens[at - 1], 'ARRAY')) {
      // PostgreSQL's `ANY (ARRAY[…])`.
      if (selects) count += text.split(',').length;
    }
    if (kind !== 'sign') continue;
    if (text === '(') {
      if (depth === rowsAt && changes) count++;
      const isList = selects && listAt < 0 && isWord(tokens[at - 1], 'IN');
      depth++;
      if (isList && !OF_QUERY.has(tokens[at + 1]?.text ?? '')) {
        listAt = depth;
        count++;
      }
    } else if (text === ')') {
      depth--;
      if (depth < listAt) listAt = -1;
      if (depth < rowsAt) rowsAt = -1;
    } else if (text === ',') {
      if (depth === listAt) count++;
    } else if (text === ';') {
      depth = 0;
      rowsAt = listAt = -1;
      changes = selects = false;
    }
  }
  return count + statements;
}

const isWord = (token: SqlToken | undefined, text: string): boolean =>
  token?.kind === 'word' && token.text === text;
