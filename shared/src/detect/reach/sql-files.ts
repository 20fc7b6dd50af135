/** Files that SQL writes and reads on the database's own machine, and programs that it runs. */
import type { Effort } from '../../glob.ts';
import { MAX_SQL_LENGTH } from './sql-reach.ts';
import { readSqlTokens, SQL_DIALECTS, type SqlToken } from './sql-tokens.ts';
import { wordSet } from './word-set.ts';

export interface SqlFiles {
  readonly written: string[];
  readonly read: string[];
  /** Command lines. */
  readonly programs: string[];
  /** Set where it is too long to be read. */
  isUnread?: true;
}

/** Without one of these a statement names no file. */
const MAY = /\b(?:copy|outfile|dumpfile|infile|vacuum|backup|export|attach|unload)\b/i;

/** Words after which a text is a file that is written, wherever they stand. */
const WRITES = wordSet('OUTFILE DUMPFILE DISK');
/** Statements whose TO or INTO names a file. */
const WRITERS = wordSet('COPY VACUUM BACKUP UNLOAD');
/** Statements that name a file right after themselves, or after DATABASE. */
const OPENERS = wordSet('EXPORT ATTACH DATABASE');

/**
 * @param effort is used up
 * @returns undefined where it names none
 */
export function findSqlFiles(sql: string, effort: Effort): SqlFiles | undefined {
  if (!MAY.test(sql)) return undefined;
  const files: SqlFiles = { written: [], read: [], programs: [] };
  effort.left -= sql.length * SQL_DIALECTS.length;
  if (sql.length > MAX_SQL_LENGTH || effort.left < 0) return { ...files, isUnread: true };
  for (const dialect of SQL_DIALECTS) readFiles(readSqlTokens(sql, dialect), files);
  return files;
}

/** One pass: what a word does with the text after it depends on the statement alone. */
function readFiles(tokens: readonly SqlToken[], files: SqlFiles): void {
  let statement = '';
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as SqlToken;
    if (kind === 'sign' && text === ';') statement = '';
    if (kind !== 'word') continue;
    if (WRITERS.has(text) || text === 'EXPORT' || text === 'ATTACH') statement = text;
    const file = textAfter(tokens, at);
    if (file === undefined) continue;
    const isWriter = WRITERS.has(statement);
    if (text === 'PROGRAM' && statement === 'COPY') files.programs.push(file);
    else if (text === 'INFILE' || (text === 'FROM' && statement === 'COPY')) files.read.push(file);
    else if (WRITES.has(text) || (isWriter && (text === 'TO' || text === 'INTO'))) {
      files.written.push(file);
    } else if (OPENERS.has(text) && !isWriter && statement !== '') files.written.push(file);
  }
}

/** The text after a word, perhaps behind a sign, or a letter for how it is escaped. */
function textAfter(tokens: readonly SqlToken[], at: number): string | undefined {
  for (let next = at + 1; next <= at + 3; next++) {
    const token = tokens[next];
    if (token?.kind === 'text') return token.text;
    const isBefore = token?.kind === 'sign' ? '=&('.includes(token.text) : token?.text.length === 1;
    if (!isBefore) return undefined;
  }
  return undefined;
}
