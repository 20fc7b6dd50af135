/**
 * How much work one text may cost, all its readings together. Texts can be written that have many
 * readings, each full of candidates; what nobody can look at in bounded time is not let through.
 */

/** The text could not be looked at whole. On the enforcement path this is a denial. */
export class ScanBudgetError extends Error {
  constructor() {
    super('the text takes too long to be scanned');
    this.name = 'ScanBudgetError';
  }
}

export interface ScanBudget {
  /**
   * Before the engine reads a text or a slice of it.
   *
   * @throws ScanBudgetError where no budget is left
   */
  read(characters: number): void;
  /**
   * What a reading found, of the marks of disguises too.
   *
   * @throws ScanBudgetError where no budget is left
   */
  found(matches: number): void;
  /**
   * Before a candidate is judged.
   *
   * @throws ScanBudgetError where no budget is left
   */
  judge(): void;
}

/** UTF-16 units that the engine reads, for each of a text and for every text. */
const READ_EACH = 12;
const READ_AT_LEAST = 64 * 1024;
/** Characters that a call into the engine costs beside those of its text. */
const CALL = 64;
/** Characters that the engine reads in the time that a match takes. */
const MATCH = 12;
/** Candidates that are judged: one in so many characters, and for every text. */
const CHARACTERS_A_CANDIDATE = 6;
const CANDIDATES_AT_LEAST = 4096;

/** @param length UTF-16 units of the text as it was given */
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
