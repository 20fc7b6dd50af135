/** What a command line does with paths, and what it passes to a database. */

import { decodedCommand } from '../arguments/inner-lines.ts';
import { countKeys } from '../arguments/key-value.ts';
import { findClusterCommand } from '../cluster-namespace.ts';
import { DELETES_A_STORE } from '../deleted-store.ts';
import { FLUSHES } from '../queries/sql-reach.ts';
import { escalates, type PathUse, type TouchedPath, type WholeReach } from '../reach-finding.ts';
import { findWebReach } from '../web-reach.ts';
import { isInterpreter, readCode } from './code-commands.ts';
import { pathOnMachine, readMounts } from './container-mounts.ts';
import { overwritesDisk, STREAM, WIPES_BY_SCRIPT, wipesDisk } from './disk-programs.ts';
import { readFind } from './find-program.ts';
import { CARRIES_SQL, readRedis, sqlAmong } from './handed-sql.ts';
import {
  countDeletedThings,
  deletesListedThings,
  isBoundByName,
  pipesByName,
} from './listed-things.ts';
import { isMailProgram, readMailOf, TO_LISTED } from './mail-programs.ts';
import { commandInAssignment, jobsOf, readOptionCommands } from './option-commands.ts';
import {
  deletesHanded,
  deletesListed,
  type Listed,
  listedBy,
  onlyTells,
  pathsOfClasses,
  removesStore,
} from './powershell.ts';
import { decodedBy, printedBy } from './printed-text.ts';
import { withoutMessages } from './program-messages.ts';
import { nameOf } from './program-name.ts';
import { pathsOf } from './program-paths.ts';
import { DELETES_LISTED, findRemoved, findWholeReach, WIPES_A_DISK } from './program-reach.ts';
import { optionValue, splitWords, withoutAt } from './program-words.ts';
import { findWrites } from './program-writes.ts';
import { changedFolder, inFolder } from './shell-folder.ts';
import { asWritten, type ShellCommand, textsOf } from './shell-frame.ts';
import {
  CALM,
  DATABASES,
  DELETES,
  FLUSHALL,
  HANDS_ON,
  isKnown,
  LINE_TAKERS,
  OVERWRITES,
  PLAIN,
  POWERSHELLS,
  RUNS_INPUT,
  SHELLS,
  TAKES_FILE,
  WRAPPERS,
} from './shell-programs.ts';
import { PRINTED, ShellVariables } from './shell-variables.ts';
import { readShellCommands } from './shell-words.ts';
import { behindUnknown, isUnknown, programOf } from './unknown-program.ts';
import {
  afterHost,
  innerFrom,
  isContainerProgram,
  packageCommand,
  packageCommandAt,
  packageLine,
  runCommandAt,
} from './wrapped-command.ts';

export interface ShellReach {
  readonly paths: Omit<TouchedPath, 'place' | 'containers'>[];
  /** Texts for other programs: SQL, for instance. */
  readonly inner: string[];
  /** To whom it sends mail. */
  readonly recipients: string[];
  /** What it does beyond the paths that it names. */
  readonly whole: WholeReach[];
  /** Things that one of its commands deletes, named one by one. */
  things: number;
}

/** What is found while lines are read, and what holds in the line that is read now. */
interface Reading extends ShellReach {
  variables: ShellVariables;
}

const nothing = (): Reading => ({
  paths: [],
  inner: [],
  recipients: [],
  whole: [],
  things: 0,
  variables: new ShellVariables(),
});

/** A longer one is not read. */
export const MAX_SHELL_LENGTH = 64 * 1024;
/** Limit of `sudo`, `docker exec` and the like before one command. */
const MAX_WRAPPERS = 8;
/** Command lines within command lines. */
const MAX_DEPTH = 4;

/** An option that holds the text itself. */
const BEFORE_LINE = /^(?:--[a-z-]{1,20}=|-c|\+[!:]{0,3})/;
/** Reads a command line, or a command given as separate words; caller-controlled. */
export function readShellReach(command: string | readonly string[]): ShellReach {
  const reach = nothing();
  const keys = typeof command === 'string' ? undefined : countKeys(command, true);
  if (typeof command === 'string') readLine(command, reach, 0);
  else if (keys !== undefined) reach.things = keys;
  else readCommand({ words: command, writes: [] }, reach, 0);
  if (reach.paths.some(overwritesDisk)) reach.whole.push(WIPES_A_DISK);
  return reach;
}

