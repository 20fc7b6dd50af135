/**
 * A share of each turn of the event loop for work that somebody else can ask for at will. What goes
 * beyond it is for a later turn, so that others are served in between. Proven by turn-share.test.ts.
 */
export class TurnShare {
  readonly #ms: number;
  #spent = 0;
  #isCounting = false;

  /** @param ms of one turn; the work under way may exceed it */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Whether this turn has time for more. */
  get hasTime(): boolean {
    return this.#spent < this.#ms;
  }

  /** Does work and counts its time. */
  spend<T>(work: () => T): T {
    const begun = performance.now();
    try {
      return work();
    } finally {
      this.#spent += performance.now() - begun;
      this.#count();
    }
  }

  /** A turn ends with the immediates that were set before it. */
  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#spent = 0;
    });
  }
}
