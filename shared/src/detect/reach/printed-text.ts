/** What a command prints, where the line shows it: `echo 'rm -rf /' | sh`. */
import { decodeEscapes } from './backslash-escapes.ts';
import { nameOf } from './program-name.ts';
import type { ShellCommand } from './shell-frame.ts';
import { wordSet } from './word-set.ts';

const PASSES_ON = wordSet('cat tee');
const DECODES = /^(?:-[a-zA-Z]*[dD][a-zA-Z]*|--decode)$/;
/** Signs that no command line has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: such signs are what is looked for
const BINARY = /[\x00-\x08\x0e-\x1f\x7f\ufffd]/;

/** @param given texts that it reads */
export function printedBy(command: ShellCommand, given: readonly string[]): string | undefined {
  const [first, ...words] = command.words;
  const name = nameOf(first);
  if (name === 'echo') {
    const options = words.findIndex((word) => !/^-[neE]+$/.test(word));
    const text = words.slice(options < 0 ? words.length : options).join(' ');
    return words.slice(0, Math.max(options, 0)).some((word) => word.includes('e'))
      ? decodeEscapes(text)
      : text;
  }
  // Its format, and what stands in it.
  if (name === 'printf') return words.map(decodeEscapes).join('\n');
  return PASSES_ON.has(name) ? readBy(command, given) : undefined;
}

/** What `base64 -d` makes of what it reads. */
export function decodedBy(command: ShellCommand, given: readonly string[]): string | undefined {
  const [first, ...words] = command.words;
  if (nameOf(first) !== 'base64' || !words.some((word) => DECODES.test(word))) return undefined;
  const text = Buffer.from(readBy(command, given) ?? '', 'base64').toString();
  return text === '' || BINARY.test(text) ? undefined : text;
}

function readBy({ documents = [] }: ShellCommand, given: readonly string[]): string | undefined {
  const texts = [...given, ...documents.map(({ text }) => text)];
  return texts.length > 0 ? texts.join('\n') : undefined;
}
