/**
 * A share of each turn of the event loop for work that somebody else can ask for at will: what goes
 * beyond it waits for a later turn, and others are served in between. Proven by turn-share.test.ts.
 */
export class TurnShare {
  readonly #ms: number;
  #spent = 0;
  #isCounting = false;

  /** @param ms of one turn; the work under way may exceed it */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /** Does work now, or in the next turn that has time for it. */
  take<T>(work: () => T | Promise<T>): T | Promise<T> {
    return this.#spent < this.#ms ? this.#do(work) : this.#later(work);
  }

  async #later<T>(work: () => T | Promise<T>): Promise<T> {
    do await new Promise((resolve) => setImmediate(resolve));
    while (this.#spent >= this.#ms);
    return this.#do(work);
  }

  #do<T>(work: () => T): T {
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
