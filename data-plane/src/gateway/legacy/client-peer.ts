/**
 * The client of a legacy session, as servers ask it: a question reaches only the client on whose
 * session the server works.
 */
import { uuidv7 } from '@governance/shared/ids';
import { membersOf } from '../../enforcement/call-kinds.ts';
import type { Caller, JudgedCall } from '../../enforcement/calls.ts';
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
  /** Its session knows. */
  isAway: () => boolean = () => false;
  /** Who sent the newest request of the client: its credential is what the requests are judged by. */
  caller: Caller;
  readonly capabilities: Record<string, unknown>;
  readonly #deps: ClientPeerDeps;
  /** By the ids that the client was given. */
  readonly #waiting = new Map<string, Question>();
  /** What could not be sent yet, by the same ids. */
  readonly #unsent = new Map<string, string>();
  /** The client's streams that are open, the oldest first. */
  readonly #streams = new Set<SendToClient>();
  /** Questions that are judged or wait. */
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
    return { caller: this.caller, deliver };
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
    // In no client's own numbering, and no two of this client's are the same.
    const id = `gateway-${this.#nextId++}`;
    const question = new Question(exchange, this.#deps.timeoutMs, (isGivenUp) => {
      this.#waiting.delete(id);
      const isSent = !this.#unsent.delete(id);
      if (isGivenUp && isSent) this.#send(cancelledText(id), send);
    });
    this.#waiting.set(id, question);
    const name = JSON.stringify(ask.method);
    const text = `{"jsonrpc":"2.0","id":"${id}","method":${name},"params":{${membersOf(ask)}}}`;
    if (!this.#send(text, send)) this.#unsent.set(id, text);
    return question.answer;
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
