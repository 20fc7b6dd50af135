/**
 * The way to one server over HTTP: its address, what authenticates the gateway there, and what is
 * under way. Which MCP is spoken on it is the business of the session that holds it.
 */
import type { Dispatcher } from 'undici';
import { HttpExchange } from './http-exchange.ts';
import type { ClientInfo } from './initialize.ts';
import { UpstreamFailure, type UpstreamLimits } from './upstream.ts';

export interface HttpChannelOptions {
  url: string;
  /** Kept connections for calls. */
  dispatcher: Dispatcher;
  /** Connections for streams that stay open for long. */
  streams: Dispatcher;
  /** The header that authenticates the gateway to the server, if any. */
  findCredential(): Promise<[string, string] | null>;
  isHostAllowed(host: string): boolean;
  limits: UpstreamLimits;
  client: ClientInfo;
}

/** What can be ended before its time. */
export interface Running {
  abort(): void;
}

export class HttpChannel {
  readonly limits: UpstreamLimits;
  readonly client: ClientInfo;
  readonly #options: HttpChannelOptions;
  readonly #origin: string;
  readonly #path: string;
  readonly #host: string;
  readonly #running = new Set<Running>();

  constructor(options: HttpChannelOptions) {
    const url = new URL(options.url);
    this.limits = options.limits;
    this.client = options.client;
    this.#options = options;
    this.#origin = url.origin;
    this.#path = url.pathname + url.search;
    this.#host = url.hostname;
  }

  /**
   * The headers that all requests have, the two of a body first.
   *
   * @returns names and values in turn, ready for undici
   * @throws UpstreamFailure where the server must not be asked, or cannot be
   */
  async prepare(): Promise<string[]> {
    if (!this.#options.isHostAllowed(this.#host)) {
      throw new UpstreamFailure('refused', `${this.#host} is not in SERVICE_UPSTREAM_ALLOW`);
    }
    let credential: [string, string] | null;
    try {
      credential = await this.#options.findCredential();
    } catch (error) {
      throw new UpstreamFailure('refused', 'the credential for the server cannot be opened', {
        cause: error,
      });
    }
    return [
      ...['content-type', 'application/json'],
      ...['accept', 'application/json, text/event-stream'],
      ...['user-agent', `${this.client.name}/${this.client.version}`],
      ...(credential ?? []),
    ];
  }

  /**
   * Sends one HTTP request.
   *
   * @param length `stream` for an answer that stays open for long
   */
  dispatch(
    length: 'call' | 'stream',
    method: 'GET' | 'POST' | 'DELETE',
    headers: string[],
    body: string | null,
    exchange: HttpExchange,
  ): void {
    const { dispatcher, streams, limits } = this.#options;
    (length === 'call' ? dispatcher : streams).dispatch(
      {
        origin: this.#origin,
        path: this.#path,
        method,
        headers,
        body,
        // Our own timer ends a request; these only end what it left behind.
        headersTimeout: limits.timeoutMs + 5000,
        bodyTimeout: length === 'stream' ? 0 : limits.timeoutMs + 5000,
      },
      exchange,
    );
  }

  /** Sends what has no answer that anyone waits for. Never rejects. */
  sendQuietly(
    method: 'POST' | 'DELETE',
    headers: string[],
    body: string | null,
    timeoutMs: number,
  ): Promise<void> {
    return new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#running.delete(running);
        resolve();
      };
      const sink = { onMessage: () => undefined, onEnd: finish };
      const exchange = new HttpExchange(sink, this.limits.messageBytes);
      const running = {
        abort: () => {
          exchange.abort();
          finish();
        },
      };
      const timer = setTimeout(running.abort, timeoutMs);
      this.#running.add(running);
      this.dispatch('call', method, headers, body, exchange);
    });
  }

  /** Takes note of what is ended with `abortAll`. */
  track(running: Running): void {
    this.#running.add(running);
  }

  untrack(running: Running): void {
    this.#running.delete(running);
  }

  abortAll(): void {
    for (const running of this.#running) running.abort();
    this.#running.clear();
  }
}
