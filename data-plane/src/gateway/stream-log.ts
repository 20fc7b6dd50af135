/**
 * Streams of events that a client can resume (MCP, "Resumability and redelivery"). What was sent
 * last is kept, so that a connection that breaks loses nothing: the client comes back by GET with
 * Last-Event-ID within a minute. Bounded for each stream and over all; what is not kept is lost,
 * as it is without all this.
 */
import type { ServerResponse } from 'node:http';
import { eventText } from './event-stream.ts';
import type { Outlet } from './unread-answers.ts';

/** How long a stream without a connection is kept. */
const KEPT_MS = 60_000;
/** Of each stream; the last event may be larger, since it may be a result. */
const MAX_EVENTS = 256;
const MAX_BYTES = 256 * 1024;
/** Streams of a session that are kept. */
const MAX_STREAMS = 32;

/** Bytes that streams keep together: those of an agent, and all of the process. */
export interface ReplayBudget {
  used: number;
  readonly max: number;
  /** Of which this one is a part. */
  readonly whole?: ReplayBudget;
}

export interface StreamOptions {
  /** Bytes that wait for a slow client, beyond which events are dropped. */
  maxBuffered: number;
  /** Whether it lasts until somebody ends it, unlike the answer to a request. */
  isLasting: boolean;
  /** Where it goes out, within what may wait for its agent. */
  outlet: Outlet;
}

