/** Statements that change or remove all rows of a table, or the table. */
import type { Effort } from '../../../glob.ts';
import type { ReachFinding } from '../reach-finding.ts';
import { wordSet } from '../word-set.ts';
import { mayJoin } from './sql-executed.ts';
import { changedTable, withoutQueriesOf } from './sql-same-table.ts';
import type { SqlToken } from './sql-token.ts';
import { readSqlReadings } from './sql-tokens.ts';
import { truthOf } from './sql-truth.ts';

type SqlReach = Pick<ReachFinding, 'verdict' | 'message'>;

/** A longer one is not read. */
export const MAX_SQL_LENGTH = 64 * 1024;

const VERBS = wordSet('DELETE UPDATE MERGE TRUNCATE DROP CREATE FLUSHALL FLUSHDB');
const CHANGES = /delete|update|truncate|drop|replace|flush(?:all|db)/i;
/** How SQL begins; other text is not SQL, unless it stands where SQL is expected. */
const BEGINS =
  /^[\s(;]*(?:--|#|\/\*|(?:select|insert|update|delete|with|truncate|drop|alter|explain|begin|do|create|set|merge|replace)\b)/i;
/** The work for one call, in tokens and characters: enough for 64 KiB without nested statements. */
export const SQL_EFFORT = 1_000_000;

/** Whether a text begins as SQL does. */
export const mayBeSql = (text: string): boolean => BEGINS.test(text);

/** How a text is read. */
interface Reading {
  /** Whether the argument is for SQL; otherwise it may be a sentence. */
  isSql: boolean;
  /** Rows that a LIMIT may let a statement change. */
  maxRows: number;
  /** Is used up; once exhausted, the text counts as unbounded. */
  effort: Effort;
}

/**
 * Which SQL is unbounded.
 *
 * @returns the gravest finding; undefined if each statement is bounded, or it is not SQL
 */
export function findSqlReach(sql: string, reading: Reading): SqlReach | undefined {
  const { isSql, effort } = reading;
  if (!CHANGES.test(sql) && !mayJoin(sql)) return undefined;
  if (!isSql && !mayBeSql(sql)) return undefined;
  if (sql.length > MAX_SQL_LENGTH) return TOO_LONG;
  let found: SqlReach | undefined;
  for (const tokens of readSqlReadings(sql, effort)) {
    let isOfTable = false;
    let isPlan = false;
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] as SqlToken;
      isOfTable = isAlterTable(tokens, at) || (isOfTable && token.text !== ';');
      const isPlanned = isPlan;
      isPlan = isPlanAt(tokens, at, isPlan);
      if (token.kind !== 'word' || !VERBS.has(token.text) || isPlanned) continue;
      const reach =
        isOfTable && isDropOfColumn(tokens, at) ? DROPS_A_COLUMN : judgeAt(tokens, at, reading);
      if (reach?.verdict === 'deny') return reach;
      found ??= reach;
      // Each is read to its end, and they may be nested.
      if (effort.left < 0) return TOO_LONG;
    }
  }
  return effort.left < 0 ? TOO_LONG : found;
}

export const FLUSHES: SqlReach = {
  verdict: 'deny',
  message: 'the call removes a whole database (FLUSH)',
};

const TOO_LONG: SqlReach = {
  verdict: 'escalate',
  message: 'the call has SQL that is too long to be read',
};

/**
 * Words after which a statement may begin, other than at the start. After others a verb is part of
 * a trigger, a grant, a key, an upsert or a lock.
 */
const BEFORE = wordSet(
  'EXPLAIN ANALYZE ANALYSE VERBOSE QUERY PLAN BEGIN THEN ELSE LOOP AS PREPARE EXECUTE IMMEDIATE',
);

function isStart(tokens: readonly SqlToken[], at: number): boolean {
  const before = tokens[at - 1];
  if (before === undefined) return true;
  if (before.kind === 'sign') return ';()$'.includes(before.text);
  return before.kind === 'word' && BEFORE.has(before.text);
}

