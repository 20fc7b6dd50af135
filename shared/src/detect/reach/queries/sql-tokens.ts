/**
 * SQL as words and signs, without its comments. Databases disagree about where a comment or a
 * string ends, so a statement is read in the ways of several of them; each is one linear pass.
 */

import type { Effort } from '../../../glob.ts';
import { executedTexts } from './sql-executed.ts';
import type { SqlToken } from './sql-token.ts';

export interface SqlDialect {
  /** `--` is a comment only before a blank, and `#` begins one. */
  readonly hasHashComments: boolean;
  /** Comments may nest, and `$$` quotes. */
  readonly nests: boolean;
  /** A backslash escapes in strings, and double quotes delimit strings. */
  readonly hasBackslash: boolean;
}

const SQL_DIALECTS: readonly SqlDialect[] = [
  { hasHashComments: false, nests: true, hasBackslash: false },
  { hasHashComments: true, nests: false, hasBackslash: true },
  { hasHashComments: false, nests: false, hasBackslash: false },
];

/** Syntax that databases interpret differently. */
const AMBIGUOUS = /--|[#\\$"]|\/\*/;

/**
 * The tokens of a text in each dialect, and those of the bodies in it.
 *
 * @param effort is used up by the length of each; once exhausted, the rest is not read
 */
export function* readSqlReadings(sql: string, effort: Effort): Generator<readonly SqlToken[]> {
  const dialects = AMBIGUOUS.test(sql) ? SQL_DIALECTS : SQL_DIALECTS.slice(0, 1);
  for (const dialect of dialects) {
    const texts = [sql];
    for (const text of texts) {
      effort.left -= text.length;
      if (effort.left < 0) return;
      const tokens = readSqlTokens(text, dialect);
      for (const token of tokens) if (token.isBody) texts.push(token.text);
      for (const executed of executedTexts(tokens)) texts.push(executed);
      yield tokens;
    }
  }
}

/** @returns the tokens, including `;` */
function readSqlTokens(sql: string, dialect: SqlDialect): SqlToken[] {
  const tokens: SqlToken[] = [];
  let at = 0;
  while (at < sql.length) {
    const sign = sql[at] as string;
    const next = sql[at + 1];
    if (isBlank(sign)) at++;
    else if (sign === '-' && next === '-' && isDashComment(sql[at + 2], dialect)) {
      at = lineEnd(sql, at);
    } else if (sign === '#' && dialect.hasHashComments) at = lineEnd(sql, at);
    else if (sign === '/' && next === '*') {
      // MySQL executes the content of such a comment.
      if (dialect.hasHashComments && (sql[at + 2] === '!' || sql[at + 2] === 'M')) {
        at += 3;
        while (/[0-9!]/.test(sql[at] ?? '')) at++;
      } else at = commentEnd(sql, at, dialect.nests);
    } else if (sign === '*' && next === '/' && dialect.hasHashComments) at += 2;
    else if (sign === "'" || sign === '"' || sign === '`') {
      const end = quoteEnd(sql, at, sign, dialect.hasBackslash && sign !== '`');
      const isText = sign === "'" || (sign === '"' && dialect.hasBackslash);
      tokens.push({ kind: isText ? 'text' : 'name', text: sql.slice(at + 1, end - 1) });
      at = end;
    } else if (sign === '$' && dialect.nests && !isInWord(sql, at)) {
      const tag = dollarTag(sql, at);
      if (tag === undefined) {
        tokens.push({ kind: 'sign', text: sign });
        at++;
      } else {
        const end = sql.indexOf(tag, at + tag.length);
        const text = sql.slice(at + tag.length, end < 0 ? sql.length : end);
        // Without an end it is no SQL of PostgreSQL.
        tokens.push({ kind: 'text', text, ...(end >= 0 && { isBody: true }) });
        at = end < 0 ? sql.length : end + tag.length;
      }
    } else if (sign === '[') {
      const end = sql.indexOf(']', at);
      if (end < 0) at = sql.length;
      else {
        tokens.push({ kind: 'name', text: sql.slice(at + 1, end) });
        at = end + 1;
      }
    } else if (isWordSign(sign)) {
      let end = at + 1;
      while (end < sql.length && isWordSign(sql[end] as string)) end++;
      const text = sql.slice(at, end).toUpperCase();
      tokens.push({ kind: /^[0-9]/.test(text) ? 'number' : 'word', text });
      at = end;
    } else {
      const two = sql.slice(at, at + 2);
      const text = TWO_SIGNS.has(two) ? two : sign;
      tokens.push({ kind: 'sign', text });
      at += text.length;
    }
  }
  return tokens;
}

const TWO_SIGNS = new Set(['<=', '>=', '<>', '!=', '==', '||', '&&']);

function isDashComment(next: string | undefined, { hasHashComments }: SqlDialect): boolean {
  return !hasHashComments || next === undefined || isBlank(next);
}

function isBlank(sign: string): boolean {
  return sign <= ' ' || sign === '\u00a0' || sign === '\u3000' || sign === '\ufeff';
}

function isWordSign(sign: string): boolean {
  if (sign > '\u007f') return !isBlank(sign);
  return /[A-Za-z0-9_.]/.test(sign);
}

/** In a name a dollar quotes nothing. */
function isInWord(sql: string, at: number): boolean {
  return at > 0 && (sql[at - 1] === '$' || isWordSign(sql[at - 1] as string));
}

const DOLLAR_TAG = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;

function dollarTag(sql: string, at: number): string | undefined {
  DOLLAR_TAG.lastIndex = at;
  return DOLLAR_TAG.exec(sql)?.[0];
}

function lineEnd(sql: string, from: number): number {
  const end = sql.indexOf('\n', from);
  return end < 0 ? sql.length : end + 1;
}

function commentEnd(sql: string, from: number, nests: boolean): number {
  let open = 0;
  for (let at = from; at < sql.length; at++) {
    if (nests && sql[at] === '/' && sql[at + 1] === '*') {
      open++;
      at++;
    } else if (sql[at] === '*' && sql[at + 1] === '/' && at > from + 1) {
      if (!nests || --open === 0) return at + 2;
      at++;
    }
  }
  return sql.length;
}

/** After the closing quote; a doubled quote is part of the string. */
function quoteEnd(sql: string, from: number, quote: string, hasBackslash: boolean): number {
  for (let at = from + 1; at < sql.length; at++) {
    if (hasBackslash && sql[at] === '\\') at++;
    else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return sql.length + 1;
}
