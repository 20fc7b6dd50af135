/** Files that SQL writes and reads on the database's own machine, and programs that it runs. */
import type { Effort } from '../../../glob.ts';
import { decodeEscapes, decodeUnicodeEscapes } from '../backslash-escapes.ts';
import { wordSet } from '../word-set.ts';
import { MAX_SQL_LENGTH } from './sql-reach.ts';
import type { SqlToken } from './sql-token.ts';
import { readSqlReadings } from './sql-tokens.ts';

export interface SqlFiles {
  readonly written: string[];
  readonly read: string[];
  /** Command lines. */
  readonly programs: string[];
  /** Set where it is too long to be read. */
  isUnread?: true;
}

/** Without one of these a statement names no file. */
const MAY =
  /\b(?:copy|outfile|dumpfile|infile|vacuum|backup|export|attach|unload|readfile|writefile)\b|_file|lo_(?:ex|im)port|pg_ls_|xp_cmdshell/i;

/** Words after which a text is a file that is written, wherever they stand. */
const WRITES = wordSet('OUTFILE DUMPFILE DISK');
/** Statements whose TO or INTO names a file. */
const WRITERS = wordSet('COPY VACUUM BACKUP UNLOAD');
/** Functions that write a file, and which of their arguments names it. */
const WRITING = new Map([
  ['WRITEFILE', 0],
  ['LO_EXPORT', 1],
  ['PG_FILE_WRITE', 0],
]);
/** Functions whose first argument is a file or a folder that is read. */
const READING = wordSet(
  'READFILE LOAD_FILE LO_IMPORT PG_READ_FILE PG_READ_BINARY_FILE PG_STAT_FILE PG_LS_DIR',
);
/** Tokens of a function's arguments before the one that counts. */
const MAX_BEFORE = 32;

/** Statements that name a file right after themselves, or after DATABASE. */
const OPENERS = wordSet('EXPORT ATTACH DATABASE');

/**
 * @param effort is used up
 * @returns undefined where it names none
 */
export function findSqlFiles(sql: string, effort: Effort): SqlFiles | undefined {
  if (!MAY.test(sql)) return undefined;
  const files: SqlFiles = { written: [], read: [], programs: [] };
  if (sql.length > MAX_SQL_LENGTH) return { ...files, isUnread: true };
  for (const tokens of readSqlReadings(sql, effort)) readFiles(tokens, files);
  return effort.left < 0 ? { ...files, isUnread: true } : files;
}

/** One pass: what a word does with the text after it depends on the statement alone. */
function readFiles(tokens: readonly SqlToken[], files: SqlFiles): void {
  let statement = '';
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as SqlToken;
    if (kind === 'sign' && text === ';') statement = '';
    if (kind === 'word' || kind === 'name') readFunction(tokens, at, files);
    if (kind !== 'word') continue;
    if (WRITERS.has(text) || text === 'EXPORT' || text === 'ATTACH') statement = text;
    const file = textAfter(tokens, at);
    if (file === undefined) continue;
    const isWriter = WRITERS.has(statement);
    if ((text === 'PROGRAM' && statement === 'COPY') || text === 'XP_CMDSHELL') {
      files.programs.push(file);
    } else if (text === 'INFILE' || (text === 'FROM' && statement === 'COPY'))
      files.read.push(file);
    else if (WRITES.has(text) || (isWriter && (text === 'TO' || text === 'INTO'))) {
      files.written.push(file);
    } else if (OPENERS.has(text) && !isWriter && statement !== '') files.written.push(file);
  }
}

/** What a function does with the file that it is given. */
function readFunction(tokens: readonly SqlToken[], at: number, files: SqlFiles): void {
  if (tokens[at + 1]?.text !== '(') return;
  const { text } = tokens[at] as SqlToken;
  // Behind the name of a schema.
  const name = text.slice(text.lastIndexOf('.') + 1).toUpperCase();
  const index = WRITING.get(name);
  const file = textAfter(tokens, argumentAt(tokens, at + 1, index ?? 0));
  if (file === undefined) return;
  if (index !== undefined) files.written.push(file);
  else if (READING.has(name)) files.read.push(file);
}

/** Before an argument of a function, whose parenthesis is given. */
function argumentAt(tokens: readonly SqlToken[], from: number, index: number): number {
  let depth = 0;
  let left = index;
  for (let at = from; at < from + MAX_BEFORE && left > 0; at++) {
    const text = tokens[at]?.kind === 'sign' ? tokens[at]?.text : '';
    if (text === '(') depth++;
    else if (text === ')') depth--;
    else if (text === ',' && depth === 1 && --left === 0) return at;
  }
  return from;
}

/** The text after a word, perhaps behind a sign, or a letter for how it is escaped. */
function textAfter(tokens: readonly SqlToken[], at: number): string | undefined {
  for (let next = at + 1; next <= at + 3; next++) {
    const token = tokens[next];
    if (token?.kind === 'text') return decoded(tokens, next);
    const isBefore = token?.kind === 'sign' ? '=&('.includes(token.text) : token?.text.length === 1;
    if (!isBefore) return undefined;
  }
  return undefined;
}

/** A text as PostgreSQL reads it: `E'…'` and `U&'…'` have escapes. */
function decoded(tokens: readonly SqlToken[], at: number): string {
  const { text } = tokens[at] as SqlToken;
  if (isWord(tokens[at - 1], 'E')) return decodeEscapes(text);
  if (tokens[at - 1]?.text !== '&' || !isWord(tokens[at - 2], 'U')) return text;
  const sign = isWord(tokens[at + 1], 'UESCAPE') ? tokens[at + 2]?.text : undefined;
  return decodeUnicodeEscapes(text, sign || undefined);
}

const isWord = (token: SqlToken | undefined, text: string): boolean =>
  token?.kind === 'word' && token.text === text;
