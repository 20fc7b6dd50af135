/**
 * The stream that answers one `subscriptions/listen`. It exists before its first byte, while its
 * subscriptions are being made: notifications in that time are queued, within bounds, since the
 * acknowledgement comes first.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { isObject } from '../../upstream/message.ts';
import { eventText, KEEP_ALIVE, streamHeaders } from '../event-stream.ts';
import { notificationText, type RpcId, resultText } from '../json-rpc.ts';
import type { Outlet } from '../unread-answers.ts';

export interface ListenStreamOptions {
  /** The request's id. */
  id: RpcId;
  /** Bytes queued for a slow client, beyond which notifications are dropped. */
  maxBuffered: number;
  /** The agent's outlet, which bounds unread bytes. */
  outlet: Outlet;
  keepAliveMs: number;
  /** Whether its agent may still listen. */
  isEligible(): boolean;
  /** Called once, as soon as nothing more is sent. */
  onEnd(): void;
}

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
/** How long a client may take to read the rest before the connection is closed. */
const LINGER_MS = 10_000;

export class ListenStream {
  readonly #options: ListenStreamOptions;
  readonly #reply: FastifyReply;
  readonly #raw: ServerResponse;
  /** Notifications that came too early; null once it has begun. */
  #early: string[] | null = [];
  #earlyLength = 0;
  #isEnded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(reply: FastifyReply, options: ListenStreamOptions) {
    this.#reply = reply;
    this.#raw = reply.raw;
    this.#options = options;
    this.#raw.once('close', () => {
      clearTimeout(this.#timer);
      this.#over();
    });
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Sends a notification, if the client can take it. For an agent that may not listen any more it
   * ends a stream that has begun.
   */
  notify(method: string, params: Record<string, unknown> | undefined): void {
    if (this.#isEnded) return;
    if (!this.#options.isEligible()) {
      if (this.#early === null) this.#finish();
      return;
    }
    const text = this.#tagged(method, params);
    const { maxBuffered, outlet } = this.#options;
    if (this.#early === null) {
      if (this.#raw.writableLength >= maxBuffered || !outlet.hasRoom(text.length)) return;
      this.#raw.write(text);
      outlet.follow(this.#raw);
    } else if (this.#earlyLength + text.length <= maxBuffered && outlet.hasRoom(text.length)) {
      this.#earlyLength += text.length;
      outlet.hold(text.length);
      this.#early.push(text);
    }
  }

  /** Begins it with the acknowledgement of what the client will receive. */
  begin(notifications: Record<string, unknown>): void {
    const early = this.#early;
    if (this.#isEnded || early === null) return;
    this.#head();
    const method = 'notifications/subscriptions/acknowledged';
    this.#raw.write(this.#tagged(method, { notifications }));
    const { outlet } = this.#options;
    outlet.follow(this.#raw);
    this.#letGo();
    for (const text of early) {
      if (!outlet.hasRoom(text.length)) break;
      this.#raw.write(text);
      outlet.follow(this.#raw);
    }
    this.#timer = setInterval(() => {
      if (!this.#options.isEligible()) this.#finish();
      else if (this.#raw.writableLength === 0) this.#raw.write(KEEP_ALIVE);
    }, this.#options.keepAliveMs);
  }

  /**
   * Ends it with a result, the sign of an orderly end. Before it began that is not for an agent that
   * may not listen any more: who opened it has to abandon it.
   */
  end(): void {
    if (this.#isEnded || (this.#early !== null && !this.#options.isEligible())) return;
    this.begin({});
    const { id } = this.#options;
    const result = { resultType: 'complete', _meta: { [SUBSCRIPTION]: id } };
    this.#finish(eventText(resultText(id, JSON.stringify(result))));
  }

  /** Gives it up before it began: the request gets another answer. */
  abandon(): void {
    this.#over();
  }

  #head(): void {
    this.#early = null;
    this.#reply.hijack();
    this.#raw.on('error', () => undefined);
    this.#raw.writeHead(200, streamHeaders(this.#reply));
  }

  /** @param text the result; none where the agent may not listen any more */
  #finish(text?: string): void {
    this.#over();
    this.#raw.end(text);
    // A client that does not read keeps its connection no longer than that.
    this.#timer = setTimeout(() => this.#raw.destroy(), LINGER_MS).unref();
  }

  #over(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#letGo();
    clearInterval(this.#timer);
    this.#options.onEnd();
  }

  /** What came too early is written now, or given up. */
  #letGo(): void {
    if (this.#earlyLength > 0) this.#options.outlet.hold(-this.#earlyLength);
    this.#earlyLength = 0;
  }

  #tagged(method: string, params: Record<string, unknown> | undefined): string {
    const meta = isObject(params?._meta) ? params._meta : {};
    const _meta = { ...meta, [SUBSCRIPTION]: this.#options.id };
    return eventText(notificationText(method, { ...params, _meta }));
  }
}
