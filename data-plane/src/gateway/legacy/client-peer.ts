/**
 * The client of a legacy session, as servers ask it: a question reaches only the client for whose
 * session the server is working.
 */
import { uuidv7 } from '@governance/shared/ids';
import { membersOf } from '../../enforcement/call/call-kinds.ts';
import type { Caller, JudgedCall } from '../../enforcement/call/calls.ts';
import {
  requireStillWanted,
  type SendToClient,
  type SessionPeer,
  type UpstreamAnswer,
  type UpstreamExchange,
  UpstreamFailure,
  type UpstreamPeer,
} from '../../upstream/upstream.ts';
import {
  type AskedClient,
  bindClient,
  Question,
  type QuestionDeps,
  type QuestionTarget,
  TOO_MANY,
} from '../client-questions.ts';
import type { ClientMessage } from '../json-rpc.ts';

export interface ClientPeerDeps extends QuestionDeps {
  /** The client is gone, and its sessions with servers with it. */
  onClose(peerId: string): void;
}

/** What a client answered. */
export type ClientResponse = Extract<ClientMessage, { kind: 'response' }>;

/** Requests that may wait for one client at a time. */
const MAX_WAITING = 16;

export class ClientPeer implements UpstreamPeer, AskedClient {
  readonly id = uuidv7();
  readonly hasSession = true;
  /** Set by its session. */
  isAway: () => boolean = () => false;
  /** The sender of the client's newest request: questions are judged by its credential. */
  caller: Caller;
  readonly capabilities: Record<string, unknown>;
  readonly #deps: ClientPeerDeps;
  /** By the ids given to the client. */
  readonly #waiting = new Map<string, Question>();
  /** Questions that could not be sent yet, by the same ids. */
  readonly #unsent = new Map<string, string>();
  /** The client's streams that are open, the oldest first. */
  readonly #streams = new Set<SendToClient>();
  /** Questions that are being judged or wait for an answer. */
  #asked = 0;
  #nextId = 1;
  #isClosed = false;

  constructor(capabilities: Record<string, unknown>, caller: Caller, deps: ClientPeerDeps) {
    this.capabilities = capabilities;
    this.caller = caller;
    this.#deps = deps;
  }

  bind(serverId: string): SessionPeer {
    const bound = bindClient(this, serverId, this.#deps);
    return {
      ...bound,
      ask: (request, send) => {
        this.#asked++;
        return bound.ask(request, send).finally(() => this.#asked--);
      },
    };
  }

  findTarget(_serverId: string, send: SendToClient | undefined): QuestionTarget | string {
    if (this.#asked > MAX_WAITING) return TOO_MANY;
    const deliver = (call: JudgedCall, exchange: UpstreamExchange) =>
      this.#deliver(call, exchange, send);
    return { sender: () => this.caller, deliver };
  }

  /** Adds a stream to the client; questions waiting for one are sent. */
  attach(send: SendToClient): () => void {
    this.#streams.add(send);
    for (const [id, text] of this.#unsent) if (send(text)) this.#unsent.delete(id);
    return () => void this.#streams.delete(send);
  }

  /**
   * Accepts a client's response. A response to an unknown question is dropped.
   *
   * @param isEligible whether its agent may act: otherwise the server gets none of it
   */
  answered({ id, ok, value }: ClientResponse, isEligible: boolean): void {
    const question = this.#waiting.get(String(id));
    if (question === undefined) return;
    if (!isEligible) {
      question.fail(new UpstreamFailure('ineligible', 'the agent may not act any more'));
      return;
    }
    const isError = Number.isInteger(value?.code) && typeof value?.message === 'string';
    if (value !== null && (ok || isError)) {
      question.resolve({ kind: ok ? 'result' : 'error', raw: JSON.stringify(value), value });
    } else
      question.fail(new UpstreamFailure('malformed', 'the client gave no result and no error'));
  }

  /** The client is gone. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const gone = new UpstreamFailure('unreachable', 'the session of the client ended');
    for (const question of this.#waiting.values()) question.fail(gone);
    this.#deps.onClose(this.id);
  }

  async #deliver(
    { ask }: JudgedCall,
    exchange: UpstreamExchange,
    send: SendToClient | undefined,
  ): Promise<UpstreamAnswer> {
    if (this.#isClosed) throw new UpstreamFailure('unreachable', 'the client is gone');
    requireStillWanted(exchange);
    // Not in any client's own numbering, and unique for this client.
    const id = `gateway-${this.#nextId++}`;
    const question = new Question(exchange, this.#deps.timeoutMs, (isGivenUp) => {
      this.#waiting.delete(id);
      const wasSent = !this.#unsent.delete(id);
      if (isGivenUp && wasSent) this.#send(cancelledText(id), send);
    });
    this.#waiting.set(id, question);
    const name = JSON.stringify(ask.method);
    const text = `{"jsonrpc":"2.0","id":"${id}","method":${name},"params":{${membersOf(ask)}}}`;
    if (!this.#send(text, send)) this.#unsent.set(id, text);
    return question.answer;
  }

  /** On the stream of the request that it belongs to, otherwise on any open stream. */
  #send(text: string, preferred: SendToClient | undefined): boolean {
    if (preferred?.(text)) return true;
    return [...this.#streams].some((send) => send(text));
  }
}

function cancelledText(id: string): string {
  const params = { requestId: id, reason: 'The server no longer waits for an answer.' };
  return JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
}
