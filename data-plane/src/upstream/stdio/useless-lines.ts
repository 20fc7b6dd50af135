/**
 * Lines that nobody waits for: no JSON-RPC, blank, too long, or answers to no request. A process
 * that writes this many within a minute, without any other between them, is ended.
 */
import { MINUTE_MS } from '@governance/shared/time/durations';

export const MAX_USELESS = 1000;

/** Counts them for one process after the other. */
export class UselessLines {
  #count = 0;
  #since = 0;

  get count(): number {
    return this.#count;
  }

  /** A line that was waited for, or another process. */
  reset(): void {
    this.#count = 0;
  }

  /** @returns whether these are too many */
  add(lines: number): boolean {
    const now = performance.now();
    if (now - this.#since > MINUTE_MS) {
      this.#count = 0;
      this.#since = now;
    }
    this.#count += lines;
    return this.#count > MAX_USELESS;
  }
}
