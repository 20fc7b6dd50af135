/**
 * One HTTP exchange with a Streamable HTTP server, on undici's dispatcher (its lower level: the
 * request API's stream costs more than the rest of the hop). The answer is JSON or a stream of
 * events; either way each message is handed on as a text, and none larger than the limit.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { ByteCollector } from '@governance/shared/byte-collector';
import type { Dispatcher } from 'undici';
import { SMALL_ANSWER } from '../shares/answer-room.ts';
import { UpstreamFailure } from '../upstream.ts';
import type { CredentialCover } from './credential-cover.ts';
import { EventReader } from './event-reader.ts';
import type { SpendReading } from './reading-times.ts';

export interface ExchangeSink {
  /** The head of the answer, before any message. */
  onHead?(status: number, headers: IncomingHttpHeaders): void;
  /** One JSON-RPC message, or the whole body where the status is no 2xx. */
  onMessage(text: string, status: number): void;
  /**
   * An event has an id, from which the stream can be resumed.
   *
   * @returns whether it is new, and its message is to be delivered
   */
  onEventId?(id: string, data: string): boolean;
  /** How long to wait before the stream is resumed, in milliseconds. */
  onRetry?(ms: number): void;
  /**
   * Counts bytes as `UpstreamExchange.hold` does. Absent where nothing is counted.
   *
   * @returns the failure where there is no room for them
   */
  hold?(bytes: number): UpstreamFailure | null;
  /** The answer ended; `error` is an UpstreamFailure when it ended badly. Called once. */
  onEnd(status: number, error: UpstreamFailure | null): void;
}

/** Bytes of an answer that is an error; only its kind matters. */
const MAX_ERROR_BODY = 64 * 1024;
/** A stream that takes longer than this to read, and half of the time, is ended. */
const MOST_READING_MS = 1_000;
/**
 * Less than this is no reason to end a stream, however much the others of its agent take: an answer
 * of any size and some notifications come in fewer lines.
 */
const LEAST_READING_MS = 10;
const LEAST_LINES = 64;

