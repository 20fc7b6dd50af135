/**
 * Turns of one agent's large messages, over all of its streams: each is inspected, and gives back
 * its memory, before the next one is begun. Proven by unprompted.test.ts.
 */
import type { AgentKey } from '../call/calls.ts';

export class LargeTurns {
  /** By agent: ends with the last turn that was taken. */
  readonly #last = new Map<AgentKey, Promise<void>>();

  isTaken(agent: AgentKey): boolean {
    return this.#last.has(agent);
  }

  /** Waits for the turns that were taken before. @returns to be called when this one is over */
  async take(agent: AgentKey): Promise<() => void> {
    const before = this.#last.get(agent);
    const leave = this.begin(agent);
    await before;
    return leave;
  }

  /** Begins a turn at once. @returns to be called when it is over */
  begin(agent: AgentKey): () => void {
    let end = () => {};
    const turn = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#last.set(agent, turn);
    return () => {
      if (this.#last.get(agent) === turn) this.#last.delete(agent);
      end();
    };
  }
}
