/** Commands that programs run, and files that they write, where their own language says so. */

import { wordSet } from '../word-set.ts';
import { readAnsible } from './ansible.ts';
import { nameOf } from './program-name.ts';
import { readSedScript } from './sed-script.ts';

export interface OptionReach {
  /** For a shell. */
  readonly lines: string[];
  readonly writes: string[];
  /** For a shell, once somebody calls an alias by its name. */
  readonly later: string[];
}

const EDITORS = wordSet('vim vi nvim ex view vimdiff gvim');
const OF_SSH = wordSet('ssh scp sftp');
const PROGRAMS = wordSet('sed gsed tar bsdtar gtar git rsync env zip 7z 7za ansible');

/**
 * What the words of a command run and write.
 *
 * @param isWrapped whether the program may stand behind others
 */
export function readOptionCommands(words: readonly string[], isWrapped: boolean): OptionReach {
  const found: OptionReach = { lines: [], writes: [], later: [] };
  let hasEnv = false;
  for (let at = 0; at < words.length; at++) {
    const name = nameOf(words[at]);
    const isEnv = name === 'env';
    const isOne = EDITORS.has(name) || OF_SSH.has(name) || PROGRAMS.has(name);
    // Once: each reads all words behind it.
    if (isOne && !(isEnv && hasEnv)) readOne(name, words.slice(at + 1), found);
    if (!isWrapped || (isOne && !isEnv)) break;
    hasEnv ||= isEnv;
  }
  return found;
}

function readOne(name: string, rest: readonly string[], found: OptionReach): void {
  if (EDITORS.has(name)) {
    for (const command of editorCommands(rest)) readEditorCommand(command, found);
  } else if (OF_SSH.has(name)) found.lines.push(...sshCommands(rest));
  else if (name.endsWith('sed')) {
    for (const script of sedScripts(rest)) {
      const { lines, writes } = readSedScript(script);
      found.lines.push(...lines);
      found.writes.push(...writes);
    }
  } else if (name.endsWith('tar')) readTar(rest, found);
  else if (name === 'git') found.lines.push(...gitCommands(rest, found.later));
  else if (name === 'rsync') {
    found.lines.push(...valuesOf(rest, /^(?:-[a-zA-Z]*e|--rsh)$/, /^--rsh=/));
    if (rest.includes('--remove-source-files')) found.lines.push(...removal(rest, 0, 1));
  } else if (name === 'zip') {
    if (rest.some((word) => /^(?:-[a-zA-Z]*m[a-zA-Z]*|--move)$/.test(word)))
      found.lines.push(...removal(rest, 1, 0));
  } else if (name.startsWith('7z')) {
    if (rest.includes('-sdel')) found.lines.push(...removal(rest, 2, 0));
  } else if (name === 'ansible') found.lines.push(...ansibleLines(rest));
  else
    found.lines.push(...valuesOf(rest, /^(?:-[iv0]*S|--split-string)$/, /^(?:-S|--split-string=)/));
}

/** What deletes the operands of a program that keeps them elsewhere. */
function removal(rest: readonly string[], from: number, atEnd: number): readonly string[] {
  const operands = rest.filter((word) => !word.startsWith('-'));
  const removed = operands.slice(from, operands.length - atEnd);
  return removed.length > 0 ? [lineOf(['rm', '-r', '--', ...removed])] : [];
}

/** What a module does that ansible calls by itself: `-m file -a 'path=/srv state=absent'`. */
function ansibleLines(rest: readonly string[]): readonly string[] {
  const [module] = valuesOf(rest, /^(?:-m|--module-name)$/, /^--module-name=/);
  const [args] = valuesOf(rest, /^(?:-a|--args)$/, /^--args=/);
  return readAnsible({ module, args }).argvs.map(lineOf);
}

/** The values of an option: in the next word, or behind it in the same. */
function valuesOf(rest: readonly string[], alone: RegExp, joined: RegExp): string[] {
  const found: string[] = [];
  for (const [at, word] of rest.entries()) {
    if (alone.test(word)) found.push(rest[at + 1] ?? '');
    else if (joined.test(word)) found.push(word.replace(joined, ''));
  }
  return found;
}

/** What an editor does at its start: `-c 'w /etc/hosts'`, `+'!make'`. */
function editorCommands(rest: readonly string[]): string[] {
  return valuesOf(rest, /^(?:-[a-zA-Z]*c|--cmd)$/, /^(?:\+|-c(?=.))/);
}

