/**
 * One JSON-RPC request in progress over HTTP: from its POST to the response with its id, its
 * time-out, or its cancellation, whichever comes first.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { StatusFailure } from '../era.ts';
import { parseUpstreamMessages, type UpstreamMessage } from '../message.ts';
import {
  type AnswerBytes,
  noRoom,
  noRoomFor,
  noRoomYet,
  SMALL_ANSWER,
} from '../shares/answer-room.ts';
import {
  type SendToClient,
  type ServerRequest,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamNotification,
} from '../upstream.ts';
import { type ExchangeSink, HttpExchange } from './http-exchange.ts';
import { ResumePoint, type SeenEvents } from './resume-point.ts';
import { endLater } from './unended.ts';

export interface HttpRequestHooks {
  /** The headers of an answer with a 2xx status. */
  onHeaders?: ((headers: IncomingHttpHeaders) => void) | undefined;
  /** The server asks something along with its answer. */
  asked?(request: ServerRequest, send: SendToClient | undefined): void;
  /** The server no longer waits for what it asked. */
  withdrawn?(requestId: unknown): void;
  /** The request was given up before the server answered. */
  abandon?(): void;
  /**
   * The server rejected the request as a whole: its HTTP status is 4xx or 5xx. Some say 400, not
   * 404, for a session that they have forgotten.
   */
  refused(status: number): void;
  /** For a stream that ends before the response: the rest is fetched by the id of its last event. */
  rest?: {
    readonly seen: SeenEvents;
    fetch(lastEventId: string, exchange: HttpExchange): void;
  };
  /**
   * The server accepted the request without an answer.
   *
   * @returns whether that may come on the session's stream (stream-answers.ts)
   */
  accepted?(): boolean;
  /**
   * Nobody waits for an answer any more.
   *
   * @param isInPost it came in the answer to the POST
   */
  settled?(isInPost: boolean): void;
  /** The HTTP exchange has ended, and nothing else is waited for. */
  done(request: HttpRequest): void;
}

export interface HttpRequestLimits {
  /** Milliseconds until it is given up; null for what stays open for long. */
  timeoutMs: number | null;
  messageBytes: number;
  messageNodes?: number | undefined;
  /** The server is stateless: no session can be lost. */
  isStateless?: boolean;
  /** Counts the answer where its caller does not. */
  openRoom?: (() => AnswerBytes) | undefined;
}

const NO_RESPONSE = 'the answer ended without a response';
export const ONLY_TAKEN =
  'the server accepted the request (202) and did not answer it: MCP wants the response to a request in the answer to its POST';

export class HttpRequest implements ExchangeSink {
  exchange: HttpExchange;
  /** Rejects with UpstreamFailure. `session-gone` is an HTTP 404. */
  readonly answer: Promise<UpstreamAnswer | 'session-gone'>;
  isOver = false;
  readonly #id: number;
  readonly #caller: UpstreamExchange;
  readonly #hooks: HttpRequestHooks;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #begunAt = performance.now();
  readonly #limits: HttpRequestLimits;
  #room: AnswerBytes | null = null;
  /** Where events have ids. */
  #point: ResumePoint | null = null;
  #resumeTimer: NodeJS.Timeout | undefined;
  /** The exchange that answered has ended. */
  #isEnded = false;
  /** To be called when it has, if it was waited for. */
  #forget: () => void = () => undefined;
  /** The rest of an answer, requested by GET. */
  #isResumed = false;
  /** It was accepted: the answer comes on the session's stream. */
  #awaitsStream = false;
  #resolve: (answer: UpstreamAnswer | 'session-gone') => void = () => undefined;
  #reject: (failure: UpstreamFailure) => void = () => undefined;

  constructor(
    id: number,
    caller: UpstreamExchange,
    limits: HttpRequestLimits,
    hooks: HttpRequestHooks,
  ) {
    this.#id = id;
    this.#caller = caller;
    this.#hooks = hooks;
    this.#limits = limits;
    this.exchange = new HttpExchange(this, limits.messageBytes);
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    if (limits.timeoutMs !== null) {
      const giveUp = () => this.#giveUp('timeout', 'no answer in time');
      this.#timer = setTimeout(giveUp, limits.timeoutMs);
    }
    caller.cancellation.onCancel = () => this.#giveUp('cancelled', 'the client cancelled it');
  }

