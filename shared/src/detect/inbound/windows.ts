/**
 * Sentences that are read together, in their order (sequence.ts): steps that are harmless one by one,
 * forged turns of a conversation, an order whose reason stands before it.
 */
import type { Passage } from './reading.ts';
import { NUMBERS_OF_WORD } from './wording.ts';

/** Words of a window. With the signs between them, most have no more tokens than are read. */
const MOST_WORDS = 48;

/** Passages of a text, from the first to the last of them. */
export interface Window {
  readonly first: number;
  readonly last: number;
}

/**
 * The window of a passage: the one before it, itself, and those after it, as many as fit.
 *
 * @returns undefined where the passage stands alone, or is too long for a neighbour
 */
export function windowAt(
  passages: readonly Pick<Passage, 'wording'>[],
  index: number,
): Window | undefined {
  const before = index > 0 ? wordsAt(passages, index - 1) : 0;
  let words = wordsAt(passages, index);
  let first = index;
  if (index > 0 && before + words <= MOST_WORDS) {
    first -= 1;
    words += before;
  }
  let last = index;
  while (last + 1 < passages.length) {
    words += wordsAt(passages, last + 1);
    if (words > MOST_WORDS) break;
    last += 1;
  }
  return first === last ? undefined : { first, last };
}

function wordsAt(passages: readonly Pick<Passage, 'wording'>[], index: number): number {
  const { from, to } = (passages[index] as Pick<Passage, 'wording'>).wording;
  return (to - from) / NUMBERS_OF_WORD;
}

/** A window as if it were one passage. */
export function joinWindow<T extends Pick<Passage, 'start' | 'end'>>(
  passages: readonly T[],
  { first, last }: Window,
): { start: number; end: number; within: readonly T[] } {
  const within = passages.slice(first, last + 1);
  return { start: (within[0] as T).start, end: (within.at(-1) as T).end, within };
}
