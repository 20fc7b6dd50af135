/** A command of a line, and as far as it is read. */

import { IN_A_WORD, PERHAPS_EMPTY } from '../perhaps-empty.ts';
import type { HereDocument } from './here-documents.ts';
import { PRINTED } from './shell-variables.ts';

export interface ShellCommand {
  readonly words: readonly string[];
  /** Files that `>` and `>>` write. */
  readonly writes: readonly string[];
  /** Files that `<` reads. */
  readonly reads?: readonly string[];
  /** Whether what another command prints is among the words: `rm $(cat list)`. */
  readonly isCut?: boolean;
  /** Whether one of those commands lists things. */
  readonly hasList?: boolean;
  /** Whether all of them list only what has a certain name. */
  readonly isNamed?: boolean;
  /** Whether it reads what the command before it prints. */
  readonly isPiped?: boolean;
  /** Whether that lists only what has a certain name. */
  readonly isPipeNamed?: boolean;
  /** Whether it stands behind `&&`. */
  readonly isAfter?: boolean;
  /** Texts that it is given to read: `bash <<< 'rm -rf /'`. */
  readonly inputs?: readonly string[];
  readonly documents?: readonly HereDocument[];
}

/** What a command is given to read, as far as the line shows it. */
export const textsOf = ({ inputs = [], documents = [] }: ShellCommand): string[] => [
  ...inputs,
  ...documents.map(({ text }) => text),
];

/** What stands for a substitution in a line that is made of the words of another. */
export function asWritten({ isCut = false, hasList = false, isNamed = false }: ShellCommand) {
  const written = isNamed ? 'x' : hasList ? '$(ls)' : '$(x)';
  return (word: string) => (word === '' && isCut ? written : word);
}

/** Where a variable with several values stands in a word. */
export interface Hole {
  readonly at: number;
  readonly values: readonly string[];
  /** Otherwise blanks in its values separate words. */
  readonly isQuoted: boolean;
  readonly isList: boolean;
}

/** A `${…` within which something follows the name. */
interface Brace {
  /** The word before what is read and dropped; undefined where it is kept. */
  before: string | null | undefined;
  /** Of an unknown variable with a default: the word's length before it. */
  readonly defaultAt?: number | undefined;
}

/** A command, and what stands around it. */
export interface Frame {
  words: string[];
  writes: string[];
  reads: string[];
  inputs: string[];
  documents: HereDocument[];
  isCut: boolean;
  isPiped: boolean;
  isAfter: boolean;
  /** Whether it is run only if the one before it ends so. */
  isOptional: boolean;
  word: string | null;
  holes: Hole[];
  braces: Brace[];
  /** Which words are each what the program may be. */
  firsts: { readonly from: number; readonly count: number } | undefined;
  /** The words with one value of each variable, where some have several. */
  singles: string[] | undefined;
  target: 'word' | 'file' | 'source' | 'input';
  quote: '' | '"' | "'";
  /** Where the quote was opened. */
  quoteAt: number;
  /** What ends the substitution. */
  readonly end: ')' | '`' | '';
  /** Brackets within it, and `case`s, whose patterns end in one. */
  open: number;
  cases: number;
  /** Whether the word begins with what a substitution prints. */
  isPrinted: boolean;
  /** Whether a substitution of the command lists things. */
  hasList: boolean;
  /** Whether what this substitution prints is a list. */
  isList: boolean;
  /** How many substitutions the command has, and how many list what has a certain name. */
  cuts: number;
  namedCuts: number;
  /** Of this substitution: its last command, and how many it has. */
  last: ShellCommand | undefined;
  count: number;
  /** The array whose items are its words. */
  array: { readonly name: string; readonly items: string[] } | undefined;
  /** The command's place among all, before those of its substitutions. */
  place: number | undefined;
}

export const frame = (end: Frame['end']): Frame => ({
  words: [],
  writes: [],
  reads: [],
  inputs: [],
  documents: [],
  isCut: false,
  isPiped: false,
  isAfter: false,
  isOptional: false,
  word: null,
  holes: [],
  braces: [],
  firsts: undefined,
  singles: undefined,
  target: 'word',
  quote: '',
  quoteAt: 0,
  end,
  open: 0,
  cases: 0,
  isPrinted: false,
  hasList: false,
  isList: false,
  cuts: 0,
  namedCuts: 0,
  last: undefined,
  count: 0,
  array: undefined,
  place: undefined,
});

/** Adds to a frame's word. */
export function takeText(now: Frame, text: string): void {
  if (now.isPrinted && text !== '') {
    now.word = PRINTED;
    now.isPrinted = false;
  }
  now.word = (now.word ?? '') + text;
}

/** Ends `${…}`: what stands beside a known value is dropped. */
export function closeBrace(now: Frame): void {
  const { before, defaultAt } = now.braces.pop() ?? {};
  if (before !== undefined) now.word = before;
  else if (defaultAt === (now.word?.length ?? 0) && !now.isPrinted && now.holes.length === 0) {
    takeText(now, now.word === null ? PERHAPS_EMPTY : IN_A_WORD);
  }
}

/** A blank ends the word before it within `${…}`. */
export function cutBraces(now: Frame): void {
  const brace = now.braces.find(({ before }) => before !== undefined);
  if (brace === undefined) return;
  now.word = brace.before ?? null;
  brace.before = null;
}

/** Stands for a blank: `$IFS`, `${IFS%?}`. */
const BLANK_VARIABLE = /\$(?:IFS|\{IFS[^{}\n]{0,40}\})/y;

/** Where a variable ends that stands for a blank; 0 where none begins. */
export function blankEnd(line: string, at: number): number {
  BLANK_VARIABLE.lastIndex = at;
  return BLANK_VARIABLE.test(line) ? BLANK_VARIABLE.lastIndex : 0;
}

/** What separates words. */
export const BLANKS = /[ \t\n]+/;

/** A word once for each value that its variables have. */
export function fillHoles(
  word: string,
  holes: readonly Hole[],
  effort: { left: number },
): readonly string[] {
  const count = Math.max(...holes.map(({ values }) => values.length));
  const texts: string[] = [];
  for (let index = 0; index < count; index++) {
    let text = '';
    let from = 0;
    for (const { at, values, isQuoted } of holes) {
      const value = values[index % values.length] ?? '';
      // Blanks of an unquoted value separate words, and no others do.
      const parts = isQuoted ? [value] : value.split(BLANKS);
      text += word.slice(from, at) + parts[0];
      for (const part of parts.slice(1)) {
        texts.push(text);
        text = part;
      }
      from = at;
      effort.left -= 1 + value.length;
      if (effort.left < 0) return texts;
    }
    text += word.slice(from);
    effort.left -= word.length;
    texts.push(text);
  }
  return holes.every(({ isQuoted }) => isQuoted) ? texts : texts.filter((text) => text !== '');
}
