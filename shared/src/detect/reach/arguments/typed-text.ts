/** What is typed into a program that runs: into a shell, perhaps. */

import { wordSet } from '../word-set.ts';
import type { ArgumentName } from './argument-kinds.ts';

const TERMINALS = wordSet('stdin terminal tty pty tmux repl');
/** `write_to_process`, `process_input`, `send_keys`, but not `write_process_report`. */
const TYPES =
  /\b(?:(?:with|to|input) process|process (?:input|write)$|(?:send|type|input) (?:keys?|keystrokes)\b)/;
/** Of web pages and screens, on which keys are text for a form. */
const PAGES = wordSet('browser page element web field');
const TYPED = wordSet('key keys keystrokes chars data stdin');

/** Whether the words of a tool's name say that it types into a program. */
export function isTerminalTool(words: readonly string[]): boolean {
  const has = (set: ReadonlySet<string>) => words.some((word) => set.has(word));
  return has(TERMINALS) || (TYPES.test(words.join(' ')) && !has(PAGES));
}

/** Whether an argument of such a tool is what is typed. */
export const isTyped = ({ kind, last }: ArgumentName): boolean =>
  kind === 'content' || TYPED.has(last);

/** Of Python, which forgets a name with it, and of Windows, which deletes a file. */
const FORGETS = /(?:^|[:;])[ \t]*del [\w.[\]'", ]+$/gm;

/** A typed text as a shell reads it, without what is probably Python. */
export const asCommandLine = (text: string): string => text.replace(FORGETS, '');
