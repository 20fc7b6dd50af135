/**
 * The HTTP answer to a POST: one JSON body, unless the client prefers event streams or something
 * has to be sent before the result; then it becomes a stream at once.
 */
import type { FastifyReply } from 'fastify';
import type { Refusal } from '../enforcement/call/answer.ts';
import { eventText, streamHeaders } from './event-stream.ts';
import { errorText, GatewayError, type RpcId } from './json-rpc.ts';
import type { LoggedStream, StreamLog, StreamOptions } from './stream-log.ts';

/** Answers below this size fit the system's own buffers, so unread bytes are not checked. */
const SMALL = 4096;

/** What a client accepts; a client without an Accept header accepts everything. */
export interface Accepts {
  readonly json: boolean;
  readonly events: boolean;
  /** Event streams come before JSON in its Accept header. */
  readonly prefersEvents: boolean;
}

interface PostAnswerOptions extends Pick<StreamOptions, 'maxBuffered' | 'outlet'> {
  accepts: Accepts;
  /** The session's log; null without one. */
  log: StreamLog | null;
}

export class PostAnswer {
  readonly #reply: FastifyReply;
  readonly #options: PostAnswerOptions;
  #isStream = false;
  /** Listeners for the end of the connection. */
  #leaving: Set<() => void> | null = null;
  /** In a session the stream can be resumed. */
  #logged: LoggedStream | null = null;

  constructor(reply: FastifyReply, options: PostAnswerOptions) {
    this.#reply = reply;
    this.#options = options;
  }

  /**
   * Calls back when the connection is gone; at once if it already is.
   *
   * @returns removes the listener
   */
  onGone(listener: () => void): () => void {
    const { raw } = this.#reply;
    if (raw.destroyed) listener();
    if (this.#leaving === null) {
      const leaving = new Set<() => void>();
      // One listener for all: a batch has many requests.
      raw.once('close', () => {
        for (const onLeave of [...leaving]) onLeave();
      });
      this.#leaving = leaving;
    }
    const leaving = this.#leaving;
    leaving.add(listener);
    return () => leaving.delete(listener);
  }

  /** Sends a notification now, if the client can take it. */
  notify(text: string): void {
    if (!this.#options.accepts.events) return;
    this.#stream();
    if (this.#logged !== null) this.#logged.write(text);
    else this.#write(text);
  }

  /** Sends a message now. False: there is no connection that could take it. */
  send(text: string): boolean {
    if (!this.#options.accepts.events) return false;
    this.#stream();
    if (this.#logged !== null) return this.#logged.isAttached && this.#logged.write(text);
    return this.#write(text);
  }

  /** Ends the connection; later messages are kept for the client to fetch, where it can. */
  pause(retryMs: number): void {
    if (!this.#options.accepts.events || this.#options.log === null) return;
    this.#stream();
    this.#logged?.pause(retryMs);
  }

  /**
   * Sends the answer and ends.
   *
   * @param text null for no answer: the request was cancelled
   * @param unsent makes what is said instead where the agent has too much unread
   */
  end(status: number, text: string | null, unsent?: () => string): void {
    const { outlet } = this.#options;
    const isResumable = this.#isStream && this.#logged !== null;
    const isChecked = text !== null && text.length > SMALL && !isResumable;
    if (isChecked && !outlet.hasRoom(text.length)) {
      this.end(status, unsent?.() ?? null);
      return;
    }
    this.#send(status, text);
    outlet.follow(this.#reply.raw);
  }

  #send(status: number, text: string | null): void {
    const { raw } = this.#reply;
    const { accepts } = this.#options;
    const wantsStream = !accepts.json || accepts.prefersEvents;
    if (this.#isStream || (status === 200 && (text === null || wantsStream))) {
      this.#stream();
      if (this.#logged !== null) this.#logged.end(text);
      else if (!raw.destroyed) raw.end(text === null ? undefined : eventText(text));
      return;
    }
    this.#reply
      .code(status)
      .header('content-type', 'application/json')
      .send(text ?? '');
  }

  #write(text: string): boolean {
    const { raw } = this.#reply;
    const { maxBuffered, outlet } = this.#options;
    if (raw.destroyed || raw.writableEnded || raw.writableLength >= maxBuffered) return false;
    if (!outlet.hasRoom(text.length)) return false;
    raw.write(eventText(text));
    outlet.follow(raw);
    return true;
  }

  #stream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#reply.hijack();
    const { raw } = this.#reply;
    raw.on('error', () => undefined);
    raw.writeHead(200, streamHeaders(this.#reply));
    const { log, maxBuffered, outlet } = this.#options;
    if (log === null) return;
    this.#logged = log.open({ maxBuffered, isLasting: false, outlet });
    this.#logged.attach(raw);
  }
}

/**
 * What the client of a POST accepts.
 *
 * @throws GatewayError 406 where it accepts neither
 */
export function requireAccept(header: string | undefined): Accepts {
  const accepts = parseAccept(header);
  if (accepts.json || accepts.events) return accepts;
  throw new GatewayError(406, 'Accept must name application/json and text/event-stream.');
}

/** Headers whose parsed form is cached, and the characters of each, at most: clients send few. */
const MAX_KNOWN = 64;
const MAX_KNOWN_LENGTH = 256;
const known = new Map<string, Accepts>();

/** Reads Accept. */
export function parseAccept(header: string | undefined): Accepts {
  if (header === undefined || header === '') return ANYTHING;
  let accepts = known.get(header);
  if (accepts !== undefined) return accepts;
  accepts = readAccept(header);
  if (header.length > MAX_KNOWN_LENGTH) return accepts;
  // caller-controlled
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(header, accepts);
  return accepts;
}

const ANYTHING: Accepts = { json: true, events: true, prefersEvents: false };

/** A list of media types; parameters are ignored. */
function readAccept(header: string): Accepts {
  const accepts = { json: false, events: false, prefersEvents: false };
  for (const part of header.split(',')) {
    const type = part.split(';', 1)[0]?.trim().toLowerCase();
    if (type === '*/*') return { ...ANYTHING, prefersEvents: accepts.prefersEvents };
    if (type === 'application/json' || type === 'application/*') accepts.json = true;
    if (type === 'text/event-stream' || type === 'text/*') {
      accepts.events = true;
      accepts.prefersEvents ||= !accepts.json;
    }
  }
  return accepts;
}

/** Answers a request with an error, as one JSON body. */
export function sendError(
  reply: FastifyReply,
  status: number,
  id: RpcId | null,
  { code, message, data }: Pick<Refusal, 'code' | 'message' | 'data'>,
): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(errorText(id, code, message, data));
}
