/**
 * An MCP session over Streamable HTTP (legacy revisions). A session that the server has forgotten
 * (404) is opened again once; the call it was found with is then sent for the first time that
 * anyone executes it, so nothing runs twice.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { HttpExchange } from './http-exchange.ts';
import { HttpRequest } from './http-request.ts';
import {
  answerServer,
  type ClientInfo,
  cancelledText,
  initializeMembers,
  notificationText,
  parseInitializeAnswer,
  requestText,
} from './initialize.ts';
import { parseUpstreamMessages } from './message.ts';
import {
  Cancellation,
  requireStillWanted,
  type SessionPeer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamInfo,
  type UpstreamLimits,
  type UpstreamNotification,
  type UpstreamRequest,
  type UpstreamSession,
} from './upstream.ts';

export interface HttpSessionOptions {
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
  /** The client for whom it is held, where servers may ask it something. */
  peer?: SessionPeer | undefined;
  /** The server had forgotten it, and it was opened anew: what it was told before is lost. */
  onReopened?: (() => void) | undefined;
}

interface OpenState {
  info: UpstreamInfo;
  sessionId: string | null;
  /** Ready for undici: names and values in turn. */
  headers: string[];
  /** Whether the server has sent of its own accord. */
  hadStream: boolean;
}

const NO_EXCHANGE: UpstreamExchange = {
  onNotification: () => undefined,
  cancellation: new Cancellation(),
};

const CLOSE_TIMEOUT_MS = 2000;
/** For what has no answer that anyone waits for. */
const QUIET_TIMEOUT_MS = 10_000;
const MAX_RELISTEN_MS = 30_000;

export class HttpUpstreamSession implements UpstreamSession {
  readonly #options: HttpSessionOptions;
  readonly #origin: string;
  readonly #path: string;
  readonly #host: string;
  readonly #running = new Set<{ abort(): void }>();
  #state: OpenState | null = null;
  #opening: Promise<OpenState> | null = null;
  #nextId = 1;
  #pending = 0;
  #isClosed = false;
  #wasOpen = false;
  #listener: ((notification: UpstreamNotification) => void) | null = null;
  #stream: HttpExchange | null = null;
  #relistenMs = 1000;
  #relistenTimer: NodeJS.Timeout | null = null;

  constructor(options: HttpSessionOptions) {
    const url = new URL(options.url);
    this.#options = options;
    this.#origin = url.origin;
    this.#path = url.pathname + url.search;
    this.#host = url.hostname;
  }

  get pending(): number {
    return this.#pending;
  }

  async open(): Promise<UpstreamInfo> {
    return (this.#state ?? (await this.#open())).info;
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    requireStillWanted(exchange);
    this.#pending++;
    try {
      const state = this.#state ?? (await this.#open());
      requireStillWanted(exchange);
      const answer = await this.#send(state, request, exchange);
      if (answer !== 'session-gone') return answer;
      this.#forget(state);
      const anew = this.#state ?? (await this.#open());
      requireStillWanted(exchange);
      const again = await this.#send(anew, request, exchange);
      if (again !== 'session-gone') return again;
      throw new UpstreamFailure('refused', 'the server knows no session, not even a new one');
    } finally {
      this.#pending--;
    }
  }

  notify(method: string): void {
    if (this.#state !== null) this.#post(this.#state, notificationText(method));
  }

  listen(listener: ((notification: UpstreamNotification) => void) | null): void {
    this.#listener = listener;
    if (listener === null) this.#stopListening();
    else this.#startListening();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listener = null;
    this.#options.peer?.abandon();
    this.#stopListening();
    for (const exchange of this.#running) exchange.abort();
    this.#running.clear();
    const state = this.#state;
    this.#state = null;
    if (state === null || state.sessionId === null) return;
    await this.#sendQuietly('DELETE', state, null, CLOSE_TIMEOUT_MS);
  }

  #open(): Promise<OpenState> {
    this.#opening ??= this.#initialize().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #initialize(): Promise<OpenState> {
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
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
    const base = [
      ...['content-type', 'application/json'],
      ...['accept', 'application/json, text/event-stream'],
      ...['user-agent', `${this.#options.client.name}/${this.#options.client.version}`],
      ...(credential ?? []),
    ];
    let sessionId: string | null = null;
    const request = {
      method: 'initialize',
      members: initializeMembers(this.#options.client, this.#options.peer),
      wantsProgress: false,
    };
    const provisional: OpenState = {
      info: NO_INFO,
      sessionId: null,
      headers: base,
      hadStream: false,
    };
    const answer = await this.#send(provisional, request, NO_EXCHANGE, (headers) => {
      const value = headers['mcp-session-id'];
      if (typeof value === 'string' && /^[\x21-\x7e]{1,1024}$/.test(value)) sessionId = value;
    });
    if (answer === 'session-gone')
      throw new UpstreamFailure('refused', 'no MCP server is there (404)');
    const info = parseInitializeAnswer(answer);
    const headers = [...base, 'mcp-protocol-version', info.protocolVersion];
    if (sessionId !== null) headers.push('mcp-session-id', sessionId);
    const state: OpenState = { info, sessionId, headers, hadStream: false };
    await this.#post(state, notificationText('notifications/initialized'));
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the session was closed');
    this.#state = state;
    if (this.#listener !== null) this.#startListening();
    if (this.#wasOpen) this.#options.onReopened?.();
    this.#wasOpen = true;
    return state;
  }

  #forget(state: OpenState): void {
    if (this.#state !== state) return;
    this.#state = null;
    this.#options.peer?.abandon();
    this.#stopListening();
  }

  /** Goes on listening. Where it does not work the next request tries again. */
  #reopen(state: OpenState): void {
    this.#forget(state);
    if (this.#listener !== null) this.#open().catch(() => undefined);
  }

  #send(
    state: OpenState,
    request: UpstreamRequest,
    exchange: UpstreamExchange,
    onHeaders?: (headers: IncomingHttpHeaders) => void,
  ): Promise<UpstreamAnswer | 'session-gone'> {
    const id = this.#nextId++;
    const { limits, dispatcher, peer } = this.#options;
    const pending = new HttpRequest(id, exchange, limits, {
      onHeaders,
      asked: (asked, send) => answerServer(asked, peer, send, (text) => this.#post(state, text)),
      withdrawn: (requestId) => peer?.withdraw(requestId),
      abandon: () => {
        // Nobody waits any more: the server may stop working on it (MCP, cancellation).
        if (request.method !== 'initialize') this.#post(state, cancelledText(id));
      },
      // Nobody knows whether it ran, so it is not sent again; the next one gets a new session.
      refused: () => this.#forget(state),
      resume: (lastEventId, exchange) => {
        const headers = [...eventStreamHeaders(state), 'last-event-id', lastEventId];
        this.#dispatch(this.#options.streams, 'GET', headers, null, exchange);
      },
      done: (ended) => this.#running.delete(ended),
    });
    if (!pending.isOver) {
      this.#running.add(pending);
      const text = requestText(id, request);
      this.#dispatch(dispatcher, 'POST', state.headers, text, pending.exchange);
    }
    return pending.answer;
  }

  /** Sends what has no answer: notifications and answers. Never rejects. */
  #post(state: OpenState, text: string): Promise<void> {
    return this.#sendQuietly('POST', state, text, QUIET_TIMEOUT_MS);
  }

  #sendQuietly(
    method: 'POST' | 'DELETE',
    { headers }: OpenState,
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
      const exchange = new HttpExchange(sink, this.#options.limits.messageBytes);
      const running = {
        abort: () => {
          exchange.abort();
          finish();
        },
      };
      const timer = setTimeout(running.abort, timeoutMs);
      this.#running.add(running);
      this.#dispatch(this.#options.dispatcher, method, headers, body, exchange);
    });
  }

