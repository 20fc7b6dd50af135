/** Command lines within what a program is given, in a form of its own. */

/** PowerShell's -EncodedCommand may be cut anywhere; -Encoding is none. */
const ENCODED = 'encodedcommand';

function isEncoded(word: string): boolean {
  if (!/^[-/]e[a-z]*$/i.test(word)) return false;
  const name = word.slice(1).toLowerCase();
  return name === 'ec' || ENCODED.startsWith(name);
}

/** The command that PowerShell is given in base64 of UTF-16. */
export function decodedCommand(words: readonly string[]): string {
  const at = words.findIndex(isEncoded);
  return at < 0 ? '' : Buffer.from(words[at + 1] ?? '', 'base64').toString('utf16le');
}
