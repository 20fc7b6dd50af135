/**
 * A command line as simple commands, each a list of words. Substitutions count as commands of their
 * own: their text runs too. It is not a shell, and leaves what it cannot know (variables that the
 * line does not set) unchanged. Linear: one pass, three where the line calls functions of its own.
 */
import { decodeEscapes, escapedEnd } from '../backslash-escapes.ts';
import { isPerhapsEmpty, settlePerhaps } from '../perhaps-empty.ts';
import { HereDocuments } from './here-documents.ts';
import { listsByName } from './listed-things.ts';
import { textOf } from './printed-text.ts';
import {
  BLANKS,
  blankEnd,
  closeBrace,
  cutBraces,
  type Frame,
  fillHoles,
  frame,
  type ShellCommand,
  takeText,
} from './shell-frame.ts';
import { ShellFunctions } from './shell-functions.ts';
import { mayDelete } from './shell-programs.ts';
import {
  ARRAY,
  DEFAULTS,
  followVariables,
  heldAt,
  IS_ASSIGNED,
  KNOWN_WITHOUT,
  listsThings,
  PRINTED,
  readReference,
  ShellVariables,
  startsCommand,
  type Variable,
} from './shell-variables.ts';

const SEPARATORS = new Set([';', '|', '&', '\n', '(', ')']);
const MAX_BRACES = 20;
const NOTHING: ShellCommand = { words: [], writes: [] };

export interface ShellLine {
  readonly commands: readonly ShellCommand[];
  /** What holds behind it, and in lines within it. */
  readonly variables: ShellVariables;
}

/** @param outer variables of the line around it */
export function readShellCommands(line: string, outer: ShellVariables): ShellLine {
  const functions = new ShellFunctions(line);
  let read = readOnce(line, outer, functions);
  // Their arguments are known once their calls are read.
  while (functions.takeCalls()) read = readOnce(line, outer, functions);
  return read;
}