  #dispatch(
    dispatcher: Dispatcher,
    method: 'GET' | 'POST' | 'DELETE',
    headers: string[],
    body: string | null,
    exchange: HttpExchange,
  ): void {
    const { timeoutMs } = this.#options.limits;
    dispatcher.dispatch(
      {
        origin: this.#origin,
        path: this.#path,
        method,
        headers,
        body,
        // Our own timer ends a request; these only end what it left behind.
        headersTimeout: timeoutMs + 5000,
        bodyTimeout: method === 'GET' ? 0 : timeoutMs + 5000,
      },
      exchange,
    );
  }

  #startListening(): void {
    const state = this.#state;
    if (state === null || this.#stream !== null || this.#isClosed) return;
    let status = 0;
    const stream = new HttpExchange(
      {
        onHead: (code) => {
          status = code;
          if (code < 300) this.#relistenMs = 1000;
        },
        onMessage: (text) => {
          if (status >= 300) return;
          for (const message of parseUpstreamMessages(text)) {
            if (message.kind === 'notification') this.#notified(message);
            else if (message.kind === 'request') {
              const reply = (text: string) => void this.#post(state, text);
              answerServer(message, this.#options.peer, undefined, reply);
            }
          }
        },
        onEnd: () => {
          if (this.#stream !== stream) return;
          this.#stream = null;
          if (status < 300) state.hadStream = true;
          // Of a session that it had such a stream for, the server knows nothing any more.
          if (state.hadStream && (status === 404 || status === 400)) this.#reopen(state);
          // 405 and its like: the server offers no such stream.
          if (status >= 400 && status < 500) return;
          this.#relistenTimer = setTimeout(() => this.#startListening(), this.#relistenMs);
          this.#relistenTimer.unref();
          this.#relistenMs = Math.min(this.#relistenMs * 2, MAX_RELISTEN_MS);
        },
      },
      this.#options.limits.messageBytes,
    );
    this.#stream = stream;
    this.#dispatch(this.#options.streams, 'GET', eventStreamHeaders(state), null, stream);
  }

  #notified(notification: UpstreamNotification): void {
    if (notification.method === 'notifications/cancelled') {
      this.#options.peer?.withdraw(notification.params?.requestId);
    } else this.#listener?.(notification);
  }

  #stopListening(): void {
    if (this.#relistenTimer !== null) clearTimeout(this.#relistenTimer);
    this.#relistenTimer = null;
    this.#stream?.abort();
    this.#stream = null;
  }
}

/** For a GET, which has no body and takes nothing but events. */
function eventStreamHeaders({ headers }: OpenState): string[] {
  return headers
    .map((value) => (value === 'application/json, text/event-stream' ? 'text/event-stream' : value))
    .slice(2);
}

const NO_INFO: UpstreamInfo = {
  era: 'legacy',
  protocolVersion: '',
  serverInfo: {},
  capabilities: {},
  instructions: null,
};