/** Words and signs that may follow EXPLAIN; with ANALYZE it runs the statement. */
const OF_PLAN = wordSet(
  'VERBOSE QUERY PLAN FOR COSTS BUFFERS SETTINGS GENERIC_PLAN TIMING SUMMARY MEMORY WAL FORMAT TEXT XML JSON YAML TREE TRADITIONAL ON OFF TRUE FALSE ( ) , =',
);

/** Whether only the plan is asked for of the statement that may follow a token. */
function isPlanAt(tokens: readonly SqlToken[], at: number, isBefore: boolean): boolean {
  const { kind, text } = tokens[at] as SqlToken;
  const before = tokens[at - 1];
  if (text === 'EXPLAIN') return kind === 'word' && (before === undefined || before.text === ';');
  return isBefore && kind !== 'text' && OF_PLAN.has(text);
}

const isWord = (token: SqlToken, text: string): boolean =>
  token.kind === 'word' && token.text === text;

function judgeAt(tokens: readonly SqlToken[], at: number, reading: Reading): SqlReach | undefined {
  const { isSql, effort } = reading;
  const { text } = tokens[at] as SqlToken;
  if (text === 'DROP') return judgeDrop(tokens, at);
  if (!isStart(tokens, at)) return undefined;
  switch (text) {
    case 'DELETE':
    case 'UPDATE':
      return judgeRows(tokens, at, text, reading);
    case 'CREATE':
      return judgeCreate(tokens, at);
    case 'MERGE':
      return judgeMerge(tokens, at, effort);
    case 'TRUNCATE': {
      const next = tokens[at + 1];
      const isTable =
        next?.kind === 'name' || (next?.kind === 'word' && (isSql || next.text === 'TABLE'));
      if (!isTable) return undefined;
      return { verdict: 'escalate', message: 'the call empties a table (TRUNCATE)' };
    }
    case 'FLUSHALL':
    case 'FLUSHDB':
      if (!isSql) return undefined;
      return FLUSHES;
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
  if (isStart(tokens, at) && isStored(what, named)) {
    return { verdict: 'escalate', message: `the call removes a table (DROP ${what})` };
  }
  if (what === 'OWNED' && isWord(named, 'BY') && isStart(tokens, at)) {
    return { verdict: 'escalate', message: 'the call removes all that a role owns (DROP OWNED)' };
  }
  if (what === 'COLUMN' || what === 'PARTITION') {
    return { verdict: 'escalate', message: `the call removes a part of a table (DROP ${what})` };
  }
  return undefined;
}

/** What holds rows, also of streams and of time series. */
const STORED = wordSet('TABLE STREAM MEASUREMENT COLLECTION');
/** Words before TABLE of a table that is kept elsewhere. */
const KINDS = wordSet('FOREIGN EXTERNAL');

/** Whether a DROP removes what is stored: a table, or a view that keeps its rows. */
const isStored = (what: string, next: SqlToken): boolean =>
  STORED.has(what) ||
  (what === 'MATERIALIZED' && isWord(next, 'VIEW')) ||
  (KINDS.has(what) && isWord(next, 'TABLE'));

/** CREATE OR REPLACE drops what was there, also behind a word such as TRANSIENT. */
function judgeCreate(tokens: readonly SqlToken[], at: number): SqlReach | undefined {
  const [or, replace, first, second] = tokens.slice(at + 1, at + 5);
  if (or?.text !== 'OR' || replace?.text !== 'REPLACE' || first?.kind !== 'word') return undefined;
  if (['DATABASE', 'SCHEMA'].includes(first.text)) {
    const message = `the call removes a whole database (CREATE OR REPLACE ${first.text})`;
    return { verdict: 'deny', message };
  }
  const isTemporary = first.text.startsWith('TEMP');
  if (first.text !== 'TABLE' && (isTemporary || second?.text !== 'TABLE')) return undefined;
  return { verdict: 'escalate', message: 'the call replaces a table (CREATE OR REPLACE TABLE)' };
}

const DROPS_A_COLUMN: SqlReach = {
  verdict: 'escalate',
  message: 'the call removes a part of a table (DROP)',
};

/** Whether a table's definition begins to change here. */
function isAlterTable(tokens: readonly SqlToken[], at: number): boolean {
  if (tokens[at]?.text !== 'TABLE') return false;
  return tokens[KINDS.has(tokens[at - 1]?.text ?? '') ? at - 2 : at - 1]?.text === 'ALTER';
}

/** What a change of a table drops without losing data. */
const NO_COLUMNS = wordSet(
  'CONSTRAINT INDEX KEY PRIMARY FOREIGN UNIQUE CHECK DEFAULT NOT IDENTITY EXPRESSION PERIOD SYSTEM STATISTICS TRIGGER RULE',
);

/** Whether it drops a column, whose word COLUMN may be left out. */
function isDropOfColumn(tokens: readonly SqlToken[], at: number): boolean {
  const next = tokens[at + 1];
  if (tokens[at]?.text !== 'DROP' || next === undefined) return false;
  if (next.kind === 'word') return !NO_COLUMNS.has(next.text);
  return next.kind === 'name' || next.text === '(';
}

const MODIFIERS = wordSet('LOW_PRIORITY QUICK IGNORE ONLY CONCURRENTLY');

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
  const find = (text: string) => part.findIndex((one) => isWord(one, text));
  const where = find('WHERE');
  if (verb === 'UPDATE' && find('SET') < 0) return undefined;
  // Part of a MERGE, which must be bounded by its ON.
  if (isWord(first, 'SET')) return undefined;
  // Without FROM it is SQL in few databases, and a plain sentence everywhere.
  if (verb === 'DELETE' && find('FROM') < 0 && !(isSql && (part.length <= 2 || where >= 0))) {
    return undefined;
  }
  const limit = findOutside(part, LIMIT);
  if (limit >= 0 && Number(part[limit + 1]?.text) <= maxRows) return undefined;
  if (where < 0) return { verdict: 'escalate', message: `the call has a ${verb} without a WHERE` };
  const condition = part.slice(where + 1);
  const end = findOutside(condition, ENDS);
  if (end >= 0) condition.length = end;
  const table = changedTable(part.slice(0, where), verb);
  const own = table ? withoutQueriesOf(table, condition, maxRows, effort) : condition;
  if (truthOf(own, effort) !== true) return undefined;
  return { verdict: 'escalate', message: `the call has a ${verb} whose WHERE is always true` };
}

