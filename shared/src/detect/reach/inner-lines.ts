/** Command lines within what a program is given, in a form of its own. */
import { decodeEscapes } from './backslash-escapes.ts';

/** PowerShell's -EncodedCommand, which may be cut, and its alias; not -ExecutionPolicy. */
const ENCODED = /^[-/](?:e|ec|en[a-z]*)$/i;

/** The command that PowerShell is given in base64 of UTF-16. */
export function decodedCommand(words: readonly string[]): string {
  const at = words.findIndex((word) => ENCODED.test(word));
  return at < 0 ? '' : Buffer.from(words[at + 1] ?? '', 'base64').toString('utf16le');
}

/** What awk passes to a shell, as far as it is one literal: `system("…")`, `print | "…"`. */
const OF_AWK = /(?:\bsystem\s*\(\s*|\|\s*)"([^"\\]*(?:\\.[^"\\]*)*)"/gs;

export function linesOfAwk(words: readonly string[]): string[] {
  return words.flatMap((word) =>
    Array.from(word.matchAll(OF_AWK), ([, text = '']) => decodeEscapes(text)),
  );
}
