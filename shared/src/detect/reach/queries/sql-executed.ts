/** Texts that a database is asked to execute: `EXECUTE IMMEDIATE 'TRUNCATE a'`. */

import { wordSet } from '../word-set.ts';
import type { SqlToken } from './sql-token.ts';

const EXECUTES = wordSet('EXECUTE IMMEDIATE EXEC SP_EXECUTESQL SP_MSFOREACHTABLE PREPARE');
/** What may stand between such a word and its text. */
const BETWEEN = wordSet('( FORMAT CONCAT N');
const MAX_BETWEEN = 4;
/** Tokens between a variable's name and the text that it is set to: `@s nvarchar(max) = N'…'`. */
const MAX_DECLARED = 8;
const JOINS = wordSet('| || +');

const EXECUTE = /\bexec(?:ute)?\b/i;
const JOINED = /'\s{0,9}(?:\+|\|\|)\s{0,9}n?'|\bconcat\s{0,9}\(/i;

/** Whether such a text may be put together, so that its words do not stand there as they are. */
export const mayJoin = (sql: string): boolean => EXECUTE.test(sql) && JOINED.test(sql);

export function executedTexts(tokens: readonly SqlToken[]): string[] {
  const found: string[] = [];
  const set: (readonly [name: string, text: string])[] = [];
  const executed = new Set<string>();
  for (let at = 0; at < tokens.length; at++) {
    const { kind, text } = tokens[at] as SqlToken;
    if (kind === 'sign' && text === '@') {
      const given = setAt(tokens, at + 2);
      const name = tokens[at + 1]?.text;
      if (given !== undefined && name !== undefined) set.push([name, given]);
      continue;
    }
    if (kind === 'text' || !EXECUTES.has(text)) continue;
    // `PREPARE p FROM @s`
    let next = text === 'PREPARE' && tokens[at + 2]?.text === 'FROM' ? at + 3 : at + 1;
    const last = next + MAX_BETWEEN;
    let isCalled = false;
    for (; next < last && BETWEEN.has(tokens[next]?.text ?? ''); next++) {
      isCalled ||= tokens[next]?.text === 'CONCAT';
    }
    if (tokens[next]?.text === '@') executed.add(tokens[next + 1]?.text ?? '');
    const given = joinedFrom(tokens, next, isCalled);
    if (given !== undefined) found.push(given.replace(/%[ILs]/g, 'x'));
  }
  for (const [name, text] of set) if (executed.has(name)) found.push(text);
  return found;
}

/** The text that a variable is set to whose name stands before. */
function setAt(tokens: readonly SqlToken[], from: number): string | undefined {
  for (let at = from; at < from + MAX_DECLARED; at++) {
    const { kind, text } = tokens[at] ?? { kind: 'sign', text: ';' };
    if (kind === 'text' || text === ';' || text === '@') return undefined;
    if (kind !== 'sign' || text !== '=') continue;
    const next = tokens[at + 1]?.text === 'N' ? at + 2 : at + 1;
    return joinedFrom(tokens, next, false);
  }
  return undefined;
}

/** Texts that are joined; a name among them, or what takes its place, is one word. */
function joinedFrom(
  tokens: readonly SqlToken[],
  from: number,
  isCalled: boolean,
): string | undefined {
  if (tokens[from]?.kind !== 'text') return undefined;
  const parts: string[] = [];
  for (let at = from; ; at++) {
    parts.push((tokens[at] as SqlToken).text);
    const join = tokens[at + 1]?.text ?? '';
    if (!JOINS.has(join) && !(isCalled && join === ',')) return parts.join('');
    at += tokens[at + 2]?.text === 'N' ? 2 : 1;
    if (tokens[at + 1]?.kind !== 'text') return `${parts.join('')} x`;
  }
}
