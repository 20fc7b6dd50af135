/**
 * What code does that an interpreter is given (`python -c`, `node -e`, awk's program), as far as
 * literals show it: the commands of a shell that it runs, or that would do the same. It is searched
 * for calls and not parsed, since each language has its own texts and comments.
 */
import { decodeEscapes } from '../backslash-escapes.ts';
import { CLIENTS, EFFECTS, type Effect, FILES, OF_FILES } from './code-effects.ts';

export interface CodeCommands {
  readonly lines: string[];
  /** Commands whose words are known each by itself. */
  readonly argvs: string[][];
  /** Texts for databases. */
  readonly texts: string[];
  /** Whether it deletes a whole store through a library. */
  isStore?: true;
  /** Places of which it lists what is there, and deletes whatever it finds. */
  readonly listed: string[];
  /** Set where it is too tangled to be read. */
  isUnread?: true;
}

const INTERPRETER =
  /^(?:python|pythonw|pypy|py|perl|ruby|php|node|nodejs|deno|bun|tsx|ts-node|lua|luajit|rscript|[gmn]?awk)[\d.]*$/;
/** Those in which backticks are a command; elsewhere they are a text. */
const RUNS_BACKTICKS = /^(?:perl|ruby|php)/;

export const isInterpreter = (name: string): boolean => INTERPRETER.test(name);

