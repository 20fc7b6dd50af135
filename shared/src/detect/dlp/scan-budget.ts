/**
 * How much work one text may cost, with all its readings. Some texts have many readings, each full
 * of candidates; what cannot be examined in bounded time is not let through.
 */
import { PatternBudgetError } from '../engine/pattern-contract.ts';

/** The text could not be examined completely. On the enforcement path this is a denial. */
export class ScanBudgetError extends Error {
  constructor() {
    super('the text takes too long to be scanned');
    this.name = 'ScanBudgetError';
  }
}

/** Each function throws when no budget is left. */
export interface Budget {
  /** Called before the engine reads a text or a slice of it. */
  read(characters: number): void;
  /** Charges what a reading found, including marks of disguises. */
  found(matches: number): void;
  /** Called before a candidate is judged. */
  judge(): void;
}

/** Its functions throw ScanBudgetError. */
export interface ScanBudget extends Budget {
  /**
   * The same again for the tenant's own patterns, so that they take nothing from the built-in ones.
   * Its functions throw PatternBudgetError.
   */
  readonly own: Budget;
}

/** UTF-16 units that the engine reads: per unit of the text (a long table of digests needs 19), and for any text. */
const READ_EACH = 20;
const READ_AT_LEAST = 64 * 1024;
/** Fixed cost of an engine call, in characters. */
const CALL = 64;
/** Characters that the engine reads in the time of one match. */
const MATCH = 12;
/** Candidates that are judged: one per so many characters, and a number for any text. */
const CHARACTERS_A_CANDIDATE = 6;
const CANDIDATES_AT_LEAST = 4096;

/** @param length UTF-16 units of the original text */
export function createScanBudget(length: number): ScanBudget {
  return new BudgetOfLength(length);
}

/** Every scan has one or two. */
class BudgetOfLength implements ScanBudget {
  readonly #length: number;
  readonly #isOwn: boolean;
  #characters: number;
  #candidates: number;
  #own: Budget | undefined;

  constructor(length: number, isOwn = false) {
    this.#length = length;
    this.#isOwn = isOwn;
    this.#characters = READ_EACH * length + READ_AT_LEAST;
    this.#candidates = Math.ceil(length / CHARACTERS_A_CANDIDATE) + CANDIDATES_AT_LEAST;
  }

  get own(): Budget {
    this.#own ??= new BudgetOfLength(this.#length, true);
    return this.#own;
  }

  read(count: number): void {
    this.#charge(count + CALL);
  }

  found(matches: number): void {
    this.#charge(matches * MATCH);
  }

  judge(): void {
    if (--this.#candidates < 0) throw this.#exhausted();
  }

  #charge(characters: number): void {
    this.#characters -= characters;
    if (this.#characters < 0) throw this.#exhausted();
  }

  #exhausted(): Error {
    if (!this.#isOwn) return new ScanBudgetError();
    return new PatternBudgetError('the patterns have too many matches in this text');
  }
}
