/** Statements that change or remove all rows of a table, or the table. */
import { readSqlTokens, SQL_DIALECTS, type SqlToken } from './sql-tokens.ts';
import { truthOf } from './sql-truth.ts';

export interface SqlReach {
  readonly verdict: 'deny' | 'escalate';
  readonly message: string;
}

/** A longer one is not read. */
export const MAX_SQL_LENGTH = 64 * 1024;

const VERBS = new Set(['DELETE', 'UPDATE', 'MERGE', 'TRUNCATE', 'DROP', 'FLUSHALL', 'FLUSHDB']);
const CHANGES = /delete|update|truncate|drop|flush(?:all|db)/i;
/** How SQL begins; other text is not SQL, unless it stands where SQL is expected. */
const BEGINS =
  /^[\s(;]*(?:--|#|\/\*|(?:select|insert|update|delete|with|truncate|drop|alter|explain|begin|do|create|set|merge|replace)\b)/i;
/** Syntax that databases interpret differently. */
const AMBIGUOUS = /--|[#\\$"]|\/\*/;

/** The remaining work for one call, in tokens and characters. */
export interface SqlEffort {
  left: number;
}

/** Enough for 64 KiB of statements that are not nested. */
export const SQL_EFFORT = 1_000_000;

/**
 * Which SQL is unbounded.
 *
 * @param isSql whether the argument is for SQL; otherwise it may be a sentence
 * @param maxRows rows that a LIMIT may let a statement change
 * @param effort is used up; once exhausted, the text counts as unbounded
 * @returns the gravest finding; undefined if each statement is bounded, or it is not SQL
 */
export function findSqlReach(
  sql: string,
  isSql: boolean,
  maxRows: number,
  effort: SqlEffort,
): SqlReach | undefined {
  if (!CHANGES.test(sql) || (!isSql && !BEGINS.test(sql))) return undefined;
  if (sql.length > MAX_SQL_LENGTH) return TOO_LONG;
  const dialects = AMBIGUOUS.test(sql) ? SQL_DIALECTS : SQL_DIALECTS.slice(0, 1);
  let found: SqlReach | undefined;
  for (const dialect of dialects) {
    effort.left -= sql.length;
    if (effort.left < 0) return TOO_LONG;
    const tokens = readSqlTokens(sql, dialect);
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] as SqlToken;
      if (token.kind !== 'word' || !VERBS.has(token.text)) continue;
      const reach = judgeAt(tokens, at, { isSql, maxRows, effort });
      if (reach?.verdict === 'deny') return reach;
      found ??= reach;
      // Each is read to its end, and they may be nested.
      if (effort.left < 0) return TOO_LONG;
    }
  }
  return found;
}

const TOO_LONG: SqlReach = {
  verdict: 'escalate',
  message: 'the call has SQL that is too long to be read',
};

interface Reading {
  isSql: boolean;
  maxRows: number;
  effort: SqlEffort;
}

/** Words after which a verb is not a statement: in a trigger, a grant, a key, an upsert, a lock. */
const NOT_BEFORE = new Set(
  'ON FOR KEY DO OR OF BEFORE AFTER INSTEAD GRANT REVOKE NO SKIP NOT IF'.split(' '),
);
/** Words after which a statement may begin, other than at the start. */
const BEFORE = new Set(
  'EXPLAIN ANALYZE VERBOSE QUERY PLAN BEGIN THEN ELSE LOOP AS PREPARE EXECUTE IMMEDIATE'.split(' '),
);

function isStart(tokens: readonly SqlToken[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined) return true;
  if (before.kind === 'sign') return ';()$'.includes(before.text);
  return before.kind === 'word' && BEFORE.has(before.text) && !NOT_BEFORE.has(before.text);
}

function judgeAt(tokens: readonly SqlToken[], at: number, reading: Reading): SqlReach | undefined {
  const { isSql } = reading;
  switch ((tokens[at] as SqlToken).text) {
    case 'DELETE':
      return isStart(tokens, at) ? judgeRows(tokens, at, 'DELETE', reading) : undefined;
    case 'UPDATE':
      return isStart(tokens, at) ? judgeRows(tokens, at, 'UPDATE', reading) : undefined;
    case 'MERGE':
      return isStart(tokens, at) ? judgeMerge(tokens, at, reading.effort) : undefined;
    case 'TRUNCATE': {
      const next = tokens[at + 1];
      const isTable =
        next?.kind === 'name' || (next?.kind === 'word' && (isSql || next.text === 'TABLE'));
      return isStart(tokens, at) && isTable
        ? { verdict: 'escalate', message: 'the call empties a table (TRUNCATE)' }
        : undefined;
    }
    case 'DROP':
      return judgeDrop(tokens, at);
    case 'FLUSHALL':
    case 'FLUSHDB':
      return isStart(tokens, at) && isSql
        ? { verdict: 'deny', message: `the call removes a whole database (FLUSH)` }
        : undefined;
    default:
      return undefined;
  }
}

function judgeDrop(tokens: readonly SqlToken[], at: number): SqlReach | undefined {
  const next = tokens[at + 1];
  const what = next?.kind === 'word' ? next.text : '';
  const named = tokens[at + 2];
  if (named === undefined || named.kind === 'sign' || named.kind === 'number') return undefined;
  if (['DATABASE', 'SCHEMA', 'KEYSPACE', 'TABLESPACE'].includes(what) && isStart(tokens, at)) {
    return { verdict: 'deny', message: `the call removes a whole database (DROP ${what})` };
  }
  if (what === 'TABLE' && isStart(tokens, at)) {
    return { verdict: 'escalate', message: 'the call removes a table (DROP TABLE)' };
  }
  if (what === 'COLUMN' || what === 'PARTITION') {
    return { verdict: 'escalate', message: `the call removes a part of a table (DROP ${what})` };
  }
  return undefined;
}

const MODIFIERS = new Set('LOW_PRIORITY QUICK IGNORE ONLY CONCURRENTLY'.split(' '));

/** A DELETE or an UPDATE, which must be bounded by a WHERE. */
function judgeRows(
  tokens: readonly SqlToken[],
  at: number,
  verb: 'DELETE' | 'UPDATE',
  { isSql, maxRows, effort }: Reading,
): SqlReach | undefined {
  let next = at + 1;
  while (tokens[next]?.kind === 'word' && MODIFIERS.has((tokens[next] as SqlToken).text)) next++;
  const first = tokens[next];
  if (first === undefined || (first.kind !== 'word' && first.kind !== 'name')) return undefined;
  const part = statementFrom(tokens, next, effort);
  const isWord = (text: string) => part.some((one) => one.kind === 'word' && one.text === text);
  if (verb === 'UPDATE' && !isWord('SET')) return undefined;
  // Part of a MERGE, which must be bounded by its ON.
  if (first.text === 'SET' && first.kind === 'word') return undefined;
  // Without FROM it is SQL in few databases, and a plain sentence everywhere.
  if (verb === 'DELETE' && !isWord('FROM') && !(isSql && (part.length <= 2 || isWord('WHERE')))) {
    return undefined;
  }
  const where = part.findIndex((one) => one.kind === 'word' && one.text === 'WHERE');
  const limit = part.findIndex((one) => one.kind === 'word' && one.text === 'LIMIT');
  if (limit >= 0 && Number(part[limit + 1]?.text) <= maxRows) return undefined;
  if (where < 0) return { verdict: 'escalate', message: `the call has a ${verb} without a WHERE` };
  const end = part.findIndex(
    (one, index) => index > where && one.kind === 'word' && ENDS.has(one.text),
  );
  const condition = part.slice(where + 1, end < 0 ? undefined : end);
  if (truthOf(condition, effort) !== true) return undefined;
  return { verdict: 'escalate', message: `the call has a ${verb} whose WHERE is always true` };
}

/** A MERGE that deletes or updates, which must be bounded by its ON. */
function judgeMerge(
  tokens: readonly SqlToken[],
  at: number,
  effort: SqlEffort,
): SqlReach | undefined {
  const end = tokens.findIndex((one, index) => index > at && one.text === ';');
  const part = tokens.slice(at + 1, end < 0 ? undefined : end);
  effort.left -= part.length;
  const find = (text: string, from: number) =>
    part.findIndex((one, index) => index >= from && one.kind === 'word' && one.text === text);
  const on = find('ON', 0);
  const when = find('WHEN', on + 1);
  if (find('USING', 0) < 0 || on < 0 || when < 0) return undefined;
  const isChange = find('DELETE', when) >= 0 || find('UPDATE', when) >= 0;
  if (!isChange) return undefined;
  const message = 'the call has a MERGE that changes all rows';
  // Rows that the source lacks: all of them, if it is empty.
  if (find('SOURCE', when) > 0 && find('DELETE', when) >= 0)
    return { verdict: 'escalate', message };
  if (truthOf(part.slice(on + 1, when), effort) !== true) return undefined;
  return { verdict: 'escalate', message };
}

const ENDS = new Set(['RETURNING', 'ORDER', 'LIMIT', 'OPTION']);

/** The tokens of one statement at its own level: without inner queries, with conditions. */
function statementFrom(tokens: readonly SqlToken[], from: number, effort: SqlEffort): SqlToken[] {
  const part: SqlToken[] = [];
  let depth = 0;
  let isCondition = false;
  for (let at = from; at < tokens.length && effort.left-- > 0; at++) {
    const token = tokens[at] as SqlToken;
    if (token.kind === 'sign') {
      if (token.text === ';' && depth === 0) break;
      if (token.text === ')' && --depth < 0) break;
      if (token.text === '(') depth++;
    }
    if (depth === 0 && token.kind === 'word' && token.text === 'WHERE') isCondition = true;
    if (depth === 0 || isCondition) part.push(token);
  }
  return part;
}
