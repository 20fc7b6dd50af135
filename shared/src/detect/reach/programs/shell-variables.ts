/**
 * What the variables of a command line hold, as far as the line itself says so: assignments, loops
 * over words, arrays. A variable that only the run shows stays as it is written.
 */
import { isPerhapsEmpty } from '../perhaps-empty.ts';
import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';

export interface Variable {
  /** All that it may hold. */
  readonly values: readonly string[];
  /** Whether it holds all of them one after another: an array, `$@`. */
  readonly isList: boolean;
  /** Whether it holds what another command lists. */
  readonly isListed: boolean;
}

/** Stands for what a substitution prints, beside other text of its word. */
export const PRINTED = '$x';
export const LISTED: Variable = { values: [PRINTED], isList: false, isListed: true };

/** Characters that variables of one call may add to its command lines. */
const EXPANSION_EFFORT = 128 * 1024;

/** A reference: its name, an index, and what asks for a default or a part. */
const REFERENCE =
  /\$(?:(?:(?:env|global|local|script):)?([A-Za-z_]\w*|[@*1-9])|\{(?:env:)?([A-Za-z_]\w*|[@*1-9])(?:\[[@*\w]{1,9}\])?(?:\}|(:?[-=+?]|[%#/^,:@])))/y;
export const ARRAY = /^[A-Za-z_]\w{0,99}\+?=$/;
export const IS_ASSIGNED = /^[ \t]*=(?!=)|^[ \t]+in\b/i;
/** What follows a variable and asks whether it is empty. */
export const DEFAULTS = new Set(['-', '=', '?', '+']);
/** What follows an unknown variable, and is understood without it. */
export const KNOWN_WITHOUT = new Set(['-', '=', '?', '%', '#', '/', '^', ',', ':', '@']);
/** Of Windows. */
const PERCENT = /%([A-Za-z_]\w{0,99})%/y;

export interface Reference {
  readonly name: string;
  /** Behind it; within its braces where something follows the name. */
  readonly end: number;
  /** `-`, `+` or what else follows the name. */
  readonly sign: string;
  /** Whether the line ends where it is empty: `${D:?}`. */
  readonly isRequired: boolean;
}

/** The reference to a variable that begins at a place of a line. */
export function readReference(line: string, at: number): Reference | undefined {
  const expression = line[at] === '%' ? PERCENT : REFERENCE;
  expression.lastIndex = at;
  const [all, bare, braced, sign = ''] = expression.exec(line) ?? [];
  const name = bare ?? braced;
  if (all === undefined || name === undefined) return undefined;
  const isRequired = sign === ':?';
  return { name, end: at + all.length, sign: sign.replace(':', '') || sign, isRequired };
}

/** What a reference may stand for. */
export function heldAt({ isRequired }: Reference, held: Variable | undefined): typeof held {
  const values = isRequired ? held?.values.filter((value) => !isPerhapsEmpty(value)) : undefined;
  return held && values?.length ? { ...held, values } : held;
}

/** Of the shell itself: path rules know a home. */
const KEPT = wordSet('HOME IFS PATH');
const HOME: Variable = { values: ['$HOME'], isList: false, isListed: false };

/** The variables of one line, and what they may still add to it. */
export class ShellVariables {
  readonly effort: { left: number };
  readonly #known: Map<string, Variable>;

  /** @param outer those of the line around it */
  constructor(outer?: ShellVariables, args?: readonly string[]) {
    this.effort = outer?.effort ?? { left: EXPANSION_EFFORT };
    this.#known = new Map(outer ? outer.#copied() : []);
    if (args) this.setArguments(args);
  }

  /** Copying them counts as well, since lines within lines have all of them. */
  #copied(): Iterable<[string, Variable]> {
    this.effort.left -= this.#known.size;
    return this.effort.left < 0 ? [] : this.#known;
  }

  get(name: string): Variable | undefined {
    return name === 'HOME' ? HOME : this.#known.get(name);
  }

  /** @param isOneOfTwo whether it may also keep what it held */
  set(name: string, values: readonly string[], isList = false, isOneOfTwo = false): void {
    if (KEPT.has(name)) return;
    const before = isOneOfTwo ? (this.#known.get(name)?.values ?? [`$${name}`]) : undefined;
    this.effort.left -= values.length + (before?.length ?? 0);
    if (this.effort.left < 0) return;
    const all = before ? [...new Set([...before, ...values])] : values;
    this.#known.set(name, { values: all, isList, isListed: false });
  }

  append(name: string, text: string): void {
    const before = this.#known.get(name)?.values ?? [`$${name}`];
    for (const one of before) this.effort.left -= one.length + text.length;
    if (this.effort.left < 0) return;
    this.#known.set(name, {
      values: before.map((one) => one + text),
      isList: false,
      isListed: false,
    });
  }

  /** Ends the scope of a local one; functions that were called in it have seen what it held. */
  leave(name: string, before: Variable | undefined): void {
    const now = this.#known.get(name);
    if (now?.isListed) return;
    if (before === undefined) this.#known.delete(name);
    else this.#known.set(name, before);
    if (now) this.set(name, now.values, now.isList, true);
  }

  setListed(name: string): void {
    this.#known.set(name, LISTED);
  }

  forget(name: string): void {
    this.#known.delete(name);
  }

  forgetAll(): void {
    this.#known.clear();
  }

  setArguments(args: readonly string[]): void {
    if (args.length === 0) return;
    this.set('@', args, true);
    this.set('*', args, true);
    for (let at = 1; at <= 9; at++) {
      const value = args[at - 1];
      if (value === undefined) this.forget(String(at));
      else this.set(String(at), [value]);
    }
  }
}

const KEYWORDS = wordSet('then do else if elif while until ! { time');
const LOOPS = wordSet('while until');
const DECLARES = wordSet('export declare local readonly typeset set setenv');
const SHELLS = wordSet('sh bash zsh dash ksh ash');
const FORGETS = wordSet('unset getopts let printf');
/** They may assign whatever they like. */
const RUNS_HERE = wordSet('eval source .');
const ASSIGNMENT = /^([A-Za-z_]\w*)(\[[^\]]{0,99}\])?(\+?)=/;
const NAME = /^[A-Za-z_]\w*$/;
/** Of PowerShell. */
const OF_POWERSHELL = /^\$(?:[a-z]{1,9}:)?([A-Za-z_]\w*)(=?)/i;
/** Options of `read` whose value is the next word. */
const READ_VALUE = /^-[a-zA-Z]*[adinNptu]$/;

/** Whether the program of a command is its next word. */
export const startsCommand = (words: readonly string[]): boolean =>
  words.every((word) => KEYWORDS.has(word) || ASSIGNMENT.test(word));

/** What stands around a command. */
export interface Around {
  /** Whether it may be left out: in a branch, or behind `&&`. */
  readonly isOptional: boolean;
  readonly isPiped: boolean;
  /** Whether a substitution in it lists things. */
  readonly hasList: boolean;
  /** In the body of a function: notes what a variable held that is local from here on. */
  readonly keep?: ((name: string, before: Variable | undefined) => void) | undefined;
}

/** Follows what a command does with variables. */
export function followVariables(
  words: readonly string[],
  variables: ShellVariables,
  around: Around,
): void {
  let at = 0;
  while (KEYWORDS.has(words[at] ?? '')) at++;
  const isLoop = words.slice(0, at).some((word) => LOOPS.has(word));
  let from = at;
  while (ASSIGNMENT.test(words[from] ?? '')) from++;
  const command = words[from];
  if (command === undefined || SHELLS.has(nameOf(command))) {
    assignAll(words.slice(at, from), variables, around);
  }
  if (command === undefined) return;
  const rest = words.slice(from + 1);
  if (command.startsWith('$')) assignInPowerShell(command, rest, variables, around);
  else if (DECLARES.has(command)) declare(command, rest, variables, around);
  else if (command === 'for' || command === 'select') {
    const [name = '', isIn, ...values] = rest;
    if (isIn === 'in') loopOver(name, values, variables);
  } else if (command === 'read') {
    for (const name of namesIn(rest)) {
      if (isLoop || around.isPiped) variables.setListed(name);
      else variables.forget(name);
    }
  } else if (command === 'mapfile' || command === 'readarray') {
    for (const name of rest) if (NAME.test(name)) variables.setListed(name);
  } else if (RUNS_HERE.has(command)) variables.forgetAll();
  else if (FORGETS.has(command)) for (const name of rest) variables.forget(name);
}

function loopOver(name: string, values: readonly string[], variables: ShellVariables): void {
  if (values.some((one) => one === '' || one === PRINTED)) variables.setListed(name);
  else variables.set(name, values);
}

/** The names behind the options of `read`. */
function namesIn(rest: readonly string[]): readonly string[] {
  return rest.filter((word, at) => {
    const before = rest[at - 1] ?? '';
    return NAME.test(word) && (!READ_VALUE.test(before) || before.endsWith('a'));
  });
}

function declare(
  command: string,
  rest: readonly string[],
  variables: ShellVariables,
  around: Around,
): void {
  const assigned = rest.filter((word) => ASSIGNMENT.test(word));
  const keep = command === 'local' ? around.keep : undefined;
  for (const word of keep ? assigned : []) {
    const name = ASSIGNMENT.exec(word)?.[1] ?? '';
    keep?.(name, variables.get(name));
  }
  assignAll(assigned, variables, keep ? { ...around, isOptional: false } : around);
  const over = command === 'set' ? rest.indexOf('--') : -1;
  if (over >= 0) variables.setArguments(rest.slice(over + 1));
  // Of fish and csh: `set name value`.
  const plain = rest.filter((word) => !word.startsWith('-'));
  const [name = '', ...values] = plain;
  const isPlain = command.startsWith('set') && over < 0 && assigned.length === 0;
  if (isPlain && NAME.test(name) && values.length > 0) variables.set(name, values, true);
}

function assignAll(words: readonly string[], variables: ShellVariables, around: Around): void {
  const names = new Set<string>();
  for (const word of fewer(words, variables)) {
    const [all = '', name = '', index, plus] = ASSIGNMENT.exec(word) ?? [];
    const value = word.slice(all.length);
    // Twice where it may be one of several values.
    const isOneOfTwo = around.isOptional || names.has(name) || index !== undefined;
    names.add(name);
    if (value === PRINTED && around.hasList) variables.setListed(name);
    else if (value.startsWith(PRINTED)) variables.forget(name);
    else if (plus) variables.append(name, value);
    else variables.set(name, [value], index !== undefined, isOneOfTwo);
  }
}

/** Values of one variable of which each is made longer. */
const MAX_LENGTHENED = 8;

/**
 * Where options are collected one by one (`args="$args --quiet"`), each doubles what the variable
 * may hold: of many values, the shortest and the longest are made longer, and all are kept.
 */
function fewer(words: readonly string[], variables: ShellVariables): readonly string[] {
  if (words.length <= MAX_LENGTHENED) return words;
  const [, name = ''] = ASSIGNMENT.exec(words[0] as string) ?? [];
  const before = variables.get(name)?.values ?? [];
  const areLonger =
    before.length === words.length &&
    words.every((word, at) => word.startsWith(name) && word.includes(before[at] as string));
  if (!areLonger) return words;
  const ordered = words.toSorted((one, other) => one.length - other.length);
  return [ordered[0] as string, ordered.at(-1) as string];
}

/** `$p = 'C:\'`, and `$d in 'C:\', 'D:\'` of a loop. */
function assignInPowerShell(
  first: string,
  rest: readonly string[],
  variables: ShellVariables,
  around: Around,
): void {
  const [all = '', name = '', joined] = OF_POWERSHELL.exec(first) ?? [];
  const isLoop = rest[0] === 'in';
  if (name === '' || !(joined || rest[0] === '=' || isLoop)) return;
  const words = joined ? [first.slice(all.length), ...rest] : rest.slice(1);
  const isOneValue = words.every((word, at) => at === words.length - 1 || word.endsWith(','));
  const values = words.flatMap((word) => word.split(',')).filter((one) => one !== '');
  // Otherwise it is what a command gives.
  if (words.length > 1 && LISTERS.has(nameOf(words[0])) && !isLoop) variables.setListed(name);
  else if (isOneValue && values.length > 0) variables.set(name, values, true, around.isOptional);
  else variables.forget(name);
}

const LISTERS = wordSet('find ls cat cut getent fd locate gci get-childitem');
const LISTS = /^(?:ls|list|ps|images|get|search|for-each-ref|(?:describe|list|ls)-[a-z-]{1,60})$/;
const PICKS_ONE = wordSet('head tail');
const FIRST = /items\[0\]|\.\[0\]/;

/** Whether what a substitution prints is a list of things, as far as its last command goes. */
export function listsThings(words: readonly string[], before: boolean): boolean {
  const name = nameOf(words[0]);
  if (PICKS_ONE.has(name) || words.some((word) => FIRST.test(word))) return false;
  return before || LISTERS.has(name) || words.some((word, at) => at > 0 && LISTS.test(word));
}
