/**
 * A call of a modern client that waits at a legacy server, which may ask the client something in
 * the meantime. The client receives the question as `input_required` and repeats its request with
 * the answers (MCP 2026-07-28, multi round-trip requests); until then the call stays open here.
 */
import type { Answer } from '../../enforcement/call/answer.ts';
import type { Ask } from '../../enforcement/call/calls.ts';
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

/** Questions that one call may have waiting at a time. */
const MAX_QUESTIONS = 16;

export class OpenCall {
  readonly cancellation = new Cancellation();
  /** Receives what comes before the answer: the request that waits now. */
  onNotification: ((notification: UpstreamNotification) => void) | null = null;
  /** A request of the client waits for it. */
  isAwaited = true;
  readonly #questions = new Map<string, Asked>();
  #answer: Answer | null = null;
  #next: (() => void) | null = null;
  #nextKey = 1;

  /** Identifies this call at the session with the server; it never carries anything itself. */
  readonly send = (): boolean => false;

  /** Takes the server's answer; its questions no longer matter. */
  settle(answer: Answer): void {
    this.#answer = answer;
    this.#failAll('the server has answered');
    this.#next?.();
  }

  /** Waits for the answer; null where the client has to answer questions first. */
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
    // It may have been withdrawn, or become moot, while it was judged.
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

  /** Delivers the client's answers. Unknown keys are ignored. */
  deliver(responses: Record<string, unknown>): void {
    for (const [key, value] of Object.entries(responses)) {
      this.#questions
        .get(key)
        ?.question.resolve({ kind: 'result', raw: JSON.stringify(value), value });
    }
  }

  /** The client's open questions. */
  inputRequests(): Record<string, { method: string; params: Record<string, unknown> }> {
    return Object.fromEntries(
      [...this.#questions].map(([key, { ask }]) => [key, { method: ask.method, params: ask.args }]),
    );
  }

  /** The client no longer waits for it. */
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