/** Places of a text before a command, which may be a search. */
const EX_RANGE = /^[\s:]*(?:[%\d.,$'<>;+-]+\s*)?/;
const EX_COMMAND =
  /^(?:sil(?:ent)?!?\s+)?(?:(?:(?:w|write)\s+|(?:r|read|ter(?:minal)?)\s*)?!(?!$)(.*)|(?:w|write|wq|x|sav|saveas|up|update)!?\s+(?:>>\s*)?(\S.*)|call\s+system\(\s*["'](.*)["']\s*\))$/s;

function readEditorCommand(command: string, { lines, writes }: OptionReach): void {
  const [, line, file, called] = EX_COMMAND.exec(command.trim().replace(EX_RANGE, '')) ?? [];
  if (line !== undefined) lines.push(line);
  if (called !== undefined) lines.push(called);
  // Several commands are joined by bars.
  if (file !== undefined) writes.push(file.split('|', 1)[0]?.trim() ?? '');
}

const SSH_COMMAND = /^(?:-o)?\s*(?:Proxy|Local|Remote|KnownHosts)Command\s*[= ]\s*(?=.)/i;

function sshCommands(rest: readonly string[]): string[] {
  return rest.filter((word) => SSH_COMMAND.test(word)).map((word) => word.replace(SSH_COMMAND, ''));
}

/** The scripts of sed: without an option for them, the first operand. */
function sedScripts(rest: readonly string[]): string[] {
  const scripts = valuesOf(rest, /^(?:-[nErszu]*e|--expression)$/, /^(?:-e(?=.)|--expression=)/);
  if (scripts.length > 0) return scripts;
  // The ending of copies may be a word of its own: `-i ''`.
  const first = rest.find((word) => word !== '' && !word.startsWith('-'));
  return first === undefined ? [] : [first];
}

const TAR_RUNS = /^--(?:to-command|use-compress-program|info-script|new-volume-script)$/;
const TAR_RUNS_JOINED =
  /^--(?:to-command=|use-compress-program=|info-script=|new-volume-script=|checkpoint-action=exec=)/;
const TAR_MAKES = /^(?:-?[a-zA-Z]*[cru][a-zA-Z]*|--create|--append|--update)$/;

function readTar(rest: readonly string[], { lines, writes }: OptionReach): void {
  lines.push(...valuesOf(rest, TAR_RUNS, TAR_RUNS_JOINED));
  lines.push(...valuesOf(rest, /^(?:-[IF]|--checkpoint-action)$/, /^-[IF](?=.)/).map(withoutExec));
  const isMade = rest.some(
    (word, at) => TAR_MAKES.test(word) && (at === 0 || word.startsWith('-')),
  );
  if (!isMade) return;
  if (rest.includes('--remove-files')) {
    const kept = valuesOf(rest, /^(?:-[a-zA-Z]*[fC]|--file|--directory)$/, /^--file=/);
    lines.push(
      ...removal(
        rest.filter((word) => !kept.includes(word)),
        0,
        0,
      ),
    );
  }
  const [first = ''] = rest;
  // The letters of the first word need no dash: `tar czf file`.
  const isOld = /^[a-zA-Z]{1,12}$/.test(first) && first.endsWith('f');
  if (isOld) writes.push(rest[1] ?? '');
  writes.push(...valuesOf(rest, /^(?:-[a-zA-Z]*f|--file)$/, /^--file=/));
}

const withoutExec = (action: string): string => action.replace(/^exec=/, '');

/** Settings whose value is a command, where a line of words is one. */
const IS_SETTING = /^[a-z][\w-]{0,60}(?:\.[\w.-]{1,100})?\.[\w-]{1,60}$/i;

/** Commands in settings (`-c core.sshCommand=…`), and those that git repeats. */
function gitCommands(rest: readonly string[], later: string[]): string[] {
  const found: string[] = [];
  const repeated = rest.findIndex((word, at) => REPEATS.has(`${rest[at - 1]} ${word}`));
  if (repeated > 0) found.push(lineOf(rest.slice(repeated + 1)));
  const config = rest.indexOf('config');
  const setting = rest.findIndex((word, at) => at > config && IS_SETTING.test(word));
  if (config >= 0 && config < MAX_BEFORE) {
    const isAlias = /^alias\./i.test(rest[setting] ?? '');
    (isAlias ? later : found).push(asCommand(rest[setting + 1] ?? ''));
  }
  for (const [at, word] of rest.entries()) {
    const before = rest[at - 1] ?? '';
    const equals = word.indexOf('=');
    if (before === '-c' && equals > 0) found.push(asCommand(word.slice(equals + 1)));
    else if (word.startsWith('--exec=')) found.push(word.slice('--exec='.length));
    else if (before === '-x' || before === '--exec') found.push(word);
  }
  return found.filter((line) => /\s/.test(line));
}

/** Words as a line: one alone is a line itself. */
function lineOf(words: readonly string[]): string {
  const from = words.findIndex((word) => !word.startsWith('-'));
  const [first = '', ...others] = from < 0 ? [] : words.slice(from);
  return others.length === 0 ? first : [first, ...others].map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /\s/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word;

const REPEATS = new Set(['submodule foreach', 'bisect run']);
/** Words before the command of git, at most. */
const MAX_BEFORE = 4;

const asCommand = (value: string): string => value.replace(/^!/, '');

/** Variables of the environment whose value programs run as a command. */
const RUNS =
  /^[A-Z_]{0,40}(?:COMMAND|PAGER|EDITOR|LESSOPEN|LESSCLOSE|VISUAL|BROWSER|SSH)=(?=.*\s)/s;

/** The command in an assignment before a program: `GIT_SSH_COMMAND='…' git fetch`. */
export function commandInAssignment(word: string): string | undefined {
  return RUNS.test(word) ? word.slice(word.indexOf('=') + 1) : undefined;
}

/** The jobs of a table for cron, without their times. */
export function jobsOf(table: string): string {
  return table
    .split('\n')
    .map((line) => line.replace(/^\s*(?:@[a-z]+|(?:[\w*/,-]+[ \t]+){4}[\w*/,-]+)[ \t]+/i, ''))
    .join('\n');
}