/** A call, whose parentheses may be left out before a text. */
const CALL =
  /(?:\b([A-Za-z]\w*)[ \t]*(?:\.|::)[ \t]*)?\b([A-Za-z]\w*)(?:[ \t]*\(|[ \t]+(?=["'`]|glob\b))/g;
/** Perl's and Ruby's other way to write backticks. */
const QX = /(?:\bqx|%x)[ \t]*([^\w\s])/g;
/** zx's and Bun's shell. */
const TAGGED = /\$`/g;
/** How awk passes a text to a shell, and takes one from it. */
const PIPED = /\|&?[ \t]*(?=")/g;
const READ_FROM = /"((?:[^"\\\n]|\\.){1,300})"[ \t]*\|&?[ \t]*getline\b/g;

/** What may stand before a literal: brackets, handles of files, names of arguments, prefixes. */
const BEFORE =
  /(?:[\s,[\](){}*]|(?:Dir\.|glob\.)?i?glob(?=[\s(])|(?:os\.path\.)?(?:expanduser|abspath|realpath|normpath|expandvars|fspath|str|text|Path)(?=\()|Dir(?=\[)|(?:args|argv|cmd|command|mode|path|file)\s{0,9}[:=]|(?:my\s{0,9})?\$\w{1,40}\s{0,9},|[A-Z]{1,20}\s{0,9},|(?:os\.)?P_[A-Z]{1,20}\s{0,9},|[rbfuRBFU]{1,2}(?=["']))*/y;
/** What a literal is followed by where it is a name, or a part of a text. */
const IS_NAME = /\s{0,99}(?::|=>)/y;
const JOINS = /\s{0,99}(?:\+|\.(?=[\s"'$])|%(?=\s)|\)?\s{0,9}\/(?=\s{0,9}[\w"']))\s{0,99}/y;
/** Stands for what only the run shows. */
const UNKNOWN = '$x';

/** What gives the folder of whoever runs the code. */
const HOME =
  /(?:require\(["'](?:node:)?os["']\)\.|os\.)?homedir\(\)|Path\.home\(\)|process\.env\.HOME\b|os\.environ\[["']HOME["']\]|os\.getenv\(["']HOME["']\)|Dir\.home\b|ENV\[["']HOME["']\]/y;
const JOIN = /(?:os\.path\.|path\.|posixpath\.|File\.)(?:join|resolve)\(/y;
const NAME = /[$@]?([A-Za-z_]\w{0,60})(?![\w(.[]|\s{0,9}[=:])/y;
const ASSIGNS = /[$@]?\b([A-Za-z_]\w{0,60})\s{0,9}([:+.]?)=(?![=>~])/g;
const IN_TEXT =
  /\$?\{\s{0,9}(?:((?:os\.)?homedir\(\)|process\.env\.HOME)|([A-Za-z_]\w{0,60}))\s{0,9}\}/g;
/** Names with a known value, at most. */
const MAX_NAMES = 200;

/** Calls of libraries for clouds and databases that delete a whole store. */
const DELETES_STORE =
  /\.\s{0,9}(?:delete_?(?:bucket|table|db_?instance|db_?cluster|stack|cluster|repository|repo|database|volume|file_?system|log_?group|user_?pool|hosted_?zone|namespace|collection|index|keyspace|dataset|project)|drop_?(?:database|collection)|(?:objects|object_versions)\.all\(\)\.delete|flush_?(?:all|db))\(|\bget_repo\([^()\n]{0,200}\)\.delete\(|\brepos\.delete\(|\bDelete(?:Bucket|Table|DBInstance|DBCluster|Stack|Cluster|Repository|Volume)Command\(/i;

const IS_RECURSIVE = /[^;\n]{0,120}?\brecursive["']?\s{0,9}(?::|=>|=)\s{0,9}(?:true|TRUE|!0)/y;
const OF_PATH =
  /\s{0,99}\)\s{0,99}\.\s{0,99}(?:(unlink|rmdir|rmtree|delete)|(write_text|write_bytes|write|touch|open\(\s{0,9}["'][rbt]{0,2}[wax+]))/y;
const LISTS_PATH = /\s{0,99}\)\s{0,99}\.\s{0,99}(?:rglob|glob|iterdir|walk|children|each_child)\b/y;
/** Functions that are handed on delete each of a list: `array_map('unlink', …)`. */
const HANDED =
  /\b(?:array_map|map|forEach|each|apply)[\s(&:"']{1,9}(?:os\.|fs\.|File\.)?(?:unlink|remove|unlinkSync|rmSync|rmtree)\b/;
const FROM_A_ROOT = /^(?:[/~]|[a-z]:[\\/])/i;
const WRITING = /^[rbt]{0,2}[wax+]/;

const OPENS = /(?:\bqq?|%[qQ])([({[<])/y;
const MAX_JOINS = 4;
/** Literals of one call, at most. */
const MAX_TEXTS = 64;
const PAIRS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' };

/** @param name of the interpreter, in lower case */
export function readCode(name: string, code: string): CodeCommands {
  return new CodeReader(code).read(name);
}

/** What a name holds from a place on; undefined where only the run shows it. */
interface Assigned {
  readonly at: number;
  readonly name: string;
  readonly value: string | undefined;
}

class CodeReader {
  readonly #code: string;
  readonly #found: CodeCommands = { lines: [], argvs: [], texts: [], listed: [] };
  /** Whether it deletes what only the run shows. */
  #deletesUnknown = false;
  readonly #places: string[] = [];
  /** Calls that join parts of a path, within one another. */
  #depth = 0;
  readonly #known = new Map<string, string>();
  /** Each literal is read once, and again where a call stands within it. */
  #effort: number;

  constructor(code: string) {
    this.#code = code;
    this.#effort = 4 * code.length + 1_024;
  }

  read(name: string): CodeCommands {
    const { lines } = this.#found;
    const code = this.#code;
    if (DELETES_STORE.test(code)) this.#found.isStore = true;
    const assigned = this.#assigned();
    let next = 0;
    for (const { 0: all, 1: owner = '', 2: called = '', index } of code.matchAll(CALL)) {
      while (next < assigned.length && (assigned[next] as Assigned).at < index) {
        this.#set(assigned[next++] as Assigned);
      }
      const effect = EFFECTS.get(called) ?? (FILES.has(owner) ? OF_FILES.get(called) : undefined);
      if (effect) this.#call(effect, index + all.length);
      else if (called === 'delete' && CLIENTS.has(owner)) this.#request(index + all.length);
      if (this.#effort < 0) return { ...this.#found, isUnread: true };
    }
    for (const { 0: all, index } of code.matchAll(TAGGED)) {
      const text = this.#literal(index + all.length - 1)?.text;
      if (text) lines.push(text);
    }
    if (name.endsWith('awk')) {
      for (const { 0: all, index } of code.matchAll(PIPED)) {
        const text = this.#literal(index + all.length)?.text;
        if (text) lines.push(text);
      }
      for (const [, text = ''] of code.matchAll(READ_FROM)) lines.push(decodeEscapes(text));
    }
    if (this.#places.length > 0 && (this.#deletesUnknown || HANDED.test(code))) {
      this.#found.listed.push(...this.#places);
    }
    if (RUNS_BACKTICKS.test(name)) this.#backticks();
    return this.#effort < 0 ? { ...this.#found, isUnread: true } : this.#found;
  }

  /** What names are given, in order; until then a name holds what it is given first. */
  #assigned(): readonly Assigned[] {
    const found: Assigned[] = [];
    for (const { 0: all, 1: name = '', 2: sign, index } of this.#code.matchAll(ASSIGNS)) {
      if (this.#known.size >= MAX_NAMES || this.#effort < 0) break;
      const given = this.#texts(index + all.length, 1).texts[0];
      const before = this.#known.get(name);
      const isAdded = sign === '+' || sign === '.';
      const added = before === undefined ? undefined : before + (given ?? UNKNOWN);
      if (isAdded) this.#effort -= added?.length ?? 0;
      const one = { at: index, name, value: isAdded ? added : given };
      this.#set(one);
      found.push(one);
    }
    this.#known.clear();
    for (const one of found.toReversed()) if (one.value !== undefined) this.#set(one);
    return found;
  }

  #set({ name, value }: Assigned): void {
    if (value === undefined) this.#known.delete(name);
    else this.#known.set(name, value);
  }

  #backticks(): void {
    const code = this.#code;
    for (let at = code.indexOf('`'); at >= 0; at = code.indexOf('`', at + 1)) {
      const literal = this.#literal(at);
      if (literal === undefined) break;
      this.#found.lines.push(literal.text);
      at = literal.end - 1;
    }
    for (const { 0: all, 1: open = '', index } of code.matchAll(QX)) {
      const from = index + all.length;
      const end = code.indexOf(PAIRS[open] ?? open, from);
      this.#effort -= (end < 0 ? code.length : end) - from;
      if (this.#effort < 0) return;
      this.#found.lines.push(code.slice(from, end < 0 ? undefined : end));
    }
  }

  #request(from: number): void {
    const [address] = this.#texts(from, 1).texts;
    if (address !== undefined) this.#found.argvs.push(['curl', '-X', 'DELETE', address]);
  }

  #call(effect: Effect, from: number): void {
    const { texts, end } = this.#texts(from);
    const [first, second] = texts;
    const { lines, argvs } = this.#found;
    if (first === undefined) {
      if (effect === 'delete' || effect === 'tree') this.#deletesUnknown = true;
      return;
    }
    switch (effect) {
      case 'list':
        this.#list(first);
        return;
      case 'sql':
        this.#found.texts.push(first);
        return;
      case 'run':
        if (texts.length > 1) argvs.push(texts);
        if (texts.length === 1 || /\s/.test(first)) lines.push(first);
        return;
      case 'tree':
      case 'delete': {
        IS_RECURSIVE.lastIndex = end;
        const isTree = effect === 'tree' || IS_RECURSIVE.test(this.#code);
        argvs.push(['rm', ...(isTree ? ['-r'] : []), '--', ...texts]);
        return;
      }
      case 'write':
        argvs.push(['tee', '--', first]);
        return;
      case 'move':
      case 'copy':
        if (second !== undefined)
          argvs.push([effect === 'move' ? 'mv' : 'cp', '--', first, second]);
        return;
      case 'path': {
        OF_PATH.lastIndex = end;
        const [, deletes, writes] = OF_PATH.exec(this.#code) ?? [];
        if (deletes) argvs.push(['rm', ...(deletes === 'rmtree' ? ['-r'] : []), '--', first]);
        else if (writes) argvs.push(['tee', '--', first]);
        LISTS_PATH.lastIndex = end;
        if (LISTS_PATH.test(this.#code)) this.#list(first);
        return;
      }
      case 'open':
        this.#open(first, second);
    }
  }

  #list(place: string): void {
    if (FROM_A_ROOT.test(place) && this.#places.length < MAX_TEXTS) this.#places.push(place);
  }

  /** A file, or in Perl a mode with a file behind it, or a command to or from which it pipes. */
  #open(first: string, second = ''): void {
    const { lines, argvs } = this.#found;
    const [, mode, rest = ''] = /^\s*(\+?[<>]{1,2}|-?\||\|-)(.*)$/s.exec(first) ?? [];
    const named = rest.trim() || second;
    if (mode?.includes('|')) lines.push(named);
    else if (mode !== undefined) argvs.push([mode === '<' ? 'cat' : 'tee', '--', named.trim()]);
    else argvs.push([WRITING.test(second) ? 'tee' : 'cat', '--', first]);
  }

  /** The literals that follow, as far as nothing else stands between them. */
  #texts(from: number, most = MAX_TEXTS): { texts: string[]; end: number } {
    const texts: string[] = [];
    let end = from;
    while (texts.length < most && this.#effort >= 0) {
      BEFORE.lastIndex = end;
      const before = BEFORE.exec(this.#code)?.[0] ?? '';
      this.#effort -= before.length;
      const literal = this.#joined(end + before.length);
      if (literal === undefined) break;
      IS_NAME.lastIndex = literal.end;
      if (IS_NAME.test(this.#code)) break;
      texts.push(literal.text);
      end = literal.end;
    }
    return { texts, end };
  }

  #joined(from: number): { text: string; end: number } | undefined {
    let literal = this.#literal(from);
    for (let parts = 0; literal !== undefined && parts < MAX_TEXTS; parts++) {
      JOINS.lastIndex = literal.end;
      const joins = JOINS.exec(this.#code)?.[0];
      if (joins === undefined) break;
      const next = this.#literal(literal.end + joins.length);
      // Python joins paths by it.
      const text = joins.includes('/') ? `${literal.text}/` : literal.text;
      if (next === undefined) return { text: text + UNKNOWN, end: literal.end };
      literal = { text: text + next.text, end: next.end };
    }
    return literal;
  }

  /** A text in quotes, also in three of them, without its escapes. */
  #literal(from: number): { text: string; end: number } | undefined {
    const code = this.#code;
    const quote = code[from];
    if (quote !== '"' && quote !== "'" && quote !== '`') {
      return this.#bracketed(from) ?? this.#value(from);
    }
    const long = quote.repeat(3);
    const close = quote !== '`' && code.startsWith(long, from) ? long : quote;
    let at = from + close.length;
    while (at < code.length && !code.startsWith(close, at)) at += code[at] === '\\' ? 2 : 1;
    this.#effort -= at - from;
    // Without an end it is no text.
    if (at >= code.length || this.#effort < 0) return undefined;
    const text = this.#filled(decodeEscapes(code.slice(from + close.length, at)));
    return { text, end: at + close.length };
  }

  /** A text in Perl's and Ruby's own quotes: `q(a)`, `%q{a}`. */
  #bracketed(from: number): { text: string; end: number } | undefined {
    OPENS.lastIndex = from;
    const [all = '', open = ''] = OPENS.exec(this.#code) ?? [];
    if (all === '') return undefined;
    const end = this.#code.indexOf(PAIRS[open] ?? open, from + all.length);
    if (end < 0) {
      this.#effort -= this.#code.length - from;
      return undefined;
    }
    this.#effort -= end - from;
    return { text: this.#code.slice(from + all.length, end), end: end + 1 };
  }

  /** A text with the values of names that stand in it. */
  #filled(text: string): string {
    if (!text.includes('{')) return text;
    const filled = text.replace(IN_TEXT, (all, home, name) => {
      if (home !== undefined) return '~';
      const value = this.#known.get(name);
      this.#effort -= value?.length ?? 0;
      return this.#effort < 0 ? all : (value ?? all);
    });
    return filled;
  }

  /** The parts of a path up to the end of the call that joins them. */
  #parts(from: number): { text: string; end: number } | undefined {
    if (this.#depth >= MAX_JOINS) return undefined;
    const parts: string[] = [];
    let end = from;
    this.#depth++;
    while (parts.length < MAX_TEXTS) {
      const before = /^[\s,]{0,99}/.exec(this.#code.slice(end, end + 99))?.[0] ?? '';
      const part = this.#joined(end + before.length);
      if (part === undefined) break;
      parts.push(part.text);
      end = part.end;
    }
    this.#depth--;
    if (parts.length === 0) return undefined;
    const isWhole = this.#code[end] === ')';
    // What only the run shows is a part as well.
    if (!isWhole) parts.push(UNKNOWN);
    return { text: parts.join('/'), end: isWhole ? end + 1 : end };
  }

  /** What is no literal, and known all the same: a name, a home, parts that are joined. */
  #value(from: number): { text: string; end: number } | undefined {
    const code = this.#code;
    HOME.lastIndex = from;
    const home = HOME.exec(code)?.[0];
    if (home !== undefined) return { text: '~', end: from + home.length };
    JOIN.lastIndex = from;
    const join = JOIN.exec(code)?.[0];
    if (join !== undefined) return this.#parts(from + join.length);
    NAME.lastIndex = from;
    const [all = '', name = ''] = NAME.exec(code) ?? [];
    const text = this.#known.get(name);
    if (text === undefined) return undefined;
    this.#effort -= text.length + 1;
    return this.#effort < 0 ? undefined : { text, end: from + all.length };
  }
}
