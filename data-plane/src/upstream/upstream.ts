/**
 * An MCP server as the gateway uses it: one MCP session of its own, over Streamable HTTP or stdio,
 * for one agent of one tenant. The gateway terminates MCP: ids and progress tokens on this side
 * are its own.
 */

/**
 * How a side of the gateway speaks MCP: with a handshake and sessions (2025-03-26 to 2025-11-25), or
 * with everything in each request (2026-07-28 and later).
 */
export type Era = 'legacy' | 'modern';

export interface UpstreamInfo {
  era: Era;
  protocolVersion: string;
  serverInfo: Record<string, unknown>;
  /** The server's `capabilities` as it declared them. */
  capabilities: Record<string, unknown>;
  instructions: string | null;
}

export interface UpstreamRequest {
  method: string;
  /** The members of `params` as JSON without the braces, '' for none. */
  members: string;
  /** Whether the server is given a progress token. */
  wantsProgress: boolean;
  /**
   * What a client gives when it asks again, having been asked for input: `inputResponses` and
   * `requestState` as JSON without the braces. Legacy servers have no such thing and fail it.
   */
  retry?: string | undefined;
}

/** A notification of a server. `params` are what it wrote, parsed. */
export interface UpstreamNotification {
  method: string;
  params: Record<string, unknown> | undefined;
}

/** A request of a server to its client. `params` are what it wrote, parsed. */
export interface ServerRequest {
  id: string | number;
  method: string;
  params: Record<string, unknown>;
}

/** Sends a message to a client; false where it cannot be sent. */
export type SendToClient = (text: string) => boolean;

/** The client for whom a session with a server is held, as that session knows it. */
export interface SessionPeer {
  /** What the client declared, as far as the gateway passes it on. */
  readonly capabilities: Record<string, unknown>;
  /**
   * The client has no stream of its own by which a server could reach it: the gateway listens for
   * it, and has to before it asks the server anything.
   */
  readonly needsStream?: boolean | undefined;
  /**
   * Answers a request of the server. Never rejects.
   *
   * @param send the stream of the call with which the request came, where it came with one
   * @returns the whole response as text; null where none is expected any more
   */
  ask(request: ServerRequest, send: SendToClient | undefined): Promise<string | null>;
  /** The server no longer waits for an answer. */
  withdraw(requestId: unknown): void;
  /** The session ended, and with it all that the server asked. */
  abandon(): void;
}

/** A client that servers may ask something: it has sessions with servers of its own. */
export interface UpstreamPeer {
  /** Names it within this process. */
  readonly id: string;
  /** What the client declared, as far as the gateway passes it on. */
  readonly capabilities?: Record<string, unknown>;
  /** See `SessionPeer.needsStream`. */
  readonly needsStream?: boolean | undefined;
  /** It is one MCP session of a client, and what is held for it ends with that. */
  readonly hasSession?: boolean | undefined;
  /** The client has left, as far as can be seen; it may come back. */
  readonly isAway?: (() => boolean) | undefined;
  /** The client as one server's session knows it. */
  bind(serverId: string): SessionPeer;
}

/** What belongs to one request while it is under way. */
export interface UpstreamExchange {
  /** Progress of this request, and whatever else the server sends along with its answer. */
  onNotification(notification: UpstreamNotification): void;
  /**
   * The server ended the stream of its answer for now: what is left is fetched later.
   *
   * @param retryMs after which it is
   */
  onPaused?(retryMs: number): void;
  readonly cancellation: Cancellation;
  /** Sends to the client along with the answer, where the client can be asked something. */
  readonly send?: SendToClient | undefined;
  /**
   * The client is a modern one: results of type `input_required` and `task` are for it. Otherwise a
   * modern server's questions are asked through the peer, and the request is made again with the
   * answers, as one request for the caller.
   */
  readonly takesEveryResult?: boolean | undefined;
  /** The least severe log messages that a modern client asked for with this request. */
  readonly logLevel?: string | undefined;
  /**
   * Asked directly before the bytes go out, which may be long after the request was made: a session
   * may have to be opened first. Undefined when the request may still go, else why it may not.
   */
  findIneligibility?(): string | undefined;
}

/** Fails a request that must not be sent any more. */
export function requireStillWanted(exchange: UpstreamExchange): void {
  if (exchange.cancellation.isCancelled)
    throw new UpstreamFailure('cancelled', 'before it was sent');
  const ineligible = exchange.findIneligibility?.();
  if (ineligible !== undefined) throw new UpstreamFailure('ineligible', ineligible);
}

/** The server's answer to a request: a result, or a JSON-RPC error of its own. */
export interface UpstreamAnswer {
  readonly kind: 'result' | 'error';
  /** The JSON of `result` or `error` as the server wrote it. */
  readonly raw: string;
  readonly value: unknown;
}

/** The result that says no more than that it is done. */
export const EMPTY_RESULT: UpstreamAnswer = { kind: 'result', raw: '{}', value: {} };

/** An error that the gateway makes itself. */
export function errorAnswer(code: unknown, message: string, data?: unknown): UpstreamAnswer {
  const value = { code, message, ...(data !== undefined && { data }) };
  return { kind: 'error', raw: JSON.stringify(value), value };
}

export type UpstreamFailureKind =
  | 'unreachable'
  | 'timeout'
  | 'too_large'
  | 'malformed'
  | 'refused'
  /** The server's era of MCP cannot carry it; the message names what, for the agent. */
  | 'unsupported'
  /** The share of its agent or tenant is taken; the message says whose, for the agent. */
  | 'busy'
  /** It has passed too many gateways: the server leads back to one of them. */
  | 'loop'
  /** The agent may not act any more. */
  | 'ineligible'
  | 'cancelled';

/** Why there is no answer. The message is for the log and the record, not for the agent. */
export class UpstreamFailure extends Error {
  readonly kind: UpstreamFailureKind;

  constructor(kind: UpstreamFailureKind, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'UpstreamFailure';
    this.kind = kind;
  }
}

export interface UpstreamSession {
  /** Connects if need be. Throws UpstreamFailure. */
  open(): Promise<UpstreamInfo>;
  /** Sends a request, connecting if need be. Throws UpstreamFailure, and nothing else. */
  request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer>;
  /** Sends a notification if the session is open. Never throws. */
  notify(method: string): void;
  /** Starts or ends listening for what the server sends of its own accord. */
  listen(listener: ((notification: UpstreamNotification) => void) | null): void;
  /** How many requests are under way. */
  readonly pending: number;
  /** Ends the session and fails what is under way. Never throws. */
  close(): Promise<void>;
}

/** Ends one request early. Lighter than an AbortController, of which each call would need one. */
export class Cancellation {
  #isCancelled = false;
  #listener: (() => void) | null = null;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The one who has to act on it; called at once when it is cancelled already. */
  set onCancel(listener: (() => void) | null) {
    this.#listener = listener;
    if (listener !== null && this.#isCancelled) listener();
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#listener?.();
  }
}

/** The exchange of a request of the gateway's own: nobody hears what comes along with its answer. */
export function unheardExchange(cancellation = new Cancellation()): UpstreamExchange {
  return { onNotification: () => undefined, cancellation };
}

/** Limits that hold for every upstream. */
export interface UpstreamLimits {
  /** Milliseconds until a request is given up. */
  timeoutMs: number;
  /** Bytes of one JSON-RPC message, at most. */
  messageBytes: number;
  /** Values and keys of one message, at most; MESSAGE_NODES where it says nothing. */
  messageNodes?: number;
}