/** Reads code that a tool runs; in a notebook a line may be one for a shell. */
export function readCodeReach(code: string): ShellReach {
  const reach = nothing();
  readCodeOf('python', [code], reach, 0);
  for (const [, line = ''] of code.matchAll(/^[ \t]{0,99}!(.*)/gm)) readLine(line, reach, 1);
  const [, script] = /^\s{0,99}%%(?:bash|sh)\b[^\n]*\n([\s\S]*)/.exec(code) ?? [];
  if (script !== undefined) readLine(script, reach, 1);
  return reach;
}

const UNREAD = escalates('unreadable', 'the call has a command line that is not read');

/** @param args what a shell is given beside the line, as `$1` and so on */
function readLine(line: string, reach: Reading, depth: number, args?: readonly string[]): void {
  if (line.length > MAX_SHELL_LENGTH || depth > MAX_DEPTH) {
    reach.whole.push(UNREAD);
    return;
  }
  const outer = reach.variables;
  if (WIPES_BY_SCRIPT.test(line)) reach.whole.push(WIPES_A_DISK);
  for (const path of pathsOfClasses(line)) reach.paths.push(path);
  const { commands, variables } = readShellCommands(line, new ShellVariables(outer, args));
  if (variables.effort.left < 0) reach.whole.push(UNREAD);
  // Lines within it inherit what it sets.
  reach.variables = variables;
  readCommands(commands, reach, depth);
  reach.variables = outer;
}

/** A line that is set up to be run by its name: nothing is lost yet, so that a person may decide. */
function readLater(line: string, reach: Reading, depth: number): void {
  const inner = { ...nothing(), variables: reach.variables };
  readLine(line, inner, depth);
  for (const path of inner.paths) reach.paths.push({ ...path, isLater: true });
  for (const whole of inner.whole) reach.whole.push({ ...whole, verdict: 'escalate' });
  for (const text of inner.inner) reach.inner.push(text);
  reach.things = Math.max(reach.things, inner.things);
}

function readCommands(commands: readonly ShellCommand[], reach: Reading, depth: number): void {
  let listed: Listed | undefined;
  let printed: string | undefined;
  let folder: string | undefined;
  let isPipeNamed = false;
  let takesFile = false;
  const isCalm = commands.every(({ words }) => words.length === 0 || CALM.has(nameOf(words[0])));
  for (const command of commands) {
    const { inputs = [], isPiped, isAfter } = command;
    // Only behind `&&` it is certain where a command runs.
    if (!isAfter && !isPiped) folder = undefined;
    const before = reach.paths.length;
    const given = isPiped && printed !== undefined ? [...inputs, printed] : inputs;
    listed = listedBy(command, listed);
    for (const text of listed ? deletesListed(command, listed) : []) {
      reach.paths.push({ text, use: 'delete', isRecursive: true });
    }
    if (deletesHanded(command)) reach.whole.push(DELETES_LISTED);
    if (removesStore(command)) reach.whole.push(DELETES_A_STORE);
    const isTaken = readCommand({ ...command, inputs: given, isPipeNamed }, reach, depth);
    isPipeNamed = pipesByName(command, isPipeNamed);
    for (const { text, isPlain } of isTaken ? [] : (command.documents ?? [])) {
      if (!isCalm || !isPlain) readLine(text, reach, depth + 1);
    }
    // Whatever takes it, perhaps `bash -c "$(…)"`.
    const decoded = decodedBy(command, given);
    if (decoded !== undefined) readLine(decoded, reach, depth + 1);
    printed = decoded ?? printedBy(command, given);
    // `bash <(echo '…')`: what is in the brackets is a command of its own.
    if (takesFile && printed !== undefined) readLine(printed, reach, depth + 1);
    takesFile = command.words.length === 1 && TAKES_FILE.has(nameOf(command.words[0]));
    const isHere = !command.words.some((word) => word === 'ssh' || isContainerProgram(word));
    if (folder !== undefined && isHere) inFolder(reach.paths, before, folder);
    folder = changedFolder(command.words) ?? folder;
  }
}

/** @returns whether the program takes texts otherwise than as commands */
function readInputs(name: string, command: ShellCommand, reach: Reading, depth: number): boolean {
  const { inputs = [] } = command;
  const texts = textsOf(command);
  if (DATABASES.has(name)) reach.inner.push(...texts);
  else if (isInterpreter(name)) readCodeOf(name, texts, reach, depth);
  else if (name === 'crontab') {
    for (const text of texts) readLine(jobsOf(text), reach, depth + 1);
  } else if (SHELLS.has(name) || RUNS_INPUT.has(name)) {
    for (const text of inputs) readLine(text, reach, depth + 1);
    return false;
  } else return false;
  return true;
}

