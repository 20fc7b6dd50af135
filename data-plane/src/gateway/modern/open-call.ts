/**
 * A call of a modern client that waits at a legacy server, which may ask the client something while
 * it works. The client hears of it as `input_required` and makes its request again with the answers
 * (MCP 2026-07-28, multi round-trip requests); meanwhile the call stays open here.
 */
import type { CallAnswer } from '../../enforcement/enforcer.ts';
import {
  Cancellation,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamFailureKind,
  type UpstreamNotification,
  type UpstreamRequest,
} from '../../upstream/upstream.ts';

interface Question {
  method: string;
  params: Record<string, unknown>;
  resolve(answer: UpstreamAnswer): void;
  fail(failure: UpstreamFailure): void;
}

/** What became of it: an answer, or questions that the client has to answer first. */
export type Turn = { kind: 'answered'; answer: CallAnswer } | { kind: 'asked' };

/** Questions that may wait for one call at a time. */
const MAX_QUESTIONS = 16;

export class OpenCall {
  readonly cancellation = new Cancellation();
  /** Where what comes before the answer goes: to the request that waits now. */
  onNotification: ((notification: UpstreamNotification) => void) | null = null;
  /** A request of the client waits for it. */
  isAwaited = true;
  readonly #questions = new Map<string, Question>();
  #answer: CallAnswer | null = null;
  #next: (() => void) | null = null;
  #nextKey = 1;

  /** What stands for this call at the session with the server; it never carries anything itself. */
  readonly send = (): boolean => false;

  /** Takes the answer of the server, which no longer waits for what it asked. */
  settle(answer: CallAnswer): void {
    this.#answer = answer;
    this.#failAll('the server has answered');
    this.#next?.();
  }

  /** Waits for the answer or for a question, whichever is there first. */
  async turn(): Promise<Turn> {
    if (this.#answer === null && this.#questions.size === 0) {
      await new Promise<void>((resolve) => {
        this.#next = resolve;
      });
      this.#next = null;
    }
    if (this.#answer !== null) return { kind: 'answered', answer: this.#answer };
    return { kind: 'asked' };
  }

  /** Asks the client, once the question was allowed and recorded. */
  ask(
    { method }: UpstreamRequest,
    params: Record<string, unknown>,
    exchange: UpstreamExchange,
    timeoutMs: number,
  ): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      // It may have been withdrawn, or become pointless, while it was judged.
      requireStillWanted(exchange);
      if (this.#answer !== null) {
        throw new UpstreamFailure('unreachable', 'the server has answered');
      }
      if (this.#questions.size >= MAX_QUESTIONS) {
        throw new UpstreamFailure('unreachable', 'too many questions wait for the client');
      }
      const key = `${method}-${this.#nextKey++}`;
      const finish = () => {
        clearTimeout(timer);
        exchange.cancellation.onCancel = null;
        this.#questions.delete(key);
      };
      const fail = (failure: UpstreamFailure) => {
        finish();
        reject(failure);
      };
      const timer = setTimeout(
        () => fail(new UpstreamFailure('timeout', 'the client did not answer in time')),
        timeoutMs,
      );
      exchange.cancellation.onCancel = () =>
        fail(new UpstreamFailure('cancelled', 'the server withdrew it'));
      const answered = (answer: UpstreamAnswer) => {
        finish();
        resolve(answer);
      };
      this.#questions.set(key, { method, params, resolve: answered, fail });
      this.#next?.();
    });
  }

  /** Gives the answers of the client to what was asked. Others are none of its business. */
  deliver(responses: Record<string, unknown>): void {
    for (const [key, value] of Object.entries(responses)) {
      this.#questions.get(key)?.resolve({ kind: 'result', raw: JSON.stringify(value), value });
    }
  }

  /** What the client is asked now. */
  inputRequests(): Record<string, { method: string; params: Record<string, unknown> }> {
    return Object.fromEntries(
      [...this.#questions].map(([key, { method, params }]) => [key, { method, params }]),
    );
  }

  /** Nobody waits for it any more. */
  abandon(): void {
    this.#failAll('the client gave the call up');
    this.cancellation.cancel();
  }

  #failAll(why: string): void {
    for (const { fail } of [...this.#questions.values()]) {
      fail(new UpstreamFailure('unreachable', why));
    }
  }
}

const FAILURES: ReadonlySet<string> = new Set<UpstreamFailureKind>([
  'unreachable',
  'timeout',
  'too_large',
  'malformed',
  'refused',
  'unsupported',
  'busy',
]);

/**
 * The answer of an open call as what the request that was made again gets from "its server".
 *
 * @throws UpstreamFailure where there is none
 */
export function toUpstreamAnswer(answer: CallAnswer): UpstreamAnswer {
  switch (answer.kind) {
    case 'result':
      return answer;
    case 'upstream-error':
      return { kind: 'error', raw: answer.raw, value: JSON.parse(answer.raw) };
    case 'cancelled':
      throw new UpstreamFailure('cancelled', 'the call was cancelled');
    case 'error': {
      if (answer.status === 401) throw new UpstreamFailure('barred', answer.message);
      const failure = String(answer.data?.failure);
      const kind = FAILURES.has(failure) ? (failure as UpstreamFailureKind) : 'malformed';
      throw new UpstreamFailure(kind, answer.message);
    }
  }
}
