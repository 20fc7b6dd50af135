/**
 * An MCP server as the gateway uses it: one MCP session of its own, over Streamable HTTP or stdio,
 * for one agent of one tenant. The gateway terminates MCP: ids and progress tokens on this side
 * are its own.
 */

/**
 * How a side of the gateway speaks MCP: with a handshake and sessions (2025-03-26 to 2025-11-25),
 * or with everything in each request (2026-07-28 and later).
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
  /** Whether the server gets a progress token. */
  wantsProgress: boolean;
  /**
   * The input of a client that repeats a request: `inputResponses` and `requestState` as JSON
   * without the braces. Legacy servers do not know these, and the request fails.
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

/** The client that a session with a server belongs to, as that session sees it. */
export interface SessionPeer {
  /** What the client declared, as far as the gateway passes it on. */
  readonly capabilities: Record<string, unknown>;
  /**
   * The client has no stream of its own that a server could use: the gateway listens for it, and
   * has to before it asks the server anything.
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

/** A client, or clients, of whom servers are told something: they have sessions with servers apart. */
export interface UpstreamPeer extends Partial<Pick<SessionPeer, 'capabilities' | 'needsStream'>> {
  /** Its name within this process. */
  readonly id: string;
  /** It is one MCP session of a client, and what it has here ends with that. */
  readonly hasSession?: boolean | undefined;
  /** It stands for all clients of the agent that declare the same, and servers ask it nothing. */
  readonly isShared?: boolean | undefined;
  /** The client seems to have left; it may come back. */
  readonly isAway?: (() => boolean) | undefined;
  /** The client as one server's session knows it. */
  bind(serverId: string): SessionPeer;
}

/** What belongs to one request in progress. */
export interface UpstreamExchange {
  /** Receives progress of this request, and whatever else the server sends with its answer. */
  onNotification(notification: UpstreamNotification): void;
  /**
   * The server ended the stream of its answer for a while: the rest is fetched later.
   *
   * @param retryMs after which it is
   */
  onPaused?(retryMs: number): void;
  /**
   * A model's runtime has begun to stream its answer.
   *
   * @param status the HTTP status of it
   */
  onAnswerStarted?(status: number): void;
  readonly cancellation: Cancellation;
  /** Sends to the client along with the answer, where the client can be asked something. */
  readonly send?: SendToClient | undefined;
  /**
   * The client is a modern one: results of type `input_required` and `task` are for it. Otherwise a
   * modern server's questions go through the peer, and the request is repeated with the answers, as
   * one request for the caller.
   */
  readonly takesEveryResult?: boolean | undefined;
  /** The least severe level of log messages that a modern client wants with this request. */
  readonly logLevel?: string | undefined;
  /**
   * Asked directly before the bytes are sent, which may be long after the request was made: a
   * session may have to be opened first. Undefined when the request may still be sent, else why
   * not.
   */
  findIneligibility?(): string | undefined;
  /**
   * Counts bytes that the answer takes in memory, or, if negative, no longer takes. Small answers
   * are not counted.
   *
   * @returns false where there is no room for them: the answer is given up
   */
  hold?(bytes: number): boolean;
}

/** On whose behalf something goes out: whether it is cancelled, or its agent may not act any more. */
export type Asker = Pick<UpstreamExchange, 'cancellation' | 'findIneligibility'>;

/** Fails a request that must no longer be sent. */
export function requireStillWanted(exchange: Asker): void {
  if (exchange.cancellation.isCancelled)
    throw new UpstreamFailure('cancelled', 'before it was sent');
  requireEligible(exchange);
}

/** Fails what is done for an agent that may not act any more. */
export function requireEligible(asker: Pick<Asker, 'findIneligibility'>): void {
  const ineligible = asker.findIneligibility?.();
  if (ineligible !== undefined) throw new UpstreamFailure('ineligible', ineligible);
}

/** The server's answer to a request: a result, or a JSON-RPC error of its own. */
export interface UpstreamAnswer {
  readonly kind: 'result' | 'error';
  /** The JSON of `result` or `error` as the server wrote it. */
  readonly raw: string;
  readonly value: unknown;
  /** Of a list of tools: the names in it that waited for approval when their server listed them. */
  readonly waiting?: ReadonlySet<string>;
}

/** The result that only confirms completion. */
export const EMPTY_RESULT: UpstreamAnswer = { kind: 'result', raw: '{}', value: {} };

/** An error made by the gateway itself. */
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
  /** The server's era of MCP does not support it; the message says what, for the agent. */
  | 'unsupported'
  /** The share of its agent or tenant is used up; the message says whose, for the agent. */
  | 'busy'
  /** The answer found no room in memory; the message says so, for the agent. */
  | 'no_room'
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

/** Whether the other side was silent for too long. */
export function isTimeout(error: unknown): error is UpstreamFailure {
  return error instanceof UpstreamFailure && error.kind === 'timeout';
}

export interface UpstreamSession {
  /** Connects if necessary, on behalf of an agent. Throws UpstreamFailure. */
  open(asker: Asker): Promise<UpstreamInfo>;
  /** Sends a request, connecting if necessary. Throws only UpstreamFailure. */
  request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer>;
  /** Sends a notification if the session is open. Never throws. */
  notify(method: string): void;
  /** Starts or stops listening to what the server sends unprompted. */
  listen(listener: ((notification: UpstreamNotification) => void) | null): void;
  /** The number of requests in progress. */
  readonly pending: number;
  /** Whether a request goes out at once: otherwise the server is asked to open a session first. */
  readonly isOpen: boolean;
  /** Closes the session and fails the requests in progress. Never throws. */
  close(): Promise<void>;
}

/** Ends one request early. Lighter than an AbortController, of which each call would need one. */
export class Cancellation {
  #isCancelled = false;
  #listener: (() => void) | null = null;

  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  /** The single listener; called at once when it is already cancelled. */
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

/** The exchange of a request of the gateway's own: messages along with its answer are ignored. */
export function ownExchange(cancellation = new Cancellation()): UpstreamExchange {
  return { onNotification: () => undefined, cancellation };
}

/** Limits that hold for every upstream. */
export interface UpstreamLimits {
  /** Milliseconds until a request is given up. */
  timeoutMs: number;
  /** Bytes of one JSON-RPC message, at most. */
  messageBytes: number;
  /** Values and keys of one message, at most; MESSAGE_NODES unless given. */
  messageNodes?: number;
}
