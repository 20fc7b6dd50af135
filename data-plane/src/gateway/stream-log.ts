/**
 * Event streams that a client can resume (MCP, "Resumability and redelivery"). The latest events
 * are kept, so that a broken connection loses nothing: the client comes back by GET with
 * Last-Event-ID within a minute. Bounded for each stream and in total (replay-room.ts); what exceeds
 * the bounds is lost, as it would be without resumption.
 */
import type { ServerResponse } from 'node:http';
import type { ByteOwner } from '../upstream/shares/owned-bytes.ts';
import { eventText } from './event-stream.ts';
import type { KeepingStream, Kept, ReplayRoom } from './replay-room.ts';
import type { Outlet } from './unread-answers.ts';

/** How long a stream without a connection is kept. */
const KEPT_MS = 60_000;
/** Events kept of each stream; the last one may be larger, since it may be a result. */
const MAX_EVENTS = 256;
const MAX_BYTES = 256 * 1024;
/** Streams kept of a session. */
const MAX_STREAMS = 32;

export interface StreamOptions {
  /** Bytes queued for a slow client, beyond which events are dropped. */
  maxBuffered: number;
  /** Whether it lasts until it is ended explicitly, unlike the answer to a request. */
  isLasting: boolean;
  /** The agent's outlet, which bounds unread bytes. */
  outlet: Outlet;
}

