import type { LexicalConcept } from '../concepts.ts';

/**
 * A language's words for each concept: phrases between `|` or line ends, case and accents of no
 * weight; `*` at a word's end stands for any ending. One foreign word may stand inside a phrase.
 */
export type Lexicon = Partial<Record<LexicalConcept, string>>;
