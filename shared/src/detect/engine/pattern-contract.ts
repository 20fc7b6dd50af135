/**
 * What the pattern engine promises: expressions are matched in time linear in the text, whatever
 * the expression and the text are. What is found is told by offsets, never by text.
 */

/** An expression with the name that its matches carry. */
export interface PatternSource {
  readonly id: string;
  readonly regex: string;
}

/**
 * Where patterns come from. `builtin` patterns are ours: they may use what they need and never
 * give up. `tenant` patterns are caller-controlled: small, and given up when a text costs too much.
 */
export type PatternKind = 'builtin' | 'tenant';

/** One match, in UTF-16 units of the text as JavaScript counts them; `end` is exclusive. */
export interface PatternMatch {
  readonly id: string;
  readonly start: number;
  readonly end: number;
}

export interface PatternSet {
  readonly kind: PatternKind;
  /**
   * Which patterns match somewhere in the text, in the order of the set. One pass for all of them.
   *
   * @param text at most MAX_TEXT_LENGTH UTF-16 units; a lone surrogate is read as U+FFFD
   * @throws RangeError for a longer text
   * @throws PatternBudgetError when a tenant's set gives up
   */
  hits(text: string): readonly string[];
  /**
   * Every match that does not overlap another of the same pattern, leftmost first, sorted by start;
   * at most MAX_MATCHES_PER_PATTERN a pattern. Alternatives are preferred in the order in which they
   * are written, as JavaScript does. Clean text costs one pass, as `hits` does.
   *
   * @throws as `hits`
   */
  find(text: string): PatternMatch[];
  /**
   * Frees the compiled form. A set that is used again compiles again, so that nothing breaks; one
   * that is dropped without `close` gives way by itself.
   */
  close(): void;
}

/** UTF-16 units of one expression. */
export const MAX_REGEX_LENGTH = 1_000;
/** Patterns of one tenant in a set. */
export const MAX_TENANT_PATTERNS = 200;
/** Patterns in a set of our own. */
export const MAX_BUILTIN_PATTERNS = 512;
/** Matches of one pattern in one text that `find` tells. */
export const MAX_MATCHES_PER_PATTERN = 100;
/** UTF-16 units of one text. */
export const MAX_TEXT_LENGTH = 8 * 1024 * 1024;

/** An expression that the engine does not take; `message` is fit for a 422's `detail`. */
export class PatternSyntaxError extends Error {
  /** The pattern's id. */
  readonly id: string;
  /** UTF-16 units from the beginning of the expression to the fault. */
  readonly offset: number;

  constructor(id: string, message: string, offset: number) {
    super(message);
    this.name = 'PatternSyntaxError';
    this.id = id;
    this.offset = offset;
  }
}

/**
 * A tenant's set gave up on this text, or a set is too large to be compiled. On the enforcement
 * path this is a denial.
 */
export class PatternBudgetError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PatternBudgetError';
  }
}
