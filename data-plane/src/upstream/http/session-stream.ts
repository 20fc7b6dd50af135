/**
 * The stream that a session opens by itself (GET), for what its server sends unprompted. If answers
 * come there and its events have ids, it is resumed where it was cut, and the calls go on waiting.
 * Proven by session-stream.test.ts and stream-answers.test.ts.
 */
import { inTime } from '@governance/shared/time/in-time';
import { parseUpstreamMessages, type UpstreamMessage } from '../message.ts';
import { noRoomYet } from '../shares/answer-room.ts';
import { UpstreamFailure } from '../upstream.ts';
import type { HttpChannel } from './http-channel.ts';
import { HttpExchange } from './http-exchange.ts';
import { isPassing, ResumePoint, type SeenEvents } from './resume-point.ts';
import type { StreamAnswers } from './stream-answers.ts';

export interface SessionStreamOptions {
  channel: HttpChannel;
  /** The session's, ready for undici. */
  headers: string[];
  answers: StreamAnswers;
  seen: SeenEvents;
  /** Why the agent that it belongs to may not act; undefined where it may. */
  findIneligibility(): string | undefined;
  /** What is no response. */
  onMessage(message: Exclude<UpstreamMessage, { kind: 'response' }>): void;
  /** The server has forgotten the session. */
  onForgotten(): void;
}

const NO_STREAM = 405;
const FIRST_DELAY_MS = 1000;
const MAX_DELAY_MS = 30_000;
/** Some servers send nothing on their stream, not even headers, before their first message. */
const OPENED_MS = 500;

export class SessionStream {
  readonly #options: SessionStreamOptions;
  readonly #point: ResumePoint;
  #exchange: HttpExchange | null = null;
  /** Gives its share back, which it keeps while it is to be resumed. */
  #giveBack: (() => void) | null = null;
  #releaseRoom: () => void = () => undefined;
  #opened: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #delayMs = FIRST_DELAY_MS;
  /** Once the server had such a stream for the session, 400 and 404 say that it has forgotten it. */
  #wasOpen = false;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
    this.#point = new ResumePoint(options.seen);
  }

  /** Whether it is open, on its way, or to be resumed. */
  get hasPlace(): boolean {
    return this.#giveBack !== null;
  }

  /** Whether the server has answered the request for it, as far as that is worth waiting for. */
  get opened(): Promise<void> {
    return this.#opened;
  }

  /** Opens it, unless it is open or to be resumed later. */
  start(): void {
    const isPaused = this.#giveBack !== null && this.#point.isTimed;
    if (this.#exchange === null && !isPaused) this.#open();
  }

  /** Ends it, and what waits for it. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#exchange?.abort();
    this.#exchange = null;
    this.#leave();
    this.#point.reset();
    this.#options.answers.fail(new UpstreamFailure('unreachable', 'the session was closed'));
  }

  #leave(): void {
    this.#releaseRoom();
    this.#giveBack?.();
    this.#giveBack = null;
  }

  #open(): void {
    clearTimeout(this.#timer);
    const { channel, answers, headers } = this.#options;
    const ineligible = this.#options.findIneligibility();
    if (ineligible !== undefined) {
      // It may act again later.
      this.#leave();
      this.#point.reset();
      answers.fail(new UpstreamFailure('ineligible', ineligible));
    } else this.#giveBack ??= channel.findStreamRoom() ?? null;
    if (this.#giveBack === null) {
      this.#openAnew(0);
      return;
    }
    const { lastEventId } = this.#point;
    const exchange = this.#createExchange(lastEventId !== null);
    this.#exchange = exchange;
    const resumed = lastEventId === null ? [] : ['last-event-id', lastEventId];
    const all = [...eventHeaders(headers), ...resumed];
    channel.dispatch('streams', 'GET', all, null, exchange);
  }

  #createExchange(isResumed: boolean): HttpExchange {
    const { channel, answers } = this.#options;
    const { messageBytes, messageNodes } = channel.limits;
    const room = channel.openRoom();
    let answered = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answered = resolve;
    });
    this.#opened = inTime(isAnswered, OPENED_MS, () => undefined);
    this.#releaseRoom = () => {
      room.release();
      answered();
    };
    let status = 0;
    const onEnd = (error: UpstreamFailure | null) => {
      if (this.#exchange !== exchange) return;
      this.#exchange = null;
      this.#releaseRoom();
      this.#ended(status, error, isResumed);
    };
    const exchange = new HttpExchange(
      {
        onHead: (code) => {
          // MCP has no other answer than such a stream or 405.
          const isNone = code < 300 && !exchange.isStream;
          status = isNone ? NO_STREAM : code;
          answered();
          if (isNone) {
            exchange.abort();
            onEnd(null);
          }
          if (status >= 300) return;
          this.#wasOpen = true;
          this.#point.opened();
        },
        onEventId: (id, data) => this.#point.take(id, data, isResumed),
        onRetry: (ms) => this.#point.setRetry(ms),
        onMessage: (text) => {
          if (status >= 300) return;
          for (const message of parseUpstreamMessages(text, messageNodes)) {
            if (message.kind === 'response') answers.take(message);
            else if (message.kind !== 'notification' || !answers.takeProgress(message)) {
              this.#options.onMessage(message);
            }
          }
        },
        hold: (bytes) => (room.hold(bytes) ? null : noRoomYet()),
        onEnd: (_status, error) => onEnd(error),
      },
      messageBytes,
    );
    return exchange;
  }

  /** @param status 0 without an answer. @param isResumed it was asked for the rest of a stream */
  #ended(status: number, error: UpstreamFailure | null, isResumed: boolean): void {
    const { answers } = this.#options;
    const isCut = status < 300 && (error === null || error.kind === 'unreachable');
    // What brings too much, or no JSON-RPC, is opened again more and more seldom.
    if (status > 0 && isCut) this.#delayMs = FIRST_DELAY_MS;
    if (this.#isResumable(status, error, isResumed)) {
      const { delayMs } = this.#point;
      const isWaitedFor = answers.underWay.size > 0;
      this.#openIn(isWaitedFor ? delayMs : Math.max(delayMs, FIRST_DELAY_MS));
      return;
    }
    this.#leave();
    const { retryMs } = this.#point;
    this.#point.reset();
    answers.isStreamRefused = status === NO_STREAM && !isResumed;
    answers.ended(status, error, isResumed);
    // An id that the server does not know is a 400 too: it is asked for a new stream first.
    if (this.#wasOpen && (status === 404 || (status === 400 && !isResumed))) {
      this.#options.onForgotten();
      return;
    }
    // 405 and the like: the server offers no such stream.
    if (status >= 400 && !isPassing(status, error) && !isResumed) return;
    this.#openAnew(retryMs);
  }

  #isResumable(status: number, error: UpstreamFailure | null, isResumed: boolean): boolean {
    if (!this.#options.answers.isExpected || this.#point.lastEventId === null) return false;
    if (status >= 200 && status < 300) return error === null || error.kind === 'unreachable';
    return isResumed && this.#point.failed(status, error);
  }

  /** @param leastMs what the server asked for */
  #openAnew(leastMs: number): void {
    this.#openIn(Math.max(leastMs, this.#delayMs));
    this.#delayMs = Math.min(this.#delayMs * 2, MAX_DELAY_MS);
  }

  #openIn(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), ms);
    this.#timer.unref();
  }
}

/** For a GET, which has no body and accepts only events. */
export function eventHeaders(headers: string[]): string[] {
  return headers
    .map((value) => (value === 'application/json, text/event-stream' ? 'text/event-stream' : value))
    .slice(2);
}
