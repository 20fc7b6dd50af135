/** The words behind a program: its options and its operands. */
import { wordSet } from '../word-set.ts';

const OF_WINDOWS = wordSet('del erase rd rmdir copy xcopy move');

export function splitWords(words: readonly string[], name: string) {
  const options: string[] = [];
  const operands: string[] = [];
  let isOver = false;
  for (const word of words) {
    if (!isOver && word === '--') isOver = true;
    else if (!isOver && word.length > 1 && word.startsWith('-')) options.push(word);
    else if (OF_WINDOWS.has(name) && /^\/[a-z]$/i.test(word)) options.push(word.toLowerCase());
    else operands.push(word);
  }
  return { options, operands };
}

export function optionValue(option: string): string {
  const at = option.indexOf('=');
  return at < 0 ? '' : option.slice(at + 1);
}

/** curl's syntax for a file to send. */
export function withoutAt(word: string): string {
  return word.startsWith('@') ? word.slice(1) : word;
}
