/**
 * Queries within a condition that give all rows of the table that the statement changes:
 * `DELETE FROM t WHERE id IN (SELECT id FROM t)`. Their table is left out, so that what is left is
 * compared with itself.
 */
import type { Effort } from '../../../glob.ts';
import { wordSet } from '../word-set.ts';
import type { SqlToken } from './sql-token.ts';
import { columnsOf, splitAt, truthOf } from './sql-truth.ts';

interface TableName {
  readonly name: string;
  readonly alias: string | undefined;
  /** Where what follows it begins. */
  readonly next: number;
}

const isWord = (token: SqlToken | undefined, text: string): boolean =>
  token?.kind === 'word' && token.text === text;
const isSign = (token: SqlToken | undefined, text: string): boolean =>
  token?.kind === 'sign' && token.text === text;
const isName = (token: SqlToken | undefined): token is SqlToken =>
  token?.kind === 'word' || token?.kind === 'name';

/** Clauses behind a table, and those of them that may leave rows out. */
const CLAUSES = wordSet('WHERE GROUP ORDER LIMIT SET');
const BOUNDS = wordSet('HAVING OFFSET FETCH FOR UNION EXCEPT INTERSECT MINUS WINDOW QUALIFY');

/** The name of a table, without that of its schema, and its alias. */
function tableAt(tokens: readonly SqlToken[], from: number): TableName | undefined {
  let at = isWord(tokens[from], 'ONLY') ? from + 1 : from;
  let last = tokens[at];
  if (!isName(last)) return undefined;
  // A dot belongs to the word beside it.
  for (let next = tokens[++at]; isName(next); next = tokens[++at]) {
    if (!last.text.endsWith('.') && !next.text.startsWith('.')) break;
    last = next;
  }
  const name = last.text.toUpperCase().split('.').at(-1) ?? '';
  if (isWord(tokens[at], 'AS')) at++;
  const alias = tokens[at];
  const hasAlias = isName(alias) && !(alias.kind === 'word' && CLAUSES.has(alias.text));
  return {
    name,
    alias: hasAlias ? alias.text.toUpperCase() : undefined,
    next: hasAlias ? at + 1 : at,
  };
}

/**
 * The one table that a DELETE or an UPDATE changes.
 *
 * @param tokens before its WHERE
 * @returns undefined where it joins another one
 */
export function changedTable(
  tokens: readonly SqlToken[],
  verb: 'DELETE' | 'UPDATE',
): string | undefined {
  const from = tokens.findIndex((one) => isWord(one, 'FROM'));
  const table = tableAt(tokens, from + 1);
  if (table === undefined) return undefined;
  if (verb === 'UPDATE' && from < 0) {
    return isWord(tokens[table.next], 'SET') ? table.name : undefined;
  }
  if (table.next < tokens.length) return undefined;
  const named = verb === 'UPDATE' ? tableAt(tokens, 0)?.name : table.name;
  return named === table.name || named === table.alias ? table.name : undefined;
}

/**
 * The condition without the tables of queries that give all rows of one.
 *
 * @param maxRows rows that a LIMIT may leave
 */
export function withoutQueriesOf(
  table: string,
  condition: readonly SqlToken[],
  maxRows: number,
  effort: Effort,
): readonly SqlToken[] {
  if (!condition.some((one) => isWord(one, 'SELECT'))) return condition;
  const frames: SqlToken[][] = [[]];
  for (const token of condition) {
    if (isSign(token, '(')) frames.push([]);
    else if (isSign(token, ')')) {
      const inner = frames.pop() as SqlToken[];
      const outer = frames.at(-1);
      // Each level copies what is within it.
      effort.left -= inner.length;
      if (outer === undefined || effort.left < 0) return condition;
      const before = outer.at(-1);
      const limit = isWord(before, 'EXISTS') ? 0 : maxRows;
      const list = selectedOfAll(inner, table, limit, effort);
      if (list && isWord(before, 'FROM') && isPlain(list)) {
        outer.push({ kind: 'name', text: table });
        continue;
      }
      outer.push(OPEN);
      for (const one of list && !isWord(before, 'FROM') ? list : inner) outer.push(one);
      outer.push(token);
    } else frames.at(-1)?.push(token);
  }
  return frames.length === 1 ? (frames[0] as SqlToken[]) : condition;
}

const OPEN: SqlToken = { kind: 'sign', text: '(' };

/** `SELECT` and what it selects, where a query gives something of every row of the table. */
function selectedOfAll(
  query: readonly SqlToken[],
  table: string,
  maxRows: number,
  effort: Effort,
): readonly SqlToken[] | undefined {
  if (!isWord(query[0], 'SELECT')) return undefined;
  effort.left -= 4 * query.length;
  const [list = [], rest = [], ...more] = splitAt(query, ['FROM']);
  const named = tableAt(rest, 0);
  if (named?.name !== table || more.length > 0) return undefined;
  const clauses = clausesOf(rest.slice(named.next));
  if (clauses === undefined) return undefined;
  for (const [clause = OPEN, ...tokens] of clauses) {
    if (isWord(clause, 'WHERE') && truthOf(tokens, effort) !== true) return undefined;
    if (isWord(clause, 'LIMIT') && isBound(tokens, maxRows)) return undefined;
    // One row of each group is all of them where the groups are what is selected.
    if (isWord(clause, 'GROUP') && columnsOf(tokens.slice(1)) !== columnsOf(selected(list))) {
      return undefined;
    }
  }
  return list;
}

/** @returns undefined where something else follows, which may leave rows out */
function clausesOf(tokens: readonly SqlToken[]): SqlToken[][] | undefined {
  const clauses: SqlToken[][] = [];
  let depth = 0;
  for (const token of tokens) {
    if (isSign(token, '(')) depth++;
    if (isSign(token, ')')) depth--;
    const isOuter = depth === 0 && token.kind === 'word';
    if (isOuter && BOUNDS.has(token.text)) return undefined;
    if (isOuter && CLAUSES.has(token.text)) clauses.push([token]);
    else if (clauses.length === 0) return undefined;
    else clauses.at(-1)?.push(token);
  }
  return clauses;
}

/** Whether a LIMIT leaves few rows, or as many as a parameter says. */
function isBound(tokens: readonly SqlToken[], maxRows: number): boolean {
  const [limit, ...more] = tokens;
  if (isWord(limit, 'ALL') || isWord(limit, 'NULL')) return false;
  return more.length > 0 || limit?.kind !== 'number' || Number(limit.text) <= maxRows;
}

function selected(list: readonly SqlToken[]): readonly SqlToken[] {
  const isAll = isWord(list[1], 'DISTINCT') || isWord(list[1], 'ALL');
  return list.slice(isAll ? 2 : 1);
}

/** Whether the columns are those of the table, by their own names. */
function isPlain(list: readonly SqlToken[]): boolean {
  const columns = selected(list);
  return (columns.length === 1 && isSign(columns[0], '*')) || columnsOf(columns) !== undefined;
}
