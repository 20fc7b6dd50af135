/** Tools that are a program, such as `git` and `git_push`: their call is a command line. */
import { isBase, readArgumentName } from './argument-kinds.ts';
import { isTypeName } from './deleted-store.ts';
import { findWholeReach, isWholeProgram, type WholeReach } from './program-reach.ts';
import { FLUSHES } from './sql-reach.ts';
import { wordSet } from './word-set.ts';

/** Words of a command that are made from arguments, at most. */
const MAX_WORDS = 64;
/** Longer values are texts, and no words of a command. */
const MAX_WORD = 200;
/** Names of arguments whose value is an option: `mode: hard`. */
const OPTIONS = wordSet('mode type strategy');
/** Arguments of a push to a git server. */
const OF_GIT = wordSet('branch ref refs refspec remote');

/**
 * What a call of such a tool does as a whole.
 *
 * @param words of the tool's name
 */
export function findToolReach(
  words: readonly string[],
  args: Readonly<Record<string, unknown>>,
): WholeReach | undefined {
  if (isFlush(words, args)) return { rule: 'sql_without_where', ...FLUSHES };
  const [program, ...given] = programOfTool(words, Object.keys(args));
  return program === undefined ? undefined : findWholeReach(program, commandOf(given, args));
}

const FLUSH = /^\s*flush(?:all|db)\b/i;
/** Key-value stores with such a command. */
const KEY_VALUE = wordSet('redis valkey keydb dragonfly dragonflydb');
const OPERATIONS = wordSet('operation op action method args argv arguments');

/** Whether the name of a tool, or the operation that it is asked for, empties a key-value store. */
function isFlush(words: readonly string[], args: Readonly<Record<string, unknown>>): boolean {
  if (words.some((word) => FLUSH.test(word)) || /\bflush (?:db|database)$/.test(words.join(' '))) {
    return true;
  }
  if (!words.some((word) => KEY_VALUE.has(word))) return false;
  if (words.join(' ').endsWith('flush all')) return true;
  return Object.entries(args).some(([key, value]) => {
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first !== 'string' || !FLUSH.test(first)) return false;
    return OPERATIONS.has(readArgumentName(key).last);
  });
}

/** The words of a tool's name from its program on; empty where it names none. */
function programOfTool(
  words: readonly string[],
  argumentNames: readonly string[],
): readonly string[] {
  const at = words.findIndex(isWholeProgram);
  if (at >= 0) return words.slice(at);
  const isPush = words.includes('push') || words.includes('ref');
  return isPush && argumentNames.some((name) => OF_GIT.has(readArgumentName(name).last))
    ? ['git', 'push']
    : [];
}

/** The words of the command that a call amounts to: flags become options, values words. */
function commandOf(
  given: readonly string[],
  args: Readonly<Record<string, unknown>>,
): readonly string[] {
  const words = [...given];
  const add = (value: unknown) => {
    if (typeof value !== 'string' || value === '' || value.length > MAX_WORD) return;
    if (words.length < MAX_WORDS) words.push(value);
  };
  for (const [key, value] of Object.entries(args)) {
    const name = readArgumentName(key);
    if (isBase(name)) continue;
    if (isTypeName(key)) add(value);
    else if (value === true || value === 'true') add(`--${name.words.join('-')}`);
    else if (typeof value === 'string' && OPTIONS.has(name.last)) add(`--${value}`);
    else if (typeof value === 'string' && name.kind !== 'content') {
      for (const word of value.slice(0, MAX_WORD).split(' ')) add(word);
    } else if (Array.isArray(value)) value.slice(0, MAX_WORDS).forEach(add);
  }
  return words;
}