/** One stream, across all connections that carry it. */
export class LoggedStream implements KeepingStream {
  readonly name: string;
  readonly owner: ByteOwner;
  readonly #room: ReplayRoom;
  readonly #onGone: () => void;
  readonly #options: StreamOptions;
  #events: { n: number; text: string; bytes: number }[] = [];
  #bytes = 0;
  #next = 1;
  #raw: ServerResponse | null = null;
  #isEnded = false;
  #isGone = false;
  /** Its session ended: open answers finish, and nothing is kept. */
  #isForgotten = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    name: string,
    options: StreamOptions,
    { owner, room }: ReplayPlace,
    onGone: () => void,
  ) {
    this.name = name;
    this.owner = owner;
    this.#options = options;
    this.#room = room;
    this.#onGone = onGone;
  }

  /** Whether a connection carries it now. */
  get isAttached(): boolean {
    return this.#raw !== null && !this.#raw.destroyed && !this.#raw.writableEnded;
  }

  /**
   * Attaches a connection whose head was sent.
   *
   * @param after the number of the event after which it goes on; nothing is repeated without it
   */
  attach(raw: ServerResponse, after = Number.POSITIVE_INFINITY): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    // A broken connection may not have been noticed yet.
    if (this.isAttached) this.#raw?.end();
    this.#raw = raw;
    raw.once('close', () => this.#detached(raw));
    for (const { n, text } of this.#events) {
      if (n <= after) continue;
      if (!this.#options.outlet.hasRoom(text.length)) {
        // The rest is kept until the agent has read what it has.
        raw.destroy();
        return;
      }
      raw.write(text);
      this.#options.outlet.follow(raw);
    }
    if (this.#isEnded) raw.end();
    this.#place();
  }

  /** Sends a message, or keeps it for a later connection. False: it is lost. */
  write(json: string): boolean {
    if (this.#isEnded || this.#isGone) return false;
    const raw = this.isAttached ? this.#raw : null;
    if (raw !== null && raw.writableLength >= this.#options.maxBuffered) return false;
    if (raw !== null && !this.#options.outlet.hasRoom(json.length)) return false;
    const text = this.#keep(json, false);
    raw?.write(text);
    if (raw !== null) this.#options.outlet.follow(raw);
    return true;
  }

  /**
   * Ends its connection with an event from which the client can resume.
   *
   * @param retryMs after which it should
   */
  pause(retryMs: number): void {
    if (!this.isAttached || this.#isEnded || this.#isGone || this.#isForgotten) return;
    const raw = this.#raw;
    // At once, or the part already sent would be taken for everything.
    this.#raw = null;
    raw?.end(`id: ${this.name}-${this.#next++}\nretry: ${retryMs}\ndata: \n\n`);
    this.#place();
  }

  /** Sends the last message, if there is one, and ends. */
  end(json: string | null): void {
    if (this.#isEnded || this.#isGone) return;
    this.#isEnded = true;
    const text = json === null ? undefined : this.#keep(json, true);
    const raw = this.isAttached ? this.#raw : null;
    if (raw === null) this.#expire();
    // It is kept, and can be fetched when the agent has read what it has.
    else if (text !== undefined && !this.#options.outlet.hasRoom(text.length)) raw.destroy();
    else {
      raw.end(text);
      this.#options.outlet.follow(raw);
    }
  }

  /** Lets the present connection continue, and keeps nothing for another. */
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

  /** See `KeepingStream.dropOldest`. */
  dropOldest(): boolean {
    const oldest = this.#events.shift();
    if (oldest === undefined) return false;
    this.#bytes -= oldest.bytes;
    this.#room.give(this, oldest.bytes);
    this.#place();
    return true;
  }

  #detached(raw: ServerResponse): void {
    if (this.#raw !== raw || this.#isGone) return;
    this.#raw = null;
    this.#place();
    // Either everything was sent, or nothing that the client could resume from.
    const isDone = (this.#isEnded && raw.writableFinished) || this.#next === 1;
    if (isDone || this.#isForgotten) this.drop();
    // A pending answer is waited for however long it takes; once it is there it expires.
    else if (this.#isEnded || this.#options.isLasting) this.#expire();
  }

  #expire(): void {
    this.#timer ??= setTimeout(() => this.drop(), KEPT_MS).unref();
  }

  #release(): void {
    while (this.dropOldest());
  }

  #keep(json: string, isAnswer: boolean): string {
    const n = this.#next++;
    const text = eventText(json, `${this.name}-${n}`);
    const bytes = Buffer.byteLength(text);
    if (this.#isForgotten) return text;
    while (
      this.#events.length >= MAX_EVENTS ||
      (this.#bytes + bytes > MAX_BYTES && this.#events.length > 0)
    ) {
      this.dropOldest();
    }
    if (this.#room.take(this, bytes, isAnswer)) {
      this.#events.push({ n, text, bytes });
      this.#bytes += bytes;
    }
    this.#place();
    return text;
  }

  /** Lets the room know what may be dropped. Answers, which end streams, may not. */
  #place(): void {
    const kept: Kept = this.isAttached ? 'sent' : 'waiting';
    this.#room.place(this, this.#isEnded || this.#events.length === 0 ? null : kept);
  }
}

/** Whose events are kept, and where. */
interface ReplayPlace {
  owner: ByteOwner;
  room: ReplayRoom;
}

/** The streams of one session. */
export class StreamLog {
  readonly #place: ReplayPlace;
  readonly #streams = new Map<string, LoggedStream>();
  #next = 1;

  constructor(place: ReplayPlace) {
    this.#place = place;
  }

  /** Opens a stream. Calls `onGone` once when it can no longer be resumed. */
  open(options: StreamOptions, onGone: () => void = () => undefined): LoggedStream {
    if (this.#streams.size >= MAX_STREAMS) {
      const idle = [...this.#streams.values()].find((stream) => !stream.isAttached);
      idle?.drop();
    }
    const name = String(this.#next++);
    const stream = new LoggedStream(name, options, this.#place, () => {
      this.#streams.delete(name);
      onGone();
    });
    this.#streams.set(name, stream);
    return stream;
  }

  /**
   * The stream that an event belonged to.
   *
   * @param lastEventId of the header, caller-controlled
   */
  find(lastEventId: unknown): { stream: LoggedStream; n: number } | undefined {
    const parsed = typeof lastEventId === 'string' ? EVENT_ID.exec(lastEventId) : null;
    const stream = this.#streams.get(parsed?.[1] ?? '');
    return stream && { stream, n: Number(parsed?.[2]) };
  }

  /** The session ended. Answers in progress are still delivered. */
  close(): void {
    for (const stream of [...this.#streams.values()]) stream.forget();
  }
}

const EVENT_ID = /^(\d{1,9})-(\d{1,12})$/;
