/** What a command prints, where the line shows it: `echo 'rm -rf /' | sh`. */
import { decodeEscapes } from '../backslash-escapes.ts';
import { wordSet } from '../word-set.ts';
import { nameOf } from './program-name.ts';
import type { ShellCommand } from './shell-frame.ts';

const PASSES_ON = wordSet('cat tee');
const DECODES = /^(?:-[a-zA-Z]*[dD][a-zA-Z]*|--decode)$/;
/** Options of xxd, also joined: `-rp`. */
const REVERTS = /^-p?r/;
const IS_PLAIN = /^-(?:r?ps?$|plain|postscript)/;
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

/** What `base64 -d` and `xxd -r -p` make of what they read. */
export function decodedBy(command: ShellCommand, given: readonly string[]): string | undefined {
  const [first, ...words] = command.words;
  const encoding = encodingOf(nameOf(first), words);
  if (encoding === undefined) return undefined;
  const read = readBy(command, given) ?? '';
  const text = Buffer.from(
    encoding === 'hex' ? read.replace(/\s/g, '') : read,
    encoding,
  ).toString();
  return text === '' || BINARY.test(text) ? undefined : text;
}

function encodingOf(name: string, words: readonly string[]): 'base64' | 'hex' | undefined {
  if (name === 'base64' && words.some((word) => DECODES.test(word))) return 'base64';
  const has = (option: RegExp) => words.some((word) => option.test(word));
  return name === 'xxd' && has(REVERTS) && has(IS_PLAIN) ? 'hex' : undefined;
}

function readBy({ documents = [] }: ShellCommand, given: readonly string[]): string | undefined {
  const texts = [...given, ...documents.map(({ text }) => text)];
  return texts.length > 0 ? texts.join('\n') : undefined;
}

/** What `echo` and `printf` print, where nothing in it is left to the run; undefined otherwise. */
export function textOf(
  command: ShellCommand | undefined,
  effort: { left: number },
): string | undefined {
  if (command === undefined || command.isPiped || command.words.length < 2) return undefined;
  const [first, format = '', ...values] = command.words;
  const name = nameOf(first);
  let text: string | undefined;
  if (name === 'printf' && values.length > 0) text = filled(format, values, effort);
  else if (name === 'echo' || name === 'printf') text = printedBy(command, []);
  // Substitutions within substitutions repeat it.
  effort.left -= text?.length ?? 0;
  return text === undefined || effort.left < 0 || /[$`]/.test(text) ? undefined : text;
}

/** A format whose places are all for texts. */
function filled(
  format: string,
  values: readonly string[],
  effort: { left: number },
): string | undefined {
  const [start = '', ...parts] = decodeEscapes(format).split(/%[sbq]/);
  if ([start, ...parts].some((part) => part.includes('%'))) return undefined;
  if (parts.length === 0) return start;
  // It is used again until all values are taken.
  effort.left -= format.length * Math.ceil(values.length / parts.length);
  if (effort.left < 0) return undefined;
  const texts: string[] = [];
  for (const [at, value] of values.entries()) {
    const index = at % parts.length;
    texts.push(index === 0 ? start : '', value, parts[index] ?? '');
  }
  return texts.join('');
}
