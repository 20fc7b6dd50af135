/**
 * Writings that hide a text from people and not from a model: Morse, bits of invisible characters,
 * and letters that are escaped though no format needs it.
 */
import type { Edit } from '../dlp/decode/view.ts';

/** A text that was written in a code, and where the code stands. */
export interface Decoded {
  readonly text: string;
  readonly start: number;
  readonly length: number;
}

/** Each sign and its code. */
const MORSE_TABLE =
  'a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. ' +
  's... t- u..- v...- w.-- x-..- y-.-- z--.. 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... ' +
  "8---.. 9----. 0----- ..-.-.- ,--..-- :---... @.--.-. --....- /-..-. ?..--.. '.----.";
const MORSE: ReadonlyMap<string, string> = new Map(
  MORSE_TABLE.split(' ').map((entry) => [entry.slice(1), entry.charAt(0)]),
);
/** At least twelve letters; a slash or a wide gap separates words. Each run is read once. */
const MORSE_RUN = /(?<![.-])(?<![.-][ \t/|\n]{1,6})(?:[.-]{1,6}[ \t/|\n]{1,6}){12,}[.-]{0,6}/g;
const MORSE_WORD_GAP = /[ \t\n]{0,4}[/|][ \t\n]{0,4}|[ \t\n]{3,6}/;

/** Runs of Morse code. */
export function readMorse(text: string): Decoded[] {
  // By the rarer signs: most texts are only searched.
  if (!text.includes('-. ') && !text.includes('.- ')) return [];
  const found: Decoded[] = [];
  for (const { 0: run, index } of text.matchAll(MORSE_RUN)) {
    const words = run.split(MORSE_WORD_GAP).map((word) =>
      word
        .split(/[ \t\n]/)
        .map((letter) => MORSE.get(letter) ?? '')
        .join(''),
    );
    found.push({ text: words.join(' ').trim(), start: index, length: run.length });
  }
  return found;
}

/** At least six letters in bits; single ones join words and emoji. */
const INVISIBLE_RUN = /(?<![\u200b-\u200d\u2060\ufeff])[\u200b-\u200d\u2060\ufeff]{48,}/g;

/** Any two of the five have one of these. */
const INVISIBLE = ['\u200b', '\u200c', '\u2060', '\ufeff'];

/** Runs of two invisible characters that stand for bits; either may be the 1. */
export function readInvisibleBits(text: string): Decoded[] {
  if (!INVISIBLE.some((sign) => text.includes(sign))) return [];
  const found: Decoded[] = [];
  for (const { 0: run, index } of text.matchAll(INVISIBLE_RUN)) {
    const [zero, one, ...others] = new Set(run);
    if (zero === undefined || one === undefined || others.length > 0) continue;
    for (const set of [one, zero]) {
      found.push({ text: readBits(run, set), start: index, length: run.length });
    }
  }
  return found;
}

function readBits(run: string, set: string): string {
  const bytes = Buffer.alloc(run.length >> 3);
  for (let at = 0; at < bytes.length * 8; at += 1) {
    if (run[at] === set) bytes[at >> 3] = (bytes[at >> 3] as number) | (0x80 >> (at & 7));
  }
  return bytes.toString('utf8');
}

/** Shorter runs are parts of words. */
const MIN_LETTERS = 12;
const LETTERS = /[A-Za-z]/g;

/**
 * Runs of escaped Latin letters with a space between, which no format and no hidden address has.
 *
 * @param edits the escapes of the text, in any order
 */
export function readEscapedLetters(text: string, edits: readonly Edit[]): Decoded[] {
  const found: Decoded[] = [];
  let run = '';
  let start = 0;
  let end = -1;
  const close = (): void => {
    const letters = run.match(LETTERS)?.length ?? 0;
    if (letters >= MIN_LETTERS && letters * 2 > run.length && run.trim().includes(' ')) {
      found.push({ text: run, start, length: end - start });
    }
  };
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    const isNext = edit.start === end || (edit.start === end + 1 && text[end] === ' ');
    if (!isNext) {
      close();
      run = '';
      start = edit.start;
    } else if (edit.start > end) run += ' ';
    run += edit.replacement;
    end = edit.end;
  }
  close();
  return found;
}
