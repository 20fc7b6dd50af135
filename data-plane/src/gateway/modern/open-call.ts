/**
 * A call of a modern client that waits at a legacy server, which may ask the client something while
 * it works. The client hears of it as `input_required` and makes its request again with the answers
 * (MCP 2026-07-28, multi round-trip requests); meanwhile the call stays open here.
 */
import type { Answer } from '../../enforcement/answer.ts';
import type { Ask } from '../../enforcement/calls.ts';
import {
  Cancellation,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamNotification,
} from '../../upstream/upstream.ts';
import { Question } from '../client-questions.ts';

interface Asked {
  ask: Ask;
  question: Question;
}

/** Questions that may wait for one call at a time. */
const MAX_QUESTIONS = 16;

export class OpenCall {
  readonly cancellation = new Cancellation();
  /** Where what comes before the answer goes: to the request that waits now. */
  onNotification: ((notification: UpstreamNotification) => void) | null = null;
  /** A request of the client waits for it. */
  isAwaited = true;
  readonly #questions = new Map<string, Asked>();
  #answer: Answer | null = null;
  #next: (() => void) | null = null;
  #nextKey = 1;

  /** What stands for this call at the session with the server; it never carries anything itself. */
  readonly send = (): boolean => false;

  /** Takes the answer of the server, which no longer waits for what it asked. */
  settle(answer: Answer): void {
    this.#answer = answer;
    this.#failAll('the server has answered');
    this.#next?.();
  }

  /** Waits for the answer; null where there are questions that the client has to answer first. */
  async turn(): Promise<Answer | null> {
    if (this.#answer === null && this.#questions.size === 0) {
      await new Promise<void>((resolve) => {
        this.#next = resolve;
      });
      this.#next = null;
    }
    return this.#answer;
  }

  /** Asks the client, once the question was allowed and recorded. */
  async ask(ask: Ask, exchange: UpstreamExchange, timeoutMs: number): Promise<UpstreamAnswer> {
    // It may have been withdrawn, or become pointless, while it was judged.
    requireStillWanted(exchange);
    if (this.#answer !== null) throw new UpstreamFailure('unreachable', 'the server has answered');
    if (this.#questions.size >= MAX_QUESTIONS) {
      throw new UpstreamFailure('unreachable', 'too many questions wait for the client');
    }
    const key = `${ask.method}-${this.#nextKey++}`;
    const question = new Question(exchange, timeoutMs, () => this.#questions.delete(key));
    this.#questions.set(key, { ask, question });
    this.#next?.();
    return question.answer;
  }

  /** Gives the answers of the client to what was asked. Other keys are ignored. */
  deliver(responses: Record<string, unknown>): void {
    for (const [key, value] of Object.entries(responses)) {
      this.#questions
        .get(key)
        ?.question.resolve({ kind: 'result', raw: JSON.stringify(value), value });
    }
  }

  /** What the client is asked now. */
  inputRequests(): Record<string, { method: string; params: Record<string, unknown> }> {
    return Object.fromEntries(
      [...this.#questions].map(([key, { ask }]) => [key, { method: ask.method, params: ask.args }]),
    );
  }

  /** Nobody waits for it any more. */
  abandon(): void {
    this.#failAll('the client gave the call up');
    this.cancellation.cancel();
  }

  #failAll(why: string): void {
    for (const { question } of [...this.#questions.values()]) {
      question.fail(new UpstreamFailure('unreachable', why));
    }
  }
}