/** @returns whether it takes the documents that it is given otherwise than as commands */
function readCommand(command: ShellCommand, reach: Reading, depth: number): boolean {
  const before = reach.paths.length;
  const isTaken = readWords(command, reach, depth);
  const mounts = readMounts(command.words);
  const inside = mounts.length > 0 ? reach.paths.slice(before) : [];
  for (const path of inside) {
    const text = pathOnMachine(path.text, mounts);
    if (text !== undefined) reach.paths.push({ ...path, text });
  }
  return isTaken;
}

function readWords(command: ShellCommand, reach: Reading, depth: number): boolean {
  const { words, writes, reads = [] } = command;
  for (const text of writes) reach.paths.push({ text, use: 'write' });
  for (const text of reads) reach.paths.push({ text, use: 'read' });
  const keys = countKeys(words, false);
  if (keys !== undefined) {
    reach.things = Math.max(reach.things, keys);
    return false;
  }
  let at = 0;
  while (at < words.length && /^[A-Za-z_][A-Za-z0-9_]*\+?=/.test(words[at] as string)) at++;
  const isWrapped = WRAPPERS.has(programOf(words[at])) || isUnknown(words[at], command);
  for (const text of findWrites(words.slice(at), isWrapped)) {
    reach.paths.push({ text, use: 'write' });
  }
  const own = readOptionCommands(words.slice(at), isWrapped);
  for (const text of own.writes) reach.paths.push({ text, use: 'write' });
  for (const line of own.later) readLater(line, reach, depth + 1);
  const given = words.slice(0, at).map(commandInAssignment);
  for (const line of [...own.lines, ...given]) if (line) readLine(line, reach, depth + 1);
  const web = findWebReach(words);
  if (web) reach.whole.push(web);
  // Once: the words of an inner wrapper are among those of the outer one.
  let hasReadLines = false;
  let name = programOf(words[at]);
  for (let wrappers = 0; wrappers < MAX_WRAPPERS; wrappers++) {
    const whole = findWholeReach(name, words.slice(at + 1));
    if (whole) reach.whole.push(whole);
    const cluster = findClusterCommand(name, words.slice(at + 1), textsOf(command));
    if (cluster) reach.whole.push(cluster);
    const isHanded = words.slice(0, at).some((word) => HANDS_ON.has(nameOf(word)));
    if (deletesListedThings(name, words.slice(at + 1), command, isHanded)) {
      reach.whole.push(DELETES_LISTED);
    }
    reach.things = Math.max(reach.things, countDeletedThings(name, words.slice(at + 1)));
    const removed =
      isContainerProgram(name) && !/compose|kubectl/.test(name) && findRemoved(words.slice(at + 1));
    if (
      removed &&
      words.slice(0, at).every((word) => word.startsWith('-') || PLAIN.has(nameOf(word)))
    ) {
      // Its `rm` removes no files.
      const isListed = removed.length === 0 || (command.hasList && words.includes('', at));
      if (isListed && !isBoundByName(command, isHanded)) reach.whole.push(DELETES_LISTED);
      break;
    }
    const run = runCommandAt(words, at);
    if (run !== undefined) {
      at = run;
      name = nameOf(words[at]);
      continue;
    }
    const ofPackage = packageCommandAt(words, at);
    if (ofPackage !== undefined) {
      readLine(packageLine(words, at, ofPackage), reach, depth + 1);
      at = ofPackage;
      name = packageCommand(words[at]);
      continue;
    }
    if (wrappers === 0 && isUnknown(words[at], command)) {
      at = behindUnknown(words, at);
      name = programOf(words[at]);
      continue;
    }
    if (!WRAPPERS.has(name)) break;
    if (name === 'eval' || name === 'ssh') {
      const from = name === 'ssh' ? afterHost(words, at) : at + 1;
      readLine(words.slice(from).map(asWritten(command)).join(' '), reach, depth + 1);
      return readInputs(name, command, reach, depth);
    }
    if (LINE_TAKERS.has(name) && !hasReadLines) {
      hasReadLines = true;
      const lines = words.slice(at + 1).filter((word) => /\s/.test(word));
      for (const line of lines) readLine(line.replace(BEFORE_LINE, ''), reach, depth + 1);
    }
    // Its own options follow, some with values: the first known command counts.
    const from = innerFrom(words, at);
    const inner = words.findIndex(
      (word, index) => index >= from && !/^[A-Za-z_]\w*=/.test(word) && isKnown(nameOf(word)),
    );
    if (inner < 0) break;
    at = inner;
    name = nameOf(words[at]);
  }
  const isHanded = words.slice(0, at).some((word) => HANDS_ON.has(nameOf(word)));
  readSimple(name, words.slice(at + 1), reach, depth, { ...command, isHanded });
  return readInputs(name, command, reach, depth);
}

