import type { UpstreamAnswer, UpstreamExchange, UpstreamNotification } from '../upstream.ts';
import type { ModernRequest } from './envelope.ts';

/** The transport's calls to its session. */
export interface TransportReceiver {
  /** A notification that does not say which request it belongs to. */
  notified(notification: UpstreamNotification): void;
  /** The server is gone, with all requests in progress; the next `connect` brings another. */
  lost(): void;
}

/** Sends requests to a modern server. */
export interface ModernTransport {
  /** Gets ready to send. Throws UpstreamFailure. */
  connect(receiver: TransportReceiver): Promise<void>;
  /**
   * Sends a request. Messages that the server sends along with the answer go to the exchange; for
   * `subscriptions/listen`, all messages of that stream.
   *
   * @param timeoutMs null for what stays open for long
   */
  send(
    request: ModernRequest,
    exchange: UpstreamExchange,
    timeoutMs: number | null,
  ): Promise<UpstreamAnswer>;
  /** Closes it and fails the requests in progress. Never throws. */
  close(): Promise<void>;
}