/** One stream, over all connections that carry it. */
export class LoggedStream {
  readonly name: string;
  readonly #budget: ReplayBudget;
  readonly #onGone: () => void;
  readonly #options: StreamOptions;
  #events: { n: number; text: string; bytes: number }[] = [];
  #bytes = 0;
  #next = 1;
  #raw: ServerResponse | null = null;
  #isEnded = false;
  #isGone = false;
  /** Its session ended: what is under way ends, and nothing is kept. */
  #isForgotten = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(name: string, options: StreamOptions, budget: ReplayBudget, onGone: () => void) {
    this.name = name;
    this.#options = options;
    this.#budget = budget;
    this.#onGone = onGone;
  }

  /** Whether a connection carries it now. */
  get isAttached(): boolean {
    return this.#raw !== null && !this.#raw.destroyed && !this.#raw.writableEnded;
  }

  /**
   * Gives it a connection, whose head was sent.
   *
   * @param after the number of the event after which it goes on; nothing is repeated without it
   */
  attach(raw: ServerResponse, after = Number.POSITIVE_INFINITY): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    // A connection that broke may not be known as such yet.
    if (this.isAttached) this.#raw?.end();
    this.#raw = raw;
    raw.once('close', () => this.#detached(raw));
    for (const { n, text } of this.#events) {
      if (n <= after) continue;
      if (!this.#options.outlet.hasRoom(text.length)) {
        // What is left is kept for when its agent has read what it has.
        raw.destroy();
        return;
      }
      raw.write(text);
      this.#options.outlet.follow(raw);
    }
    if (this.#isEnded) raw.end();
  }

  /** Sends a message, or keeps it for a connection to come. False: it is lost. */
  write(json: string): boolean {
    if (this.#isEnded || this.#isGone) return false;
    const raw = this.isAttached ? this.#raw : null;
    if (raw !== null && raw.writableLength >= this.#options.maxBuffered) return false;
    if (raw !== null && !this.#options.outlet.hasRoom(json.length)) return false;
    const text = this.#keep(json);
    raw?.write(text);
    if (raw !== null) this.#options.outlet.follow(raw);
    return true;
  }

  /**
   * Ends the connection that carries it, with an event by which the client can come back.
   *
   * @param retryMs after which it should
   */
  pause(retryMs: number): void {
    if (!this.isAttached || this.#isEnded || this.#isGone || this.#isForgotten) return;
    const raw = this.#raw;
    // At once, or what went out on it would be taken for all there was.
    this.#raw = null;
    raw?.end(`id: ${this.name}-${this.#next++}\nretry: ${retryMs}\ndata: \n\n`);
  }

  /** Sends the last message, if there is one, and ends. */
  end(json: string | null): void {
    if (this.#isEnded || this.#isGone) return;
    this.#isEnded = true;
    const text = json === null ? undefined : this.#keep(json);
    const raw = this.isAttached ? this.#raw : null;
    if (raw === null) this.#expire();
    // It is kept, and can be fetched when its agent has read what it has.
    else if (text !== undefined && !this.#options.outlet.hasRoom(text.length)) raw.destroy();
    else {
      raw.end(text);
      this.#options.outlet.follow(raw);
    }
  }

  /** Lets the connection go on that there is, and keeps nothing for another. */
  forget(): void {
    this.#isForgotten = true;
    this.#release();
    if (!this.isAttached) this.drop();
  }

  /** Ends it for good, with its connection. */
  drop(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#release();
    if (this.isAttached) this.#raw?.end();
    this.#onGone();
  }

  #detached(raw: ServerResponse): void {
    if (this.#raw !== raw || this.#isGone) return;
    this.#raw = null;
    // All of it went out, or nothing did by which the client could name it.
    const isDone = (this.#isEnded && raw.writableFinished) || this.#next === 1;
    if (isDone || this.#isForgotten) this.drop();
    // An answer is waited for as long as it takes; from then on it is kept.
    else if (this.#isEnded || this.#options.isLasting) this.#expire();
  }

  #expire(): void {
    this.#timer ??= setTimeout(() => this.drop(), KEPT_MS).unref();
  }

  #release(): void {
    this.#grow(-this.#bytes);
    this.#events = [];
  }

  #keep(json: string): string {
    const n = this.#next++;
    const text = eventText(json, `${this.name}-${n}`);
    const bytes = Buffer.byteLength(text);
    if (!this.#isForgotten && hasRoom(this.#budget, bytes)) {
      this.#events.push({ n, text, bytes });
      this.#grow(bytes);
    }
    while (
      this.#events.length > MAX_EVENTS ||
      (this.#bytes > MAX_BYTES && this.#events.length > 1)
    ) {
      this.#grow(-(this.#events.shift()?.bytes ?? 0));
    }
    return text;
  }

  #grow(bytes: number): void {
    this.#bytes += bytes;
    grow(this.#budget, bytes);
  }
}

function hasRoom({ used, max, whole }: ReplayBudget, bytes: number): boolean {
  return used + bytes <= max && (whole === undefined || hasRoom(whole, bytes));
}

function grow(budget: ReplayBudget, bytes: number): void {
  budget.used += bytes;
  if (budget.whole !== undefined) grow(budget.whole, bytes);
}

/** The streams of one session. */
export class StreamLog {
  readonly #budget: ReplayBudget;
  readonly #streams = new Map<string, LoggedStream>();
  #next = 1;

  constructor(budget: ReplayBudget) {
    this.#budget = budget;
  }

  /** Begins a stream. `onGone` is told once when it can be resumed no more. */
  open(options: StreamOptions, onGone: () => void = () => undefined): LoggedStream {
    if (this.#streams.size >= MAX_STREAMS) {
      const idle = [...this.#streams.values()].find((stream) => !stream.isAttached);
      idle?.drop();
    }
    const name = String(this.#next++);
    const stream = new LoggedStream(name, options, this.#budget, () => {
      this.#streams.delete(name);
      onGone();
    });
    this.#streams.set(name, stream);
    return stream;
  }

  /**
   * The stream that an event was of.
   *
   * @param lastEventId of the header, caller-controlled
   */
  find(lastEventId: unknown): { stream: LoggedStream; n: number } | undefined {
    const parsed = typeof lastEventId === 'string' ? EVENT_ID.exec(lastEventId) : null;
    const stream = this.#streams.get(parsed?.[1] ?? '');
    return stream && { stream, n: Number(parsed?.[2]) };
  }

  /** The session ended. Answers under way still come. */
  close(): void {
    for (const stream of [...this.#streams.values()]) stream.forget();
  }
}

const EVENT_ID = /^(\d{1,9})-(\d{1,12})$/;
