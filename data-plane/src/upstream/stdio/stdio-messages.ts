/** What a session and the channel to its process pass each other. */
import type {
  SendToClient,
  ServerRequest,
  UpstreamExchange,
  UpstreamNotification,
} from '../upstream.ts';

/** The session that speaks on the channel. */
export interface StdioReceiver {
  /** Receives the process's questions; `reply` answers one, if the process still runs. */
  asked?(
    request: ServerRequest,
    send: SendToClient | undefined,
    reply: (text: string) => void,
  ): void;
  /** Receives messages that match no request by progress token. */
  notified(notification: UpstreamNotification): void;
  /** The process exited, or is being ended. */
  ended(): void;
}

export interface StdioRequest {
  method: string;
  wantsProgress: boolean;
  /** The whole message. */
  text(id: number): string;
  /** Milliseconds until it is given up; null for what stays open for long. */
  timeoutMs: number | null;
}

/** A request without an answer yet. */
export interface StdioWaiting {
  readonly id: number;
  readonly exchange: UpstreamExchange;
  readonly wantsProgress: boolean;
}
