/**
 * A command line as simple commands, each a list of words. Substitutions count as commands of their
 * own: their text runs too. One linear pass; it is not a shell, and leaves what it cannot know
 * (variables) unchanged.
 */
import { decodeEscapes } from './backslash-escapes.ts';

export interface ShellCommand {
  readonly words: readonly string[];
  /** Files that `>` and `>>` write. */
  readonly writes: readonly string[];
  /** Whether what another command prints follows: `rm $(cat list)`. */
  readonly isCut?: boolean;
  /** Whether it reads what the command before it prints. */
  readonly isPiped?: boolean;
}

/** Stands for a blank. */
const BLANK_VARIABLE = '$\u007bIFS}';
const SEPARATORS = new Set([';', '|', '&', '\n', '(', ')', '`']);

export function readShellCommands(line: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  const isWindows = /(?:^|[\s"'=])[a-z]:\\|^[ \t]*(?:del|erase|rd|remove-item|ri)\s/im.test(line);
  let words: string[] = [];
  let writes: string[] = [];
  let word: string | null = null;
  let isRedirected = false;
  let isPiped = false;
  let isInBackticks = false;
  const endWord = () => {
    if (word === null) return;
    if (isRedirected) writes.push(word);
    else words.push(word);
    isRedirected = false;
    word = null;
  };
  const endCommand = (isCut = false) => {
    endWord();
    if (words.length > 0 || writes.length > 0) commands.push({ words, writes, isCut, isPiped });
    isPiped = false;
    words = [];
    writes = [];
    isRedirected = false;
  };
  const take = (text: string) => {
    word = (word ?? '') + text;
  };
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const sign = line[at] as string;
    const next = line[at + 1];
    if (quote === "'") {
      if (sign === quote) quote = '';
      else take(sign);
    } else if (sign === '\\' && !isWindows) {
      // At the end of a line it joins two lines.
      if (next !== '\n') take(next ?? '');
      at++;
    } else if (sign === '`' || (sign === '$' && next === '(')) {
      quote = '';
      endCommand(sign === '$' || !isInBackticks);
      if (sign === '$') at++;
      else isInBackticks = !isInBackticks;
    } else if (quote === '"') {
      if (sign === quote) quote = '';
      else take(sign);
    } else if (sign === '$' && next === "'") {
      const end = escapedEnd(line, at + 2);
      // In C a text ends at a zero.
      take(decodeEscapes(line.slice(at + 2, end)).split('\0', 1)[0] as string);
      at = end;
    } else if (sign === "'" || sign === '"' || (sign === '$' && next === '"')) {
      // `$"…"` is translated, and otherwise the same.
      if (sign === '$') at++;
      quote = sign === '$' ? '"' : sign;
      take('');
    } else if (line.startsWith(BLANK_VARIABLE, at)) {
      endWord();
      at += 5;
    } else if (line.startsWith('$IFS', at)) {
      endWord();
      at += 3;
    } else if (sign === '#' && word === null) {
      const end = line.indexOf('\n', at);
      at = end < 0 ? line.length : end - 1;
    } else if (sign === '>' || sign === '<') {
      // `2>` and `&>`: the number is not a word.
      if (word !== null && /^[0-9]$/.test(word)) word = null;
      endWord();
      if (sign === '>') isRedirected = true;
      if (next === '>' || next === '|') at++;
    } else if (sign === '&' && next === '>') {
      endWord();
    } else if (SEPARATORS.has(sign)) {
      endCommand();
      isPiped = sign === '|' && line[at - 1] !== '|' && next !== '|';
    } else if (sign <= ' ') endWord();
    else take(sign);
  }
  endCommand();
  return commands;
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
