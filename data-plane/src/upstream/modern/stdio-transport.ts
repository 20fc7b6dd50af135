/**
 * Modern MCP over a process's standard input and output, which all requests share: messages of a
 * `subscriptions/listen` stream carry that request's id.
 */
import type { StdioChannel } from '../stdio/stdio-channel.ts';
import {
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamNotification,
} from '../upstream.ts';
import { type ModernRequest, modernRequestText, SUBSCRIPTION_ID } from './envelope.ts';
import type { ModernTransport, TransportReceiver } from './transport.ts';

export class StdioModernTransport implements ModernTransport {
  readonly #channel: StdioChannel;
  /** The ids of `subscriptions/listen` that are open. */
  readonly #listens = new Set<unknown>();

  constructor(channel: StdioChannel) {
    this.#channel = channel;
  }

  connect(receiver: TransportReceiver): Promise<void> {
    this.#channel.receiver = {
      notified: (notification) => this.#notified(notification, receiver),
      ended: () => receiver.lost(),
    };
    return this.#channel.start();
  }

  async send(
    request: ModernRequest,
    exchange: UpstreamExchange,
    timeoutMs: number | null,
  ): Promise<UpstreamAnswer> {
    const { method, wantsProgress } = request;
    let sent = 0;
    const text = (id: number) => {
      sent = id;
      if (timeoutMs === null) this.#listens.add(id);
      return modernRequestText(id, request);
    };
    try {
      return await this.#channel.send({ method, wantsProgress, text, timeoutMs }, exchange);
    } finally {
      this.#listens.delete(sent);
    }
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #notified(notification: UpstreamNotification, receiver: TransportReceiver): void {
    const { method, params } = notification;
    if (method === 'notifications/cancelled') {
      const id = params?.requestId;
      const failure = new UpstreamFailure('unreachable', 'the server ended the stream');
      if (this.#listens.has(id)) this.#channel.finish(id, failure);
      return;
    }
    const meta = params?._meta as Record<string, unknown> | undefined;
    const subscription = meta?.[SUBSCRIPTION_ID];
    if (subscription !== undefined) {
      if (!this.#listens.has(subscription)) return;
      this.#channel.find(subscription)?.exchange.onNotification(notification);
    } else if (method === 'notifications/message') {
      // Nothing says which request it belongs to, unless there is only one.
      const waiting = [...this.#channel.waiting].filter(({ id }) => !this.#listens.has(id));
      const [only, ...others] = waiting;
      if (only !== undefined && others.length === 0) only.exchange.onNotification(notification);
      else receiver.notified(notification);
    }
  }
}
