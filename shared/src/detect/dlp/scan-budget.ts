/**
 * How much work one text may cost, with all its readings. Some texts have many readings, each full
 * of candidates; what cannot be examined in bounded time is not let through.
 */

/** The text could not be examined completely. On the enforcement path this is a denial. */
export class ScanBudgetError extends Error {
  constructor() {
    super('the text takes too long to be scanned');
    this.name = 'ScanBudgetError';
  }
}

export interface ScanBudget {
  /**
   * Called before the engine reads a text or a slice of it.
   *
   * @throws ScanBudgetError when no budget is left
   */
  read(characters: number): void;
  /**
   * Charges what a reading found, including marks of disguises.
   *
   * @throws ScanBudgetError when no budget is left
   */
  found(matches: number): void;
  /**
   * Called before a candidate is judged.
   *
   * @throws ScanBudgetError when no budget is left
   */
  judge(): void;
}

/** UTF-16 units that the engine reads: per unit of the text, and for any text. */
const READ_EACH = 12;
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
  #characters: number;
  #candidates: number;

  constructor(length: number) {
    this.#characters = READ_EACH * length + READ_AT_LEAST;
    this.#candidates = Math.ceil(length / CHARACTERS_A_CANDIDATE) + CANDIDATES_AT_LEAST;
  }

  read(count: number): void {
    this.#characters -= count + CALL;
    if (this.#characters < 0) throw new ScanBudgetError();
  }

  found(matches: number): void {
    this.#characters -= matches * MATCH;
    if (this.#characters < 0) throw new ScanBudgetError();
  }

  judge(): void {
    if (--this.#candidates < 0) throw new ScanBudgetError();
  }
}
