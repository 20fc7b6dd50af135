/** Tools that are a program, such as `git` and `git_push`: their call is a command line. */
import { wordsOfName } from '../../../mcp/words-of-name.ts';
import { isBase, readArgumentName } from '../arguments/argument-kinds.ts';
import { isTypeName } from '../deleted-store.ts';
import { FLUSHES } from '../queries/sql-reach.ts';
import { escalates, type WholeReach } from '../reach-finding.ts';
import { findRequestReach } from '../web-reach.ts';
import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';
import { findImpliedReach, findWholeReach, isWholeProgram } from './program-reach.ts';
import { FLUSHALL } from './shell-programs.ts';
import { isContainerProgram } from './wrapped-command.ts';

/** Names of a program whose words have an argument of their own. */
const PROGRAMS = ['command', 'cmd', 'program', 'executable', 'binary', 'bin', 'exe'];
/** All words of the names of tools that run any program. */
const RUNS = wordSet(
  'run exec execute start spawn launch invoke call command commands cmd shell bash sh terminal console process program subprocess script in a',
);

/** Arguments that say where ssh runs the command that stands beside them. */
const HOSTS = ['host', 'hostname', 'server', 'target', 'machine', 'connection', 'connectionName'];

/** Programs that a tool is called like, beside those for containers. */
const TOOLS = wordSet('ssh sudo npx bunx powershell pwsh rm curl');

/**
 * The command whose program and words stand each in an argument of their own. Without one the
 * program is the tool itself (`docker`), or the first word.
 *
 * @param ofTool words of its name
 */
export function commandOfParts(
  record: Readonly<Record<string, unknown>>,
  ofTool: readonly string[],
): string | readonly string[] | undefined {
  const { arguments: listed, argv = listed, args: words = argv } = record;
  if (words === undefined) return undefined;
  const program = PROGRAMS.map((key) => record[key]).find((one) => typeof one === 'string');
  if (typeof program === 'string') {
    if (isTexts(words)) return [program, ...words];
    return typeof words === 'string' ? `${program} ${words}` : undefined;
  }
  if (ofTool.every((word) => RUNS.has(word))) {
    return isTexts(words) || typeof words === 'string' ? words : undefined;
  }
  const tool = ofTool.find((word) => isContainerProgram(word) || TOOLS.has(word));
  if (tool === undefined) return undefined;
  const isAtHost = tool === 'ssh' && HOSTS.some((key) => typeof record[key] === 'string');
  if (isAtHost) return isTexts(words) || typeof words === 'string' ? words : undefined;
  if (isTexts(words)) return [tool, ...words];
  return typeof words === 'string' ? `${tool} ${words}` : undefined;
}

/** Whether a value is a list of texts, and not empty. */
export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string');
}

/** Whether a list of words empties a database, by whatever name it is handed to a tool. */
export const isFlushLine = ([first = '']: readonly string[]): boolean =>
  FLUSHALL.has(first.toLowerCase());

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
  if (isDrain(words, args)) return DRAINS;
  if (isFlush(words, args)) return { rule: 'sql_without_where', ...FLUSHES };
  const request = findRequestReach(words, args);
  if (request) return request;
  const [program, ...given] = programOfTool(words, Object.keys(args));
  if (program === undefined && words.every((word) => RUNS.has(word))) return ofImplied(args);
  return program === undefined ? undefined : findWholeReach(program, commandOf(given, args));
}

/** Of a tool such as `run`, whose program only its server knows: `args: [repo, delete, a/b]`. */
function ofImplied({ args }: Readonly<Record<string, unknown>>): WholeReach | undefined {
  if (!isTexts(args) || isWholeProgram(nameOf(args[0]))) return undefined;
  return findImpliedReach(args.slice(0, MAX_WORDS));
}

const DRAINS = escalates('delete_whole', 'the call removes everything from a node');
const NODES = wordSet('node nodes');

/** Whether a tool drains a node of a cluster, by its name or by an operation. */
function isDrain(words: readonly string[], args: Readonly<Record<string, unknown>>): boolean {
  if (!words.some((word) => NODES.has(word)) || args.dryRun === true) return false;
  return words.includes('drain') || args.operation === 'drain' || args.action === 'drain';
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

/** Clouds whose names are not those of their programs. */
const ALIASES = new Map([['azure', 'az']]);

/** The words of a tool's name from its program on; empty where it names none. */
function programOfTool(
  words: readonly string[],
  argumentNames: readonly string[],
): readonly string[] {
  const at = words.findIndex((word) => isWholeProgram(word) || ALIASES.has(word));
  const program = words[at];
  if (program !== undefined) return [ALIASES.get(program) ?? program, ...words.slice(at + 1)];
  const isPush = words.includes('push') || words.includes('ref');
  return isPush && argumentNames.some((name) => OF_GIT.has(readArgumentName(name).last))
    ? ['git', 'push']
    : [];
}

const isOperation = (words: readonly string[]): boolean =>
  words.includes('operation') || words.at(-1) === 'action' || words.at(-1) === 'api';

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
  const isService = ([key]: [string, unknown]) => readArgumentName(key).words.includes('service');
  const members = Object.entries(args);
  // A command begins with the service, wherever it stands.
  const ordered = [...members.filter(isService), ...members.filter((one) => !isService(one))];
  for (const [key, value] of ordered) {
    const name = readArgumentName(key);
    if (isBase(name)) continue;
    if (isTypeName(key)) add(value);
    else if (isOperation(name.words) && typeof value === 'string' && !/\s/.test(value)) {
      // `delete_table` and `DeleteTable` of a library are `delete-table` on a command line.
      add(wordsOfName(value.slice(0, MAX_WORD)).join('-'));
    } else if (value === true || value === 'true') add(`--${name.words.join('-')}`);
    else if (typeof value === 'string' && OPTIONS.has(name.last)) add(`--${value}`);
    else if (typeof value === 'string' && name.kind !== 'content') {
      for (const word of value.slice(0, MAX_WORD).split(' ')) add(word);
    } else if (Array.isArray(value)) value.slice(0, MAX_WORDS).forEach(add);
  }
  return words;
}