/** A MERGE that deletes or updates, which must be bounded by its ON. */
function judgeMerge(tokens: readonly SqlToken[], at: number, effort: Effort): SqlReach | undefined {
  const end = tokens.findIndex((one, index) => index > at && one.text === ';');
  const part = tokens.slice(at + 1, end < 0 ? undefined : end);
  effort.left -= part.length;
  const find = (text: string, from: number) =>
    part.findIndex((one, index) => index >= from && isWord(one, text));
  const on = find('ON', 0);
  const when = find('WHEN', on + 1);
  if (find('USING', 0) < 0 || on < 0 || when < 0) return undefined;
  const isDelete = find('DELETE', when) >= 0;
  if (!isDelete && find('UPDATE', when) < 0) return undefined;
  // Rows that the source lacks: all of them, if it is empty.
  const isOfMissing = isDelete && find('SOURCE', when) > 0;
  if (!isOfMissing && truthOf(part.slice(on + 1, when), effort) !== true) return undefined;
  return { verdict: 'escalate', message: 'the call has a MERGE that changes all rows' };
}

const LIMIT = wordSet('LIMIT');
const ENDS = wordSet('RETURNING ORDER LIMIT OPTION');

/** Where one of the words stands outside of parentheses: an inner query bounds nothing. */
function findOutside(tokens: readonly SqlToken[], words: ReadonlySet<string>): number {
  let depth = 0;
  return tokens.findIndex(({ kind, text }) => {
    if (kind === 'sign' && text === '(') depth++;
    if (kind === 'sign' && text === ')') depth--;
    return depth === 0 && kind === 'word' && words.has(text);
  });
}

/** The tokens of one statement at its own level: without inner queries, with conditions. */
function statementFrom(tokens: readonly SqlToken[], from: number, effort: Effort): SqlToken[] {
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
    if (depth === 0 && isWord(token, 'WHERE')) isCondition = true;
    if (depth === 0 || isCondition) part.push(token);
  }
  return part;
}