/** A running exchange. `abort` ends it without a further call of the sink. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #sink: ExchangeSink;
  readonly #limit: number;
  #controller: Dispatcher.DispatchController | null = null;
  #mode: 'json' | 'events' | 'error' | 'ignore' = 'ignore';
  #status = 0;
  readonly #body: ByteCollector;
  #bytes = 0;
  /** What is counted of it. */
  #held = 0;
  #events: EventReader | null = null;
  /** Milliseconds that events took to read, and when their stream began. */
  #readingMs = 0;
  #begunAt = 0;
  #isOver = false;
  /** Counts an exchange that is over but still waits for a connection; called once. */
  lingers: (() => () => void) | null = null;
  #leave: (() => void) | null = null;
  /** Counts the reading of its events with that of its agent's other streams. */
  spendReading: SpendReading | null = null;
  /** Covers the gateway's credential in each message. */
  cover: CredentialCover | undefined;

  constructor(sink: ExchangeSink, limit: number) {
    this.#sink = sink;
    this.#limit = limit;
    this.#body = new ByteCollector(Math.max(limit, MAX_ERROR_BODY));
  }

  /** Bytes that are counted of what it keeps. */
  get held(): number {
    return this.#held;
  }

  /** Whether nothing of an answer has come, and what has come promises none. */
  get isEmpty(): boolean {
    return this.#bytes === 0 && this.#mode !== 'events' && this.#mode !== 'error';
  }

  /** Whether its request has gone out. */
  get isSent(): boolean {
    return this.#controller !== null;
  }

  /** Whether what answers it is a stream of events. */
  get isStream(): boolean {
    return this.#mode === 'events';
  }

  abort(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#controller === null) this.#leave = this.lingers?.() ?? null;
    else this.#controller.abort(new Error('the exchange was ended'));
  }

  /** Ends it before anything is sent. The sink is called later, as with an answer. */
  refuse(failure: UpstreamFailure): void {
    queueMicrotask(() => this.#end(failure));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the exchange was ended'));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200 || this.#isOver) return;
    this.#status = status;
    const type = (headers['content-type'] ?? '').toLowerCase();
    if (status >= 300) this.#mode = 'error';
    else if (type.startsWith('application/json')) this.#mode = 'json';
    else if (type.startsWith('text/event-stream')) {
      this.#mode = 'events';
      this.#events = this.#readEvents();
      this.#begunAt = performance.now();
    }
    this.#sink.onHead?.(status, headers);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    switch (this.#mode) {
      case 'json':
        this.#bytes += chunk.length;
        if (this.#bytes > this.#limit) this.#fail(this.#tooLarge());
        else if (this.#hold(this.#bytes)) this.#body.add(chunk);
        return;
      case 'events':
        this.#readEventsOf(chunk);
        return;
      case 'error':
        this.#bytes += chunk.length;
        if (this.#bytes <= MAX_ERROR_BODY) this.#body.add(chunk);
        return;
      case 'ignore':
        this.#bytes += chunk.length;
        if (this.#bytes > MAX_ERROR_BODY) {
          this.#fail(new UpstreamFailure('malformed', 'a body of an unknown content type'));
        }
    }
  }

  /**
   * A stream may bring any number of lines and events. It is not paused where it brings too many:
   * undici throws where a server ends a paused answer of unknown length.
   */
  #readEventsOf(chunk: Buffer): void {
    const begun = performance.now();
    this.#events?.push(chunk);
    const now = performance.now();
    this.#readingMs += now - begun;
    const isShareSpent = this.spendReading?.(begun, now) ?? false;
    if (!this.#isOver && this.#events) this.#hold(this.#events.waiting);
    if (this.#isOver) return;
    const takesHalf = this.#readingMs > (now - this.#begunAt) / 2;
    const isOwnSpent = this.#readingMs >= MOST_READING_MS && takesHalf;
    const hasFlooded =
      this.#readingMs >= LEAST_READING_MS && (this.#events?.lines ?? 0) >= LEAST_LINES;
    if (isOwnSpent || (isShareSpent && hasFlooded)) {
      this.#fail(new UpstreamFailure('too_large', 'a stream of more than can be read'));
    }
  }

  /** @param bytes that the exchange keeps now */
  #hold(bytes: number): boolean {
    if (this.#held === 0 && bytes <= SMALL_ANSWER) return true;
    const more = bytes - this.#held;
    this.#held = bytes;
    const failure = more === 0 ? null : (this.#sink.hold?.(more) ?? null);
    if (failure !== null) this.#fail(failure);
    return failure === null;
  }

  onResponseEnd(): void {
    this.#left();
    if (this.#isOver) return;
    if (this.#mode === 'json' || this.#mode === 'error') {
      const body = this.#body.take();
      if (!isUtf8(body)) {
        this.#fail(new UpstreamFailure('malformed', 'the answer is not valid UTF-8'));
        return;
      }
      if (body.length > 0 || this.#mode === 'error') this.#deliver(body.toString('utf8'));
    }
    this.#end(null);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#left();
    this.#end(new UpstreamFailure('unreachable', describe(error), { cause: error }));
  }

  #left(): void {
    this.#leave?.();
    this.#leave = null;
  }

  #readEvents(): EventReader {
    return new EventReader(this.#limit, {
      onEvent: (data, id, type) => {
        if (this.#isOver) return;
        if (id !== undefined && this.#sink.onEventId?.(id, data) === false) return;
        // An event without data only gives the stream its id. Those of other types, such as `ping`,
        // are no messages.
        if (data !== '' && (type === '' || type === 'message')) this.#deliver(data);
      },
      onId: (id) => void this.#sink.onEventId?.(id, ''),
      onRetry: (ms) => this.#sink.onRetry?.(ms),
      onTooLarge: () => this.#fail(this.#tooLarge()),
      onMalformed: () =>
        this.#fail(new UpstreamFailure('malformed', 'the stream is not valid UTF-8')),
    });
  }

  #deliver(message: string): void {
    const text = this.cover?.(message) ?? message;
    if (text.length > this.#limit) {
      this.#fail(this.#tooLarge());
      return;
    }
    // An event within one chunk was not counted while it came.
    if (text.length > this.#held && !this.#hold(text.length)) return;
    try {
      this.#sink.onMessage(text, this.#status);
    } catch (error) {
      const failure =
        error instanceof UpstreamFailure
          ? error
          : new UpstreamFailure('malformed', describe(error), { cause: error });
      this.#fail(failure);
    }
  }

  #tooLarge(): UpstreamFailure {
    return new UpstreamFailure('too_large', `a message of more than ${this.#limit} bytes`);
  }

  #fail(failure: UpstreamFailure): void {
    const controller = this.#controller;
    this.#end(failure);
    controller?.abort(failure);
  }

  #end(error: UpstreamFailure | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onEnd(this.#status, error);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const code = 'code' in error ? String(error.code) : error.name;
  return error.message === '' ? code : `${code}: ${error.message}`;
}
