/**
 * What the pattern engine promises: expressions are matched in time linear in the text, whatever
 * the expression and the text. Findings are offsets, never text.
 */

/** An expression with the name that its matches carry. */
export interface PatternSource {
  readonly id: string;
  readonly regex: string;
}

/**
 * Where patterns come from. `builtin` patterns are ours: they may use what they need and never give
 * up. `tenant` patterns are caller-controlled: small, and given up when a text costs too much.
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
   * Which patterns match anywhere in the text, in the order of the set, in one pass for all of
   * them.
   *
   * @param text at most MAX_TEXT_LENGTH UTF-16 units; a lone surrogate is read as U+FFFD
   * @throws RangeError for a longer text
   * @throws PatternBudgetError when a tenant's set gives up
   */
  hits(text: string): readonly string[];
  /**
   * Every match that does not overlap another of the same pattern, leftmost first, sorted by start;
   * at most MAX_MATCHES_PER_PATTERN per pattern. Alternatives are preferred in their written order,
   * as in JavaScript. Clean text costs one pass, as with `hits`.
   *
   * @throws as `hits`
   */
  find(text: string): PatternMatch[];
  /**
   * Frees the compiled form. A set that is used again is recompiled; one that is dropped without
   * `close` is evicted eventually.
   */
  close(): void;
}

/** UTF-16 units of one expression. */
export const MAX_REGEX_LENGTH = 1_000;
/** Patterns of one tenant in a set. */
export const MAX_TENANT_PATTERNS = 200;
/** Patterns in a set of ours. */
export const MAX_BUILTIN_PATTERNS = 512;
/** Matches of one pattern in one text that `find` returns. */
export const MAX_MATCHES_PER_PATTERN = 100;
/** UTF-16 units of one text. */
export const MAX_TEXT_LENGTH = 8 * 1024 * 1024;

/** An expression that the engine rejects; `message` is fit for a 422's `detail`. */
export class PatternSyntaxError extends Error {
  /** The pattern's id. */
  readonly id: string;
  /** UTF-16 units from the start of the expression to the error. */
  readonly offset: number;

  constructor(id: string, message: string, offset: number) {
    super(message);
    this.name = 'PatternSyntaxError';
    this.id = id;
    this.offset = offset;
  }
}

/**
 * A tenant's set gave up on this text, or a set is too large to compile. On the enforcement path
 * this is a denial.
 */
export class PatternBudgetError extends Error {
  override readonly name = 'PatternBudgetError';
}
