/** The requests of a client of a legacy revision, one by one. */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isJudgedRead, TOOL_CALL } from '../../enforcement/call-kinds.ts';
import type { CallAnswer } from '../../enforcement/enforcer.ts';
import { Cancellation, type UpstreamNotification } from '../../upstream/upstream.ts';
import { askableCapabilities } from '../askable.ts';
import { barOf, barred } from '../barred.ts';
import type { Caller } from '../caller.ts';
import type { Announce, Announcement } from '../capabilities.ts';
import type { AnswerFailure } from '../failures.ts';
import type { Guard } from '../guard.ts';
import {
  type ClientMessage,
  errorText,
  GatewayError,
  isObject,
  notificationText,
  type RpcId,
  rawErrorText,
  resultText,
} from '../json-rpc.ts';
import { isListMethod, type RecordedLists } from '../recorded-lists.ts';
import type { ToolService } from '../tool-service.ts';
import type { ClientPeer } from './client-peer.ts';
import { negotiateRevision } from './revisions.ts';
import { isLoudEnough, type SessionReads } from './session-reads.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

export interface RequestDeps {
  tools: ToolService;
  reads: SessionReads;
  lists: RecordedLists;
  announce: Announce;
  /** Makes what servers ask this client through. */
  createPeer(capabilities: Record<string, unknown>, caller: Caller): ClientPeer;
  guard: Pick<Guard, 'findBar'>;
  sessions: LegacySessions;
  failed: AnswerFailure;
  gateway: { name: string; version: string };
}

/** Where a request came in. */
export interface RequestScene {
  caller: Caller;
  session: LegacySession | null;
  /** Sends something to the client before the answer, if it can take it. */
  notify(text: string): void;
  /** The same for what has to arrive; false where it cannot be sent now. */
  send(text: string): boolean;
  /** Lets the client fetch the answer later, if it can. */
  pause(retryMs: number): void;
}

export interface RequestAnswer {
  status: number;
  /** Null: the request was cancelled, and nobody expects an answer. */
  text: string | null;
  challenge?: 'basic' | 'bearer' | undefined;
  /** Set by `initialize`: the new session. */
  session?: LegacySession;
}

type ClientRequest = Extract<ClientMessage, { kind: 'request' }>;

export type RequestHandler = ReturnType<typeof createRequestHandler>;

/** Builds the handler: answers a request, whatever happens. */
export function createRequestHandler(deps: RequestDeps) {
  async function answer(request: ClientRequest, scene: RequestScene): Promise<RequestAnswer> {
    const { caller } = scene;
    const bar = barOf(caller, deps.guard);
    try {
      // What is judged meets the same check in its pipeline, where the denial is recorded.
      if (request.method === TOOL_CALL || isJudgedRead(request.method)) {
        return await callServer(request, scene);
      }
      const sessionId = scene.session?.id ?? null;
      if (bar !== undefined) {
        await deps.lists.refused(caller, bar, sessionId, request.method);
        throw barred(bar);
      }
      if (isListMethod(request.method)) {
        const { method, params } = request;
        return toAnswer(request.id, await deps.lists.list(caller, sessionId, method, params));
      }
      switch (request.method) {
        case 'initialize':
          return await initialize(request, scene);
        case 'ping':
          return ok(request.id, '{}');
        default:
          return {
            status: 200,
            text: errorText(request.id, RPC_ERRORS.METHOD_NOT_FOUND, 'Method not found'),
          };
      }
    } catch (error) {
      // What is wrong with a call is nothing for an agent that may make none.
      const told = deps.failed(bar === undefined ? error : barred(bar), caller.requestId);
      return toAnswer(request.id, told);
    }
  }

  async function initialize(request: ClientRequest, scene: RequestScene): Promise<RequestAnswer> {
    const { protocolVersion } = request.params;
    if (typeof protocolVersion !== 'string') {
      throw new GatewayError(200, 'protocolVersion is missing', RPC_ERRORS.INVALID_PARAMS);
    }
    const { tenantId, agent, serverId } = scene.caller;
    const askable = askableCapabilities(request.params.capabilities);
    const peer = askable === null ? null : deps.createPeer(askable, scene.caller);
    try {
      const caller = peer === null ? scene.caller : { ...scene.caller, peer };
      const announcement = await deps.announce(caller);
      const revision = negotiateRevision(protocolVersion);
      const owner = { tenantId, agentId: agent.id, serverId };
      const session = deps.sessions.create(owner, revision, peer);
      if (peer !== null) peer.sessionId = session.id;
      const result = initializeResult(revision, announcement, deps.gateway);
      return { ...ok(request.id, JSON.stringify(result)), session };
    } catch (error) {
      peer?.close();
      throw error;
    }
  }

  async function callServer(request: ClientRequest, scene: RequestScene): Promise<RequestAnswer> {
    const { caller, session } = scene;
    const exchange = new ClientExchange(progressToken(request.params), scene);
    session?.calls.set(request.id, exchange.cancellation);
    const detach = session?.peer?.attach(exchange.send);
    try {
      const { method, params } = request;
      const answering = isJudgedRead(method)
        ? deps.reads.call(caller, session, method, params, exchange)
        : deps.tools.callTool(caller, session?.id ?? null, params, exchange);
      return toAnswer(request.id, await answering);
    } finally {
      detach?.();
      const own = session?.calls.get(request.id) === exchange.cancellation;
      if (own) session?.calls.delete(request.id);
    }
  }

  return { answer };
}