  onHead(status: number, headers: IncomingHttpHeaders): void {
    if (this.#isResumed) {
      if (this.exchange.isStream) this.#point?.opened();
      return;
    }
    if (status >= 400) this.#hooks.refused(status);
    if (status < 300) this.#hooks.onHeaders?.(headers);
  }

  onMessage(text: string, status: number): void {
    // What comes behind the answer belongs to no call.
    if (this.isOver) this.#cutOff();
    else if (status < 300) {
      this.#read(text);
    } else if (this.#limits.isStateless) {
      this.#readRefusal(text, status);
    } else if (status === 400 && !this.#isResumed) {
      // A 400 sometimes carries the JSON-RPC error of this request; if not, the status says enough.
      try {
        this.#read(text);
      } catch {
        return;
      }
    }
  }

  onEventId(id: string, data: string): boolean {
    return this.#findPoint()?.take(id, data, this.#isResumed) ?? true;
  }

  onRetry(ms: number): void {
    this.#findPoint()?.setRetry(ms);
  }

  #findPoint(): ResumePoint | null {
    const { rest } = this.#hooks;
    if (rest !== undefined) this.#point ??= new ResumePoint(rest.seen);
    return this.#point;
  }

  hold(bytes: number): UpstreamFailure | null {
    // What an answer takes that has arrived stays counted as long as its call; what comes behind it
    // is cut off.
    if (this.isOver) return bytes <= 0 ? null : noRoom();
    if (this.#caller.hold) return this.#caller.hold(bytes) ? null : noRoom();
    this.#room ??= this.#limits.openRoom?.() ?? null;
    return this.#room === null || this.#room.hold(bytes) ? null : noRoomYet();
  }

  onEnd(status: number, error: UpstreamFailure | null): void {
    if (!this.isOver && this.#resumeLater(status, error)) return;
    this.#isEnded = true;
    this.#forget();
    if (this.#isAccepted(status, error) && this.#hooks.accepted?.()) {
      this.#awaitsStream = true;
      return;
    }
    this.#hooks.done(this);
    if (this.isOver) return;
    this.#finish();
    if (error !== null) this.#reject(error);
    // Never `session-gone`, which makes a request be sent again: this one was sent.
    else if (this.#isResumed) {
      this.#reject(new UpstreamFailure('malformed', 'the answer ended and was not resumed'));
    } else if (status === 404 && !this.#limits.isStateless) this.#resolve('session-gone');
    else if (status >= 300) this.#reject(new StatusFailure(status));
    else this.#reject(new UpstreamFailure('malformed', status === 202 ? ONLY_TAKEN : NO_RESPONSE));
  }

  get #msLeft(): number {
    const { timeoutMs } = this.#limits;
    const taken = performance.now() - this.#begunAt;
    return timeoutMs === null
      ? Number.POSITIVE_INFINITY
      : Math.max(0, Math.ceil(timeoutMs - taken));
  }

  #isAccepted(status: number, error: UpstreamFailure | null): boolean {
    if (this.isOver || this.#isResumed || error !== null) return false;
    return status === 202 || (status >= 200 && this.exchange.isEmpty);
  }

  /** Its response may come before the answer to its POST has, which is another connection. */
  get #isOpenToStream(): boolean {
    if (this.isOver || this.#isResumed || this.#point !== null) return false;
    return this.#awaitsStream || (this.exchange.isSent && this.exchange.isEmpty);
  }

  /** The response came on the session's stream. */
  answerOnStream(answer: UpstreamAnswer): void {
    if (!this.#isOpenToStream) return;
    const bytes = answer.raw.length;
    const failure = bytes <= SMALL_ANSWER ? null : this.hold(bytes);
    if (failure === null) this.#answered(answer);
    else this.#fail(failure);
  }

  /** @returns whether it waits for what comes there */
  progressOnStream(notification: UpstreamNotification): boolean {
    if (!this.#isOpenToStream) return false;
    this.#caller.onNotification(notification);
    return true;
  }

  /** The stream on which its response was to come has ended. */
  streamEnded(failure: UpstreamFailure): void {
    if (!this.#awaitsStream || this.isOver) return;
    // Without room for a message, whose it was is unknown, and this request was sent.
    this.#fail(failure.kind === 'busy' ? noRoomFor(this.#caller) : failure);
  }

  #fail(failure: UpstreamFailure): void {
    this.#finish();
    if (this.#isEnded) this.#hooks.done(this);
    else this.#cutOff();
    this.#reject(failure);
  }

  #read(text: string): void {
    for (const message of parseUpstreamMessages(text, this.#limits.messageNodes)) {
      // In a batch too.
      if (this.isOver) return;
      if (message.kind === 'notification') {
        if (message.method === 'notifications/cancelled') {
          this.#hooks.withdrawn?.(message.params?.requestId);
        } else this.#caller.onNotification(message);
      } else if (message.kind === 'request') {
        this.#hooks.asked?.(message, this.#caller.send);
      } else if (message.id === this.#id) {
        this.#answered(message.answer);
      }
    }
  }

  #answered(answer: UpstreamAnswer): void {
    this.#finish(!this.exchange.isEmpty);
    this.#resolve(answer);
    if (this.#awaitsStream) {
      this.#hooks.done(this);
      return;
    }
    // A server that never ends its answer would keep a connection for each.
    // Most answers end in the same turn.
    queueMicrotask(() => {
      if (!this.#isEnded) this.#forget = endLater(() => this.#cutOff());
    });
  }

  #cutOff(): void {
    this.#isEnded = true;
    this.#forget();
    this.#hooks.done(this);
    this.exchange.abort();
  }

  /**
   * A modern server gives its own errors an HTTP status. Without a readable request there is no id;
   * a proxy or a guard in between answers 401 and 403, which concerns the operator, not the agent.
   */
  #readRefusal(text: string, status: number): void {
    if (status === 401 || status === 403 || this.isOver) return;
    let messages: UpstreamMessage[];
    try {
      messages = parseUpstreamMessages(text, this.#limits.messageNodes);
    } catch {
      return;
    }
    const [only] = messages;
    if (messages.length !== 1 || only?.kind !== 'response') return;
    if (only.answer.kind === 'result') return;
    const isUnnamed = (only.id ?? null) === null && (status === 400 || status === 404);
    if (only.id === this.#id || isUnnamed) this.#answered(only.answer);
  }

  /**
   * A server may end a stream before the response, for the client to fetch the rest later (MCP,
   * resumability); or the connection may break. The request's time-out keeps running.
   */
  #resumeLater(status: number, error: UpstreamFailure | null): boolean {
    const point = this.#point;
    const lastEventId = point?.lastEventId ?? null;
    const rest = this.#hooks.rest;
    if (point === null || lastEventId === null || rest === undefined) return false;
    const wasStream = this.exchange.isStream;
    const isCut = wasStream && (error === null || error.kind === 'unreachable');
    if (!isCut && (wasStream || !this.#isResumed || !point.failed(status, error))) return false;
    const { delayMs } = point;
    // Whoever comes back later than the call ends finds nothing.
    if (wasStream && error === null) this.#caller.onPaused?.(Math.min(delayMs, this.#msLeft));
    // What had arrived of an event is dropped with its exchange.
    this.hold(-this.exchange.held);
    this.#resumeTimer = setTimeout(() => {
      this.#isResumed = true;
      this.exchange = new HttpExchange(this, this.#limits.messageBytes);
      const ineligible = this.#caller.findIneligibility?.();
      if (ineligible === undefined) rest.fetch(lastEventId, this.exchange);
      else this.exchange.refuse(new UpstreamFailure('ineligible', ineligible));
    }, delayMs);
    return true;
  }

  /** Ends the request because its session ends. */
  abort(): void {
    this.exchange.abort();
    if (this.isOver) return;
    this.#finish();
    this.#reject(new UpstreamFailure('unreachable', 'the session was closed'));
  }

  #giveUp(kind: 'timeout' | 'cancelled', message: string): void {
    if (this.isOver) return;
    this.#finish();
    this.#hooks.done(this);
    this.exchange.abort();
    this.#hooks.abandon?.();
    this.#reject(new UpstreamFailure(kind, message));
  }

  #finish(isInPost = false): void {
    this.isOver = true;
    this.#hooks.settled?.(isInPost);
    this.#room?.release();
    clearTimeout(this.#timer);
    clearTimeout(this.#resumeTimer);
    this.#caller.cancellation.onCancel = null;
  }
}
