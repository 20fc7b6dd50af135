/**
 * The connection to one server over HTTP: its address, the gateway's credential there, and the
 * requests in progress. The session that holds it decides which MCP is spoken.
 */

import { notAllowed } from '@governance/shared/outbound/address-policy';
import type { Dispatcher } from 'undici';
import { HOPS_HEADER } from '../hops.ts';
import type { ClientInfo } from '../initialize.ts';
import type { AnswerBytes } from '../shares/answer-room.ts';
import type { FairShares, ShareAccount } from '../shares/fair-shares.ts';
import { UpstreamFailure, type UpstreamLimits } from '../upstream.ts';
import { type CredentialCover, createCredentialCover } from './credential-cover.ts';
import { HttpExchange } from './http-exchange.ts';
import type { HttpRequest } from './http-request.ts';
import { createReadingTimes } from './reading-times.ts';

/** The kinds of HTTP requests to a server, each with connections of its own. */
export type Traffic =
  /** Requests whose answer somebody waits for. */
  | 'calls'
  /** Notifications and answers to the server. */
  | 'quiet'
  /** Streams that stay open for long. */
  | 'streams';
export type Dispatchers = Record<Traffic, Pick<Dispatcher, 'dispatch'>>;
export type Shares = Record<Traffic, FairShares>;

export interface HttpChannelOptions {
  url: string;
  dispatchers: Dispatchers;
  shares: Shares;
  /** The account that its requests count against. */
  account: ShareAccount;
  /** Counts what no call of an agent counts: handshakes, lists that are learned, streams. */
  openRoom(): AnswerBytes;
  /** The header that authenticates the gateway to the server, if any. */
  findCredential(): Promise<[string, string] | null>;
  /** Called when the server first repeats that credential, which is covered then. */
  onRepeated?(): void;
  isHostAllowed(host: string): boolean;
  limits: UpstreamLimits;
  client: ClientInfo;
  /** Gateways that requests have passed before this one. */
  hops?: number;
}

/** Shared by all servers, since one event loop reads their streams. */
const spendReading = createReadingTimes();

/** Bytes that are read of an answer that nobody waits for. */
const QUIET_BYTES = 64 * 1024;

/** Something that can be aborted. */
interface Running {
  abort(): void;
}

export class HttpChannel {
  readonly limits: UpstreamLimits;
  readonly #options: HttpChannelOptions;
  readonly #origin: string;
  readonly #path: string;
  readonly #host: string;
  readonly #running = new Set<Running>();
  readonly openRoom: () => AnswerBytes;
  #cover: CredentialCover | undefined;
  #hasRepeated = false;

  constructor(options: HttpChannelOptions) {
    const url = new URL(options.url);
    this.limits = options.limits;
    this.openRoom = options.openRoom;
    this.#options = options;
    this.#origin = url.origin;
    this.#path = url.pathname + url.search;
    this.#host = url.hostname;
  }

  /**
   * The headers of every request, the two of a body first.
   *
   * @returns names and values in turn, ready for undici
   * @throws UpstreamFailure where the server must not be asked, or cannot be
   */
  async prepare(): Promise<string[]> {
    const refusal = this.#findRefusal();
    if (refusal !== undefined) throw refusal;
    let credential: [string, string] | null;
    try {
      credential = await this.#options.findCredential();
    } catch (error) {
      throw new UpstreamFailure('refused', 'the credential for the server cannot be opened', {
        cause: error,
      });
    }
    this.#cover = createCredentialCover(credential, () => this.#repeated());
    const { client, hops = 0 } = this.#options;
    return [
      ...['content-type', 'application/json'],
      ...['accept', 'application/json, text/event-stream'],
      ...['user-agent', `${client.name}/${client.version}`],
      ...[HOPS_HEADER, String(hops + 1)],
      ...(credential ?? []),
    ];
  }