function ok(id: RpcId, raw: string): RequestAnswer {
  return { status: 200, text: resultText(id, raw) };
}

function toAnswer(id: RpcId, answer: CallAnswer): RequestAnswer {
  switch (answer.kind) {
    case 'result':
      return ok(id, answer.raw);
    case 'upstream-error':
      return { status: 200, text: rawErrorText(id, answer.raw) };
    case 'cancelled':
      return { status: 200, text: null };
    case 'error': {
      const { status, code, message, data, challenge } = answer;
      return { status, text: errorText(id, code, message, data), challenge };
    }
  }
}

function initializeResult(
  protocolVersion: string,
  { capabilities, serverInfo, instructions }: Announcement,
  gateway: { name: string; version: string },
): Record<string, unknown> {
  return {
    protocolVersion,
    capabilities,
    serverInfo: serverInfo ?? gateway,
    instructions: instructions ?? undefined,
  };
}

function progressToken(params: Record<string, unknown>): RpcId | undefined {
  const token = isObject(params._meta) ? params._meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** One call between client and server: passes on what comes before the answer. */
class ClientExchange {
  readonly cancellation = new Cancellation();
  readonly wantsProgress: boolean;
  /** Sends a request of the server along with the answer. */
  readonly send: (text: string) => boolean;
  readonly #token: RpcId | undefined;
  readonly #scene: RequestScene;

  constructor(token: RpcId | undefined, scene: RequestScene) {
    this.#token = token;
    this.#scene = scene;
    this.wantsProgress = token !== undefined;
    this.send = (text) => scene.send(text);
  }

  /** The client need not hold a connection for which the server holds none. */
  onPaused(retryMs: number): void {
    this.#scene.pause(retryMs);
  }

  onNotification({ method, params }: UpstreamNotification): void {
    if (method === 'notifications/progress') {
      // The server knows our token; the client knows its own.
      const token = this.#token;
      if (token === undefined) return;
      this.#scene.notify(notificationText(method, { ...params, progressToken: token }));
    } else if (method === 'notifications/message' && !isLoudEnough(this.#scene.session, params)) {
      return;
    } else if (isForClients(method)) {
      this.#scene.notify(notificationText(method, params));
    }
  }
}

/** Whether a notification of a server means the client: not those that end the gateway's requests. */
export function isForClients(method: string): boolean {
  return method.startsWith('notifications/') && method !== 'notifications/cancelled';
}
