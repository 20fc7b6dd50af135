/**
 * A command line as simple commands, each a list of words. Substitutions count as commands of their
 * own: their text runs too. One linear pass; it is not a shell, and leaves what it cannot know
 * (variables) unchanged.
 */
import { decodeEscapes } from './backslash-escapes.ts';
import { type HereDocument, HereDocuments } from './here-documents.ts';

export interface ShellCommand {
  readonly words: readonly string[];
  /** Files that `>` and `>>` write. */
  readonly writes: readonly string[];
  /** Whether what another command prints is among the words: `rm $(cat list)`. */
  readonly isCut?: boolean;
  /** Whether it reads what the command before it prints. */
  readonly isPiped?: boolean;
  /** Texts that it is given to read: `bash <<< 'rm -rf /'`. */
  readonly inputs?: readonly string[];
  readonly documents?: readonly HereDocument[];
}

/** Stands for a blank. */
const BLANK_VARIABLE = '$\u007bIFS}';
const SEPARATORS = new Set([';', '|', '&', '\n', '(', ')']);
/** Stands for what a substitution prints, beside other text of its word. */
export const PRINTED = '$x';
const NOTHING: ShellCommand = { words: [], writes: [] };

type Target = 'word' | 'file' | 'input';

/** A command as far as it is read, and what stands around it. */
interface Frame {
  words: string[];
  writes: string[];
  inputs: string[];
  documents: HereDocument[];
  isCut: boolean;
  isPiped: boolean;
  word: string | null;
  target: Target;
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
  /** The command's place among all, before those of its substitutions. */
  place: number | undefined;
}

const frame = (end: Frame['end']): Frame => ({
  words: [],
  writes: [],
  inputs: [],
  documents: [],
  isCut: false,
  isPiped: false,
  word: null,
  target: 'word',
  quote: '',
  quoteAt: 0,
  end,
  open: 0,
  cases: 0,
  isPrinted: false,
  place: undefined,
});

export function readShellCommands(line: string): ShellCommand[] {
  const reader = new LineReader(line);
  reader.read();
  // No shell runs such a line: its quotes were understood otherwise than by whoever wrote it.
  if (reader.openAt !== undefined) {
    new LineReader(line.slice(reader.openAt).replace(/["']/g, ' '), reader.commands).read();
  }
  return reader.commands.filter((command) => command !== NOTHING);
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

  constructor(line: string, commands: ShellCommand[] = []) {
    this.commands = commands;
    this.#line = line;
    this.#isWindows = /(?:^|[\s"'=])[a-z]:\\|^[ \t]*(?:del|erase|rd|remove-item|ri)\s/im.test(line);
    this.#documents = new HereDocuments(line);
  }

  read(): void {
    const line = this.#line;
    for (let at = 0; at < line.length; at = this.#sign(at) + 1);
    for (;;) {
      if (this.#now.quote !== '') this.openAt = this.#now.quoteAt;
      this.#endCommand();
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
    } else if (now.quote === '"') {
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
    } else if (line.startsWith(BLANK_VARIABLE, at)) {
      this.#endWord();
      return at + 5;
    } else if (line.startsWith('$IFS', at)) {
      this.#endWord();
      return at + 3;
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
    now.target = line[at] === '>' ? 'file' : 'word';
    const next = line[at + 1];
    return next === '>' || next === '|' ? at + 1 : at;
  }

  #separate(at: number): number {
    const line = this.#line;
    const sign = line[at] as string;
    const { end, open, cases } = this.#now;
    this.#endCommand();
    if (sign === '(') this.#now.open++;
    else if (sign === ')') {
      if (open > 0) this.#now.open--;
      else if (end === ')' && cases === 0) this.#leave(')');
    }
    this.#now.isPiped = sign === '|' && line[at - 1] !== '|' && line[at + 1] !== '|';
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
      isDone = this.#now.end === end;
      if (this.#now.end === '`') this.#backticks--;
      this.#now = this.#outer.pop() ?? frame('');
      this.#now.isCut = true;
      if (this.#now.word === null || this.#now.word === '') {
        this.#now.word = '';
        this.#now.isPrinted = true;
      } else this.#take(PRINTED);
    }
  }

  #take(text: string): void {
    const now = this.#now;
    if (now.isPrinted && text !== '') {
      now.word = PRINTED;
      now.isPrinted = false;
    }
    now.word = (now.word ?? '') + text;
  }

  #endWord(): void {
    const now = this.#now;
    const { word, target } = now;
    if (word === null) return;
    if (target === 'file') {
      if (!now.isPrinted) now.writes.push(word);
    } else if (target === 'input') now.inputs.push(word);
    else {
      if (word === 'case' && now.words.length === 0) now.cases++;
      if (word === 'esac' && now.words.length === 0 && now.cases > 0) now.cases--;
      now.words.push(word);
    }
    now.target = 'word';
    now.word = null;
    now.isPrinted = false;
  }

  #endCommand(): void {
    this.#endWord();
    const { place, words, writes, ...rest } = this.#now;
    const { inputs, documents, isCut, isPiped } = rest;
    if (words.length > 0 || writes.length > 0) {
      this.commands[place ?? this.commands.length] = {
        words,
        writes,
        inputs,
        documents,
        isCut,
        isPiped,
      };
    }
    const { end, open, cases } = rest;
    this.#now = { ...frame(end), open, cases };
  }
}

/** Where the quote of `$'…'` closes. */
function escapedEnd(line: string, from: number): number {
  let at = from;
  while (at < line.length && line[at] !== "'") at += line[at] === '\\' ? 2 : 1;
  return at;
}

/** A command without its folder and ending, in lower case. */
export function nameOf(word: string | undefined): string {
  if (word === undefined) return '';
  const name = word.slice(Math.max(word.lastIndexOf('/'), word.lastIndexOf('\\')) + 1);
  return name.toLowerCase().replace(/\.exe$/, '');
}
