import type { UpstreamAnswer, UpstreamExchange, UpstreamNotification } from '../upstream.ts';
import type { ModernRequest } from './envelope.ts';

/** What the session is told by its transport. */
export interface TransportReceiver {
  /** A notification of which nothing says to which request it belongs. */
  notified(notification: UpstreamNotification): void;
  /** The server is gone, with all that was under way; the next `connect` brings another. */
  lost(): void;
}

/** How requests reach a modern server. */
export interface ModernTransport {
  /** Gets ready to send. Throws UpstreamFailure. */
  connect(receiver: TransportReceiver): Promise<void>;
  /**
   * Sends a request. What the server sends along with the answer goes to the exchange, of
   * `subscriptions/listen` all that belongs to that stream.
   *
   * @param timeoutMs null for what stays open for long
   */
  send(
    request: ModernRequest,
    exchange: UpstreamExchange,
    timeoutMs: number | null,
  ): Promise<UpstreamAnswer>;
  /** Ends it and fails what is under way. Never throws. */
  close(): Promise<void>;
}
