/** Functions that a command line defines, and what it calls them with. */

import { wordSet } from '../word-set.ts';
import type { ShellVariables, Variable } from './shell-variables.ts';

const DEFINES = /\([ \t]{0,9}\)/y;
/** A function around the current command, and what its local variables held before. */
interface Around {
  readonly name: string;
  readonly blocks: number;
  readonly kept: Map<string, Variable | undefined>;
}

const NAME = /^[\w.-]{1,100}$/;
const OPENS = wordSet('{ then do');
const CLOSES = wordSet('} fi done elif');
const BEFORE = wordSet('then do else if elif while until ! { time');
/** A function that calls another one hands its arguments on. */
const MAX_READINGS = 2;

export class ShellFunctions {
  /** Blocks around the current command: branches, loops, functions. */
  blocks = 0;
  readonly #line: string;
  readonly #hasShift: boolean;
  /** What each is called with, in this reading and in the one before. */
  #calls = new Map<string, string[][]>();
  #arguments = new Map<string, Map<string, Variable>>();
  #readings = 0;
  /** The name of the one whose body follows. */
  #pending: string | undefined;
  #around: Around[] = [];

  constructor(line: string) {
    this.#line = line;
    this.#hasShift = /\bshift\b/.test(line);
  }

  /** @returns where the definition's brackets end; undefined where there is none */
  define(at: number, words: readonly string[], word: string | null): number | undefined {
    const isFirst = words.length === 0 || (words.length === 1 && words[0] === 'function');
    if (!isFirst || word === null || !NAME.test(word)) return undefined;
    DEFINES.lastIndex = at;
    const [brackets] = DEFINES.exec(this.#line) ?? [];
    if (brackets === undefined) return undefined;
    this.#define(word);
    return at + brackets.length - 1;
  }

  #define(name: string): void {
    this.#pending = name;
    if (!this.#calls.has(name)) this.#calls.set(name, []);
  }

  /** Follows the words of a command as each is read. */
  follow(words: string[], variables: ShellVariables): void {
    if (words.length === 3 && words[0] === 'function' && words[2] === '{') {
      this.#define(words[1] as string);
      words.splice(0, 2);
    }
    const [first] = words;
    if (words.length !== 1 || first === undefined) return;
    if (CLOSES.has(first)) {
      this.blocks = Math.max(0, this.blocks - 1);
      if (first === '}' && this.#around.at(-1)?.blocks === this.blocks) {
        for (const [name, before] of this.#around.pop()?.kept ?? []) variables.leave(name, before);
      }
    } else if (OPENS.has(first)) {
      if (first === '{' && this.#pending !== undefined) {
        this.#around.push({ name: this.#pending, blocks: this.blocks, kept: new Map() });
        this.#pending = undefined;
      }
      this.blocks++;
    }
  }

  /** Notes a command that may call one. */
  call(words: readonly string[]): void {
    if (this.#calls.size === 0) return;
    let at = 0;
    while (BEFORE.has(words[at] ?? '')) at++;
    const rest = words.slice(at + 1);
    if (rest.length > 0) this.#calls.get(words[at] ?? '')?.push(rest);
  }

  /** Whether the current command stands in the body of a function, and in no branch of it. */
  get isBody(): boolean {
    return this.#around.at(-1)?.blocks === this.blocks - 1;
  }

  /** Notes what a variable held that is local from here on. */
  keep(name: string, before: Variable | undefined): void {
    const kept = this.#around.at(-1)?.kept;
    if (kept && !kept.has(name)) kept.set(name, before);
  }

  /** What an argument of the function is in whose body the current command stands. */
  argument(name: string): Variable | undefined {
    const of = this.#around.at(-1);
    return of && this.#arguments.get(of.name)?.get(name);
  }

  /** @returns whether the line is to be read again, with the arguments that are known now */
  takeCalls(): boolean {
    const calls = this.#calls;
    const hasCalls = [...calls.values()].some((lists) => lists.length > 0);
    if (!hasCalls || this.#readings >= MAX_READINGS) return false;
    this.#readings++;
    this.#arguments = new Map([...calls].map(([name, lists]) => [name, this.#named(lists)]));
    // One may be called in the body of another that stands before it.
    this.#calls = new Map([...calls.keys()].map((name) => [name, []]));
    this.#around = [];
    this.#pending = undefined;
    this.blocks = 0;
    return true;
  }

  #named(lists: readonly string[][]): Map<string, Variable> {
    const named = new Map<string, Variable>();
    const all = [...new Set(lists.flat())];
    if (all.length === 0) return named;
    for (const name of ['@', '*']) named.set(name, { values: all, isList: true, isListed: false });
    for (let at = 0; at < 9; at++) {
      const given = lists.flatMap((list) => list.slice(at, at + 1));
      const values = this.#hasShift ? all : [...new Set(given)];
      if (values.length > 0) named.set(String(at + 1), { values, isList: false, isListed: false });
    }
    return named;
  }
}