  #repeated(): void {
    if (!this.#hasRepeated) this.#options.onRepeated?.();
    this.#hasRepeated = true;
  }

  #findRefusal(): UpstreamFailure | undefined {
    if (this.#options.isHostAllowed(this.#host)) return undefined;
    return new UpstreamFailure('refused', notAllowed(this.#host));
  }

  /** Sends one HTTP request within a share that was taken: a call gets its own from its session. */
  dispatch(
    traffic: Traffic,
    method: 'GET' | 'POST' | 'DELETE',
    headers: string[],
    body: string | null,
    exchange: HttpExchange,
  ): void {
    const { dispatchers, shares, account, limits } = this.#options;
    // The address policy may have changed since the session was opened.
    const refusal = this.#findRefusal();
    if (refusal !== undefined) {
      exchange.refuse(refusal);
      return;
    }
    exchange.cover = this.#cover;
    exchange.spendReading = (begun, ended) => spendReading(account.agent, begun, ended);
    // An aborted one still waits for its connection.
    exchange.lingers = () => {
      shares[traffic].hold(account);
      return () => shares[traffic].give(account);
    };
    dispatchers[traffic].dispatch(
      {
        origin: this.#origin,
        path: this.#path,
        method,
        headers,
        body,
        // Our own timer ends a request; these only clean up after it.
        headersTimeout: limits.timeoutMs + 5000,
        bodyTimeout: traffic === 'streams' ? 0 : limits.timeoutMs + 5000,
      },
      exchange,
    );
  }

  /**
   * Takes a share for a stream that stays open for long.
   *
   * @returns gives it back; undefined where there is none
   */
  findStreamRoom(): (() => void) | undefined {
    const { shares, account } = this.#options;
    if (!shares.streams.tryTake(account)) return undefined;
    let isTaken = true;
    return () => {
      if (isTaken) shares.streams.give(account);
      isTaken = false;
    };
  }

  /**
   * Sends a message whose answer nobody waits for. Never rejects: without room in its agent's share,
   * or where anything throws, it is not sent.
   *
   * @param findBody asked directly before it is sent; null for no body, undefined for no message
   */
  async sendQuietly(
    method: 'POST' | 'DELETE',
    headers: string[],
    findBody: (() => string | undefined) | null,
    timeoutMs: number,
  ): Promise<void> {
    const { shares, account } = this.#options;
    // A server may ask any number of questions at once, and an error for each would cost too much.
    if (shares.quiet.refuses(account)) return;
    try {
      const room = shares.quiet.take(account);
      if (room !== undefined) await room;
    } catch {
      return;
    }
    try {
      const body = findBody === null ? null : findBody();
      if (body !== undefined) await this.#exchangeQuietly(method, headers, body, timeoutMs);
    } catch {
      // `findBody` threw: whether it may be sent is unknown.
    } finally {
      shares.quiet.give(account);
    }
  }

  /** Resolves when the exchange has ended, however. Never rejects. */
  #exchangeQuietly(
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
      const exchange = new HttpExchange(sink, Math.min(QUIET_BYTES, this.limits.messageBytes));
      const running = {
        abort: () => {
          exchange.abort();
          finish();
        },
      };
      const timer = setTimeout(running.abort, timeoutMs);
      this.#running.add(running);
      try {
        this.dispatch('quiet', method, headers, body, exchange);
      } catch {
        finish();
      }
    });
  }

  /** Sends a JSON-RPC request, unless it is over already; `abortAll` ends it. */
  send(traffic: Traffic, headers: string[], text: string, request: HttpRequest) {
    if (!request.isOver) {
      this.#running.add(request);
      this.dispatch(traffic, 'POST', headers, text, request.exchange);
    }
    return request.answer;
  }

  /** The exchange of a request has ended. */
  untrack(running: Running): void {
    this.#running.delete(running);
  }

  abortAll(): void {
    for (const running of this.#running) running.abort();
    this.#running.clear();
  }
}
