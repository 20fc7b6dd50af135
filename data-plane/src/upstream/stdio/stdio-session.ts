/**
 * An MCP session (legacy revisions) with a process from the operator's file. One process serves one
 * agent at one server, so its memory never mixes agents. It is started with the first request, and
 * restarted with the next request after it exited.
 */

import { shareRun } from '../../storage/share-run.ts';
import { type EraCandidate, EraRefusal, requireLegacyKnows } from '../era.ts';
import {
  answerServer,
  bareNotification,
  initializeRequest,
  parseInitializeAnswer,
  requestText,
  type SessionOptions,
} from '../initialize.ts';
import {
  ownExchange,
  requireEligible,
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  type UpstreamInfo,
  type UpstreamNotification,
  type UpstreamRequest,
} from '../upstream.ts';
import type { StdioChannel } from './stdio-channel.ts';

export class StdioUpstreamSession implements EraCandidate {
  readonly #options: SessionOptions;
  readonly #channel: StdioChannel;
  #info: UpstreamInfo | null = null;
  readonly #open = shareRun(() => this.#start());
  #wasOpen = false;
  #listener: ((notification: UpstreamNotification) => void) | null = null;

  constructor(channel: StdioChannel, options: SessionOptions) {
    this.#channel = channel;
    this.#options = options;
  }

  get pending(): number {
    return this.#channel.pending;
  }

  get isOpen(): boolean {
    return this.#info !== null;
  }

  open(): Promise<UpstreamInfo> {
    return this.#info === null ? this.#open() : Promise.resolve(this.#info);
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    requireStillWanted(exchange);
    let info = this.#info;
    if (info === null) {
      info = await this.open();
      requireStillWanted(exchange);
    }
    requireLegacyKnows(request, info);
    return this.#send(request, exchange);
  }

  notify(method: string): void {
    if (this.#info !== null) this.#channel.write(bareNotification(method));
  }

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#listener = listener;
  }

  close(): Promise<void> {
    this.#listener = null;
    return this.#channel.close();
  }

  async #start(): Promise<UpstreamInfo> {
    const { peer } = this.#options;
    this.#channel.receiver = {
      asked: (request, send, reply) => answerServer(request, peer, send, reply),
      notified: (notification) => this.#notified(notification),
      ended: () => {
        this.#info = null;
        peer?.abandon();
      },
    };
    await this.#channel.start();
    const initialize = initializeRequest(this.#options);
    try {
      requireEligible(this.#options);
      const info = parseInitializeAnswer(await this.#send(initialize, ownExchange()));
      requireEligible(this.#options);
      this.#channel.write(bareNotification('notifications/initialized'));
      this.#info = info;
      if (this.#wasOpen) this.#options.onReopened?.();
      this.#wasOpen = true;
      return info;
    } catch (error) {
      if (error instanceof EraRefusal) this.#options.onEraRefused?.();
      // What it made of the attempt is unknown: the next attempt uses a new process.
      else void this.#channel.stop('initialize failed');
      throw error;
    }
  }

  #send(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    const { method, wantsProgress } = request;
    const { timeoutMs } = this.#channel.limits;
    const text = (id: number) => requestText(id, request);
    return this.#channel.send({ method, wantsProgress, text, timeoutMs }, exchange);
  }

  #notified(notification: UpstreamNotification): void {
    if (notification.method === 'notifications/cancelled') {
      this.#options.peer?.withdraw(notification.params?.requestId);
    } else this.#listener?.(notification);
  }
}
