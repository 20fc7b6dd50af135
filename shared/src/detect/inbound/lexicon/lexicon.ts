import type { LexicalConcept } from '../concepts.ts';

/**
 * A language's words for each concept: phrases separated by `|` or line ends; case and accents are
 * ignored; `*` at a word's end stands for any ending. One other word may stand inside a phrase.
 */
export type Lexicon = Partial<Record<LexicalConcept, string>>;
