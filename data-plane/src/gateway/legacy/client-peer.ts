/**
 * What servers ask of a client: its roots, a completion of its model, a form that a person fills
 * in. Each request is judged and recorded like a call of the agent, since what comes back leaves
 * it for the server; it reaches only the client on whose session the server works.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import {
  Cancellation,
  requireStillWanted,
  type SendToClient,
  type ServerRequest,
  type SessionPeer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamPeer,
  type UpstreamRequest,
} from '../../upstream/upstream.ts';
import { answerText, askedCall, canAnswer } from '../askable.ts';
import type { Caller } from '../caller.ts';
import type { Guard } from '../guard.ts';
import { type ClientMessage, errorText } from '../json-rpc.ts';

export interface ClientPeerDeps {
  guard: Pick<Guard, 'call'>;
  /** Unix milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** Milliseconds until a request is given up. */
  timeoutMs: number;
  /** The client is gone, and its sessions with servers with it. */
  onClose(peerId: string): void;
}

/** What a client answered. */
export type ClientResponse = Extract<ClientMessage, { kind: 'response' }>;

interface Waiting {
  resolve(answer: UpstreamAnswer): void;
  /** Ends it without an answer. */
  fail(failure: UpstreamFailure): void;
}

/** Requests that may wait for one client at a time. */
const MAX_WAITING = 16;

export class ClientPeer implements UpstreamPeer {
  readonly id = uuidv7();
  readonly hasSession = true;
  /** Its session knows. */
  isAway: () => boolean = () => false;
  /** Who sent the newest request of the client: its credential is what the requests are judged by. */
  caller: Caller;
  /** The name of the client's session in records. */
  sessionId: string | null = null;
  readonly capabilities: Record<string, unknown>;
  readonly #deps: ClientPeerDeps;
  /** By the ids that the client was given. */
  readonly #waiting = new Map<string, Waiting>();
  /** By server and its own id. */
  readonly #asked = new Map<string, Cancellation>();
  /** What could not be sent yet, by the same ids. */
  readonly #unsent = new Map<string, string>();
  /** The client's streams that are open, the oldest first. */
  readonly #streams = new Set<SendToClient>();
  #nextId = 1;
  #isClosed = false;

  constructor(capabilities: Record<string, unknown>, caller: Caller, deps: ClientPeerDeps) {
    this.capabilities = capabilities;
    this.caller = caller;
    this.#deps = deps;
  }

  bind(serverId: string): SessionPeer {
    const keyOf = (id: unknown) => `${serverId} ${JSON.stringify(id)}`;
    return {
      capabilities: this.capabilities,
      ask: (request, send) => this.#ask(serverId, keyOf(request.id), request, send),
      withdraw: (requestId) => this.#asked.get(keyOf(requestId))?.cancel(),
      abandon: () => {
        for (const [key, cancellation] of this.#asked) {
          if (key.startsWith(`${serverId} `)) cancellation.cancel();
        }
      },
    };
  }

  /** Takes a stream by which the client can be reached; what waited for one is sent. */
  attach(send: SendToClient): () => void {
    this.#streams.add(send);
    for (const [id, text] of this.#unsent) if (send(text)) this.#unsent.delete(id);
    return () => void this.#streams.delete(send);
  }

  /**
   * Takes what the client answered. An answer to nothing that was asked is dropped.
   *
   * @param isBarred whether its agent may not act any more: then the server gets none of it
   */
  answered({ id, ok, value }: ClientResponse, isBarred: boolean): void {
    const waiting = this.#waiting.get(String(id));
    if (waiting === undefined) return;
    if (isBarred) {
      waiting.fail(new UpstreamFailure('barred', 'the agent may not act any more'));
      return;
    }
    const isError = Number.isInteger(value?.code) && typeof value?.message === 'string';
    if (value !== null && (ok || isError)) {
      waiting.resolve({ kind: ok ? 'result' : 'error', raw: JSON.stringify(value), value });
    } else waiting.fail(new UpstreamFailure('malformed', 'the client gave no result and no error'));
  }

  /** The client is gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const gone = new UpstreamFailure('unreachable', 'the session of the client ended');
    for (const waiting of this.#waiting.values()) waiting.fail(gone);
    this.#deps.onClose(this.id);
  }

  async #ask(
    serverId: string,
    key: string,
    { id, method, params }: ServerRequest,
    send: SendToClient | undefined,
  ): Promise<string | null> {
    if (!canAnswer(this.capabilities, method, params)) {
      const message = `The client does not support ${method}.`;
      return errorText(id, RPC_ERRORS.METHOD_NOT_FOUND, message);
    }
    if (this.#asked.size >= MAX_WAITING || this.#asked.has(key)) {
      return errorText(id, RPC_ERRORS.INTERNAL, 'Too many requests wait for the client.');
    }
    const cancellation = new Cancellation();
    this.#asked.set(key, cancellation);
    try {
      const { credential, serverId: audienceServerId, requesterId, requestId } = this.caller;
      const { sessionId } = this;
      const parent = { credential, audienceServerId, sessionId, requesterId, requestId };
      const call = askedCall(parent, serverId, { method, params }, this.#deps, {
        request: (request: UpstreamRequest, exchange: UpstreamExchange) =>
          this.#deliver(request, exchange, send),
      });
      const exchange = { cancellation, wantsProgress: false, onNotification: () => undefined };
      return answerText(id, await this.#deps.guard.call(call, exchange));
    } finally {
      this.#asked.delete(key);
    }
  }

  #deliver(
    { method, members }: UpstreamRequest,
    exchange: UpstreamExchange,
    send: SendToClient | undefined,
  ): Promise<UpstreamAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the client is gone');
      requireStillWanted(exchange);
      // In no client's own numbering, and no two of this client's are the same.
      const id = `gateway-${this.#nextId++}`;
      const finish = () => {
        clearTimeout(timer);
        exchange.cancellation.onCancel = null;
        this.#waiting.delete(id);
      };
      const giveUp = (kind: 'timeout' | 'cancelled', message: string) => {
        finish();
        if (!this.#unsent.delete(id)) this.#send(cancelledText(id), send);
        reject(new UpstreamFailure(kind, message));
      };
      const timer = setTimeout(
        () => giveUp('timeout', 'the client did not answer in time'),
        this.#deps.timeoutMs,
      );
      this.#waiting.set(id, {
        resolve: (answer) => {
          finish();
          resolve(answer);
        },
        fail: (failure) => {
          finish();
          this.#unsent.delete(id);
          reject(failure);
        },
      });
      exchange.cancellation.onCancel = () => giveUp('cancelled', 'the server withdrew it');
      const name = JSON.stringify(method);
      const text = `{"jsonrpc":"2.0","id":"${id}","method":${name},"params":{${members}}}`;
      if (!this.#send(text, send)) this.#unsent.set(id, text);
    });
  }

  /** Along with the answer that the request belongs to, else by whatever stream is open. */
  #send(text: string, preferred: SendToClient | undefined): boolean {
    if (preferred?.(text)) return true;
    return [...this.#streams].some((send) => send(text));
  }
}

function cancelledText(id: string): string {
  const params = { requestId: id, reason: 'The server no longer waits for an answer.' };
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
}
