/**
 * The HTTP answer to a POST. It is one JSON body, unless something has to be told before the
 * result is there: then it becomes a stream of events, at once.
 */
import type { FastifyReply } from 'fastify';
import { eventText, streamHeaders } from './event-stream.ts';

/** What a client accepts; a client that says nothing accepts everything. */
export interface Accepts {
  json: boolean;
  events: boolean;
}

export class PostAnswer {
  readonly #reply: FastifyReply;
  readonly #accepts: Accepts;
  readonly #maxBuffered: number;
  #isStream = false;

  /** @param maxBuffered bytes that wait for a slow client, beyond which notifications are dropped */
  constructor(reply: FastifyReply, accepts: Accepts, maxBuffered: number) {
    this.#reply = reply;
    this.#accepts = accepts;
    this.#maxBuffered = maxBuffered;
  }

  /** Sends a message now. False: the client cannot take it. */
  notify(text: string): boolean {
    if (!this.#accepts.events) return false;
    this.#stream();
    const { raw } = this.#reply;
    if (raw.destroyed || raw.writableEnded || raw.writableLength >= this.#maxBuffered) return false;
    raw.write(eventText(text));
    return true;
  }

  /**
   * Sends the answer and ends.
   *
   * @param text null when there is nothing to say any more: the request was cancelled
   */
  end(status: number, text: string | null): void {
    const { raw } = this.#reply;
    if (this.#isStream || (status === 200 && (text === null || !this.#accepts.json))) {
      this.#stream();
      if (!raw.destroyed) raw.end(text === null ? undefined : eventText(text));
      return;
    }
    this.#reply
      .code(status)
      .header('content-type', 'application/json')
      .send(text ?? '');
  }

  #stream(): void {
    if (this.#isStream) return;
    this.#isStream = true;
    this.#reply.hijack();
    const { raw } = this.#reply;
    raw.on('error', () => undefined);
    raw.writeHead(200, streamHeaders(this.#reply));
  }
}

/** Reads Accept. A list of media types; parameters do not matter here. */
export function parseAccept(header: string | undefined): Accepts {
  if (header === undefined || header === '') return { json: true, events: true };
  const accepts = { json: false, events: false };
  for (const part of header.split(',')) {
    const type = part.split(';', 1)[0]?.trim().toLowerCase();
    if (type === '*/*') return { json: true, events: true };
    if (type === 'application/json' || type === 'application/*') accepts.json = true;
    if (type === 'text/event-stream' || type === 'text/*') accepts.events = true;
  }
  return accepts;
}