function readSimple(
  name: string,
  rest: readonly string[],
  reach: Reading,
  depth: number,
  { isCut = false, hasList = false, isHanded }: ShellCommand & { readonly isHanded: boolean },
): void {
  if (onlyTells([name, ...rest])) return;
  const { options, operands } = splitWords(withoutMessages(name, rest), name);
  const isRecursive = options.some(
    (option) => /^-[a-z]*r/i.test(option) || option === '--recursive' || option === '/s',
  );
  const add = (texts: readonly string[], use: PathUse, more = {}) => {
    for (const text of texts) reach.paths.push({ text, use, ...more });
  };
  const touched = pathsOf(name, options, operands, isRecursive);
  if (DELETES.has(name)) {
    if (OVERWRITES.has(name)) add(operands, 'write');
    add(operands, 'delete', { isRecursive: isRecursive || name === 'rimraf' });
    reach.things = Math.max(reach.things, operands.length);
    const isPrinted = (one: string) => /^(?:$|\$x(?:$|\.))/.test(one);
    const isListed = (isCut && isHanded) || ((isCut || isHanded) && operands.every(isPrinted));
    if (isListed || (hasList && operands.includes(''))) reach.whole.push(DELETES_LISTED);
  } else if (isMailProgram(name)) {
    reach.recipients.push(...readMailOf(name, rest));
    if (isHanded || operands.includes(PRINTED)) reach.whole.push(TO_LISTED);
    add(operands, 'read');
  } else if (name === 'find') {
    const found = readFind(rest, DELETES);
    add(found.deletes, 'delete', { isRecursive: true });
    add(found.writes, 'write');
    for (const words of depth < MAX_DEPTH ? found.runs : []) {
      readCommand({ words, writes: [] }, reach, depth + 1);
    }
  } else if (wipesDisk(name, rest, operands)) reach.whole.push(WIPES_A_DISK);
  else if (FLUSHALL.has(name)) reach.whole.push({ rule: 'sql_without_where', ...FLUSHES });
  else if (name === 'dd') {
    for (const word of rest) {
      if (!word.startsWith('of=')) continue;
      const isDisk = word.startsWith('of=/dev/') && !STREAM.test(word.slice(3));
      if (isDisk) reach.whole.push(WIPES_A_DISK);
      else add([word.slice(3)], 'write');
    }
  } else if (touched !== undefined) for (const path of touched) reach.paths.push(path);
  else if (SHELLS.has(name)) {
    const decoded = POWERSHELLS.has(name) && decodedCommand(rest);
    if (decoded) readLine(decoded, reach, depth + 1);
    const at = rest.findIndex((word) => /^(?:-[a-z]*c|-command|\/c)$/i.test(word));
    if (at >= 0) {
      const line = rest.slice(at + 1).join(name === 'cmd' ? ' ' : '\n');
      // The name of the shell stands before them.
      readLine(line, reach, depth + 1, rest.slice(at + 3));
    } else add(operands, 'read');
  } else {
    const values = options.map(optionValue).filter((value) => value !== '');
    if (name === 'redis-cli') {
      const { texts, things } = readRedis(rest);
      reach.inner.push(...texts);
      reach.things = Math.max(reach.things, things);
    } else if (DATABASES.has(name)) reach.inner.push(...operands, ...values);
    else if (CARRIES_SQL.has(name)) reach.inner.push(...sqlAmong(rest, values));
    if (isInterpreter(name)) readCodeOf(name, rest, reach, depth);
    add(operands.map(withoutAt), 'read');
    add(values, 'read');
  }
}

/** Code may follow an option without a blank, so each word may be some. */
function readCodeOf(name: string, words: readonly string[], reach: Reading, depth: number) {
  if (depth > MAX_DEPTH) reach.whole.push(UNREAD);
  for (const word of depth > MAX_DEPTH ? [] : words) {
    const { lines, argvs, texts, listed, isStore, isUnread } = readCode(name, word);
    for (const text of listed) {
      reach.paths.push({ text, use: 'delete', isRecursive: true, isLater: true });
    }
    reach.inner.push(...texts);
    if (isStore) reach.whole.push(DELETES_A_STORE);
    for (const line of lines) readLine(line, reach, depth + 1);
    for (const argv of argvs) readCommand({ words: argv, writes: [] }, reach, depth + 1);
    if (isUnread) reach.whole.push(UNREAD);
  }
}