function readOnce(line: string, outer: ShellVariables, functions: ShellFunctions): ShellLine {
  const variables = new ShellVariables(outer);
  const reader = new LineReader(line, variables, functions);
  reader.read();
  // No shell runs such a line: whoever wrote it understood its quotes otherwise.
  if (reader.openAt !== undefined) {
    const rest = line.slice(reader.openAt).replace(/["']/g, ' ');
    new LineReader(rest, variables, functions, reader.commands).read();
  }
  return { commands: reader.commands.filter((command) => command !== NOTHING), variables };
}

class LineReader {
  readonly commands: ShellCommand[];
  /** Where a quote begins that does not end. */
  openAt: number | undefined;
  readonly #line: string;
  readonly #isWindows: boolean;
  readonly #documents: HereDocuments;
  /** Those around the current one. */
  readonly #outer: Frame[] = [];
  #now = frame('');
  /** Substitutions in backticks around the current command. */
  #backticks = 0;
  readonly #variables: ShellVariables;
  readonly #functions: ShellFunctions;

  constructor(
    line: string,
    variables: ShellVariables,
    functions: ShellFunctions,
    commands: ShellCommand[] = [],
  ) {
    this.commands = commands;
    this.#line = line;
    this.#variables = variables;
    this.#functions = functions;
    this.#isWindows =
      /(?:^|[\s"'=])[a-z]:\\|\$env:[a-z]{1,40}\\|^[ \t]*(?:del|erase|rd|remove-item|ri)\s/im.test(
        line,
      );
    this.#documents = new HereDocuments(line);
  }

  read(): void {
    const line = this.#line;
    for (let at = 0; at < line.length; at = this.#sign(at) + 1);
    for (;;) {
      if (this.#now.quote !== '') this.openAt = this.#now.quoteAt;
      this.#endCommand();
      // Without an end it is no array.
      this.#endArray();
      const around = this.#outer.pop();
      if (around === undefined) return;
      this.#now = around;
      around.isCut = true;
    }
  }

  /** @returns where the last sign stands that was read */
  #sign(at: number): number {
    const line = this.#line;
    const now = this.#now;
    const sign = line[at] as string;
    const next = line[at + 1];
    if (now.quote === "'") {
      if (sign === "'") now.quote = '';
      else this.#take(sign);
    } else if (sign === '\\' && !this.#isWindows) {
      // At the end of a line it joins two lines; in double quotes it stands before a few signs only.
      const isKept = now.quote === '"' && next !== undefined && !'$`"\\\n'.includes(next);
      if (next !== '\n') this.#take(isKept ? sign + next : (next ?? ''));
      return at + 1;
    } else if (sign === '$' && next === '(') {
      this.#enter(')');
      return at + 1;
    } else if (sign === '`') {
      if (this.#backticks > 0) this.#leave('`');
      else this.#enter('`');
    } else if ((sign === '$' || sign === '%') && this.#expand(at)) {
      return this.#expandedTo;
    } else if (sign === '}' && now.braces.length > 0) closeBrace(now);
    else if (now.quote === '"') {
      if (sign === '"') now.quote = '';
      else this.#take(sign);
    } else if (sign === '$' && next === "'") {
      const end = escapedEnd(line, at + 2);
      // In C a text ends at a zero.
      this.#take(decodeEscapes(line.slice(at + 2, end)).split('\0', 1)[0] as string);
      return end;
    } else if (sign === "'" || sign === '"' || (sign === '$' && next === '"')) {
      // `$"…"` is translated, and otherwise the same.
      now.quote = sign === "'" ? "'" : '"';
      now.quoteAt = at;
      this.#take('');
      return sign === '$' ? at + 1 : at;
    } else if (sign === '$' && blankEnd(line, at) > 0) {
      this.#endWord();
      return blankEnd(line, at) - 1;
    } else if (sign === '#' && now.word === null) {
      const end = line.indexOf('\n', at);
      return end < 0 ? line.length : end - 1;
    } else if (sign === '>' || sign === '<') return this.#redirect(at);
    else if (sign === '&' && next === '>') this.#endWord();
    else if (SEPARATORS.has(sign)) return this.#separate(at);
    else if (sign <= ' ') this.#endWord();
    else this.#take(sign);
    return at;
  }

  #redirect(at: number): number {
    const now = this.#now;
    const line = this.#line;
    // `2>` and `&>`: the number is not a word.
    if (now.word !== null && /^[0-9]$/.test(now.word)) now.word = null;
    this.#endWord();
    if (line.startsWith('<<<', at)) {
      now.target = 'input';
      return at + 2;
    }
    if (line.startsWith('<<', at)) {
      const end = this.#documents.announce(at, now);
      if (end !== undefined) return end;
    }
    now.target = line[at] === '>' ? 'file' : 'source';
    const next = line[at + 1];
    return next === '>' || next === '|' ? at + 1 : at;
  }

  #separate(at: number): number {
    const line = this.#line;
    const sign = line[at] as string;
    const { end, open, cases, array } = this.#now;
    if (sign === '(') {
      const { word, words } = this.#now;
      const behind = this.#functions.define(at, words, word);
      if (behind !== undefined) {
        this.#now.word = null;
        words.length = 0;
        return behind;
      }
      if (word !== null && ARRAY.test(word)) {
        this.#now.word = null;
        this.#enter(')');
        this.#now.array = { name: word, items: [] };
        return at;
      }
    }
    this.#endCommand();
    if (array !== undefined && sign !== ')' && sign !== '\n') this.#endArray();
    if (sign === '(') this.#now.open++;
    else if (sign === ')') {
      if (open > 0) this.#now.open--;
      else if (end === ')' && cases === 0) this.#leave(')');
    }
    this.#now.isPiped = sign === '|' && line[at - 1] !== '|' && line[at + 1] !== '|';
    this.#now.isAfter = sign === '&' && line[at - 1] === '&';
    this.#now.isOptional = this.#now.isAfter || (sign === '|' && line[at - 1] === '|');
    return sign === '\n' ? this.#documents.skip(at) : at;
  }

  #enter(end: ')' | '`'): void {
    if (end === '`') this.#backticks++;
    this.#now.place ??= this.commands.push(NOTHING) - 1;
    this.#outer.push(this.#now);
    this.#now = frame(end);
  }

  /** Ends a substitution, with those within it that have no end. */
  #leave(end: ')' | '`'): void {
    for (let isDone = false; !isDone; ) {
      this.#endCommand();
      const { array, isList, last, count } = this.#now;
      isDone = this.#now.end === end;
      if (this.#now.end === '`') this.#backticks--;
      this.#now = this.#outer.pop() ?? frame('');
      const now = this.#now;
      if (array !== undefined) {
        const isAdded = array.name.includes('+') || this.#isOptional();
        this.#variables.set(array.name.replace(/\+?=$/, ''), array.items, true, isAdded);
        continue;
      }
      now.isCut = true;
      now.cuts++;
      if (last !== undefined && listsByName(last.words)) now.namedCuts++;
      const printed = count === 1 ? textOf(last, this.#variables.effort) : undefined;
      if (printed !== undefined) {
        this.#insert({ values: [printed], isList: false, isListed: false });
        continue;
      }
      if (isList) now.hasList = true;
      if (now.word === null || now.word === '') {
        now.word = '';
        now.isPrinted = true;
      } else this.#take(PRINTED);
    }
  }

  /** What was read as the items of an array is read as a command. */
  #endArray(): void {
    const { array, end } = this.#now;
    if (array === undefined) return;
    this.#now = frame(end);
    this.#now.words = array.items;
    this.#endCommand();
  }

  /** Behind the reference that was expanded last. */
  #expandedTo = 0;

  /** @returns false where the reference stays as it is written */
  #expand(at: number): boolean {
    const now = this.#now;
    const reference = readReference(this.#line, at);
    if (reference === undefined || now.braces.length > MAX_BRACES) return false;
    const { name, sign, end } = reference;
    if (name === 'IFS') return false;
    const isFirst = now.words.length === 0 && now.word === null;
    // Of PowerShell.
    if (isFirst && sign === '' && IS_ASSIGNED.test(this.#line.slice(end, end + 9))) return false;
    const held = this.#functions.argument(name) ?? this.#variables.get(name);
    const found = heldAt(reference, held);
    const isEmpty = found?.values.every(isPerhapsEmpty) === true;
    // An empty one has its default.
    const variable = isEmpty && DEFAULTS.has(sign) ? undefined : found;
    if (variable === undefined && !KNOWN_WITHOUT.has(sign)) return false;
    // An empty word would let the next one take its place.
    const isAlone =
      now.word === null && now.quote === '' && /^(?:$|[\s;|&)])/.test(this.#line[end] ?? '');
    if (isAlone && isEmpty) return false;
    this.#expandedTo = end - 1;
    const hasDefault = sign === '-' || sign === '=';
    // Whatever it holds, the message or the pattern that follows is no part of it.
    if (variable === undefined && sign !== '+' && !hasDefault) this.#take(`$${name}`);
    if (sign === '+') now.braces.push({ before: undefined });
    else {
      if (variable !== undefined) this.#insert(variable);
      const before = variable === undefined && hasDefault ? undefined : now.word;
      const isOpen = before === undefined && !held?.values.every((value) => value === '');
      const defaultAt = isOpen ? (now.word?.length ?? 0) : undefined;
      if (sign !== '') now.braces.push({ before, defaultAt });
    }
    return true;
  }

  #insert(variable: Variable): void {
    const now = this.#now;
    const { values } = variable;
    const isQuoted = now.quote !== '';
    if (variable.isListed) {
      this.#take(PRINTED);
      now.isCut = true;
      return;
    }
    const [value = ''] = values;
    this.#variables.effort.left -= value.length + values.length;
    if (this.#variables.effort.left < 0 || (value === '' && !isQuoted)) return;
    if (values.length <= 1 && (isQuoted || !BLANKS.test(value))) {
      this.#take(value);
      return;
    }
    this.#take(now.isPrinted ? PRINTED : '');
    const at = now.word?.length ?? 0;
    now.holes.push({ at, values, isQuoted, isList: variable.isList });
  }

  #take(text: string): void {
    takeText(this.#now, text);
  }

  #endWord(): void {
    const now = this.#now;
    cutBraces(now);
    const { word, target, holes } = now;
    if (word === null) return;
    const filled = holes.length > 0 ? fillHoles(word, holes, this.#variables.effort) : [word];
    const isKept = () => target === 'word' && (now.array !== undefined || mayDelete(now.words));
    const texts = settlePerhaps(filled, isKept);
    if (target === 'file') {
      if (!now.isPrinted) now.writes.push(...texts);
    } else if (target === 'source') now.reads.push(...texts);
    else if (target === 'input') now.inputs.push(...texts);
    else {
      if (word === 'case' && now.words.length === 0) now.cases++;
      if (word === 'esac' && now.words.length === 0 && now.cases > 0) now.cases--;
      if (holes.some(({ isList }) => !isList)) {
        this.#variables.effort.left -= now.words.length;
        const from = now.words.length;
        const isOneOf = holes.some(({ values }) => values.length > 1);
        if (isOneOf && startsCommand(now.words)) now.firsts = { from, count: texts.length };
        now.singles ??= [...now.words];
        now.singles.push(texts[0] ?? '');
      } else now.singles?.push(...texts);
      for (const text of texts) now.words.push(text);
      if (now.array === undefined) this.#functions.follow(now.words, this.#variables);
    }
    now.target = 'word';
    now.word = null;
    now.isPrinted = false;
    now.holes = [];
  }

  #isOptional(blocks = this.#functions.blocks): boolean {
    const { isOptional, isPiped, open, cases } = this.#now;
    const isInside = this.#outer.length > 0 || open > 0 || cases > 0 || blocks > 0;
    return isOptional || isPiped || isInside;
  }

  #endCommand(): void {
    this.#endWord();
    const { place, words, writes, firsts, singles, ...rest } = this.#now;
    const { end, open, cases, array } = rest;
    if (array !== undefined) {
      for (const word of words) array.items.push(word);
      this.#now = { ...frame(end), open, cases, array };
      return;
    }
    const { inputs, documents, reads, isCut, isPiped, isAfter, hasList, cuts, namedCuts } = rest;
    let { isList, last, count } = rest;
    if (words.length > 0 || writes.length > 0 || reads.length > 0) {
      const around = { isCut, hasList, isPiped, isAfter };
      const isNamed = cuts > 0 && namedCuts === cuts;
      const command = { words, writes, reads, inputs, documents, isNamed, ...around };
      last = command;
      count++;
      this.commands[place ?? this.commands.length] = command;
      // A host or a user is one at a time.
      if (singles !== undefined) this.commands.push({ ...command, words: singles });
      for (let at = 1; at < (firsts?.count ?? 0); at++) {
        this.#variables.effort.left -= words.length;
        if (this.#variables.effort.left < 0) break;
        this.commands.push({ ...command, words: words.slice((firsts?.from ?? 0) + at) });
      }
      const functions = this.#functions;
      const isLocal = functions.isBody && !this.#isOptional(0);
      const keep = isLocal ? functions.keep.bind(functions) : undefined;
      followVariables(words, this.#variables, { isOptional: this.#isOptional(), keep, ...around });
      functions.call(words);
      isList = listsThings(words, isList && isPiped) || words.length + writes.length === 0;
    }
    this.#now = { ...frame(end), open, cases, isList, last, count };
  }
}
