/** The requests of a client of a legacy revision, one by one. */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../../enforcement/call/answer.ts';
import { isJudgedRead, TOOL_CALL } from '../../enforcement/call/call-kinds.ts';
import type { Caller, Deny, Exchange } from '../../enforcement/call/calls.ts';
import type { Enforcer } from '../../enforcement/enforcer.ts';
import { Cancellation, type SendToClient } from '../../upstream/upstream.ts';
import type { PostAnswer } from '../answer.ts';
import type { Announce } from '../capabilities.ts';
import { declaredCapabilities, sharedPeer } from '../client-capabilities.ts';
import { type AnswerFailure, ineligibleError } from '../failures.ts';
import {
  answerText,
  type ClientRequest,
  errorText,
  GatewayError,
  notificationText,
  progressTokenOf,
  type RpcId,
  resultText,
} from '../json-rpc.ts';
import { callRouted, type Router } from '../router.ts';
import type { ClientPeer } from './client-peer.ts';
import { isLoudEnough } from './log-levels.ts';
import { requireSession, type SessionRead, type SessionReads } from './session-reads.ts';
import { type LegacySession, type LegacySessions, negotiateRevision, peerOf } from './sessions.ts';

/** The context in which a request arrived. */
export interface RequestScene {
  caller: Caller;
  /** Why its agent may not act, if so. */
  ineligible: Deny | undefined;
  session: LegacySession | null;
  /** The way back to the client, before the answer too. */
  answer: Pick<PostAnswer, 'notify' | 'send' | 'onGone' | 'pause'>;
  /** Whether the client can fetch an answer later. */
  canPause: boolean;
}

export interface RequestAnswer {
  status: number;
  /** Null: the request was cancelled, and no answer is expected. */
  text: string | null;
  challenge?: 'basic' | 'bearer' | undefined;
  /** Set by `initialize`: the new session. */
  session?: LegacySession;
}

export type RequestHandler = ReturnType<typeof createRequestHandler>;

/** Builds the handler, which answers every request whatever happens. */
export function createRequestHandler(deps: {
  enforcer: Pick<Enforcer, 'call' | 'admit'>;
  router: Pick<Router, 'route' | 'routeTool'>;
  reads: SessionReads;
  announce: Announce;
  /** Creates the peer through which servers ask this client. */
  createPeer(capabilities: Record<string, unknown>, caller: Caller): ClientPeer;
  sessions: LegacySessions;
  failed: AnswerFailure;
  gateway: { name: string; version: string };
}) {
  async function answer(request: ClientRequest, scene: RequestScene): Promise<RequestAnswer> {
    const { caller, ineligible } = scene;
    const { id, method, params } = request;
    try {
      // Judged methods ask the same question in their pipeline, where the denial is recorded.
      const isCall = method === TOOL_CALL || isJudgedRead(method);
      if (isCall) return await call(request, scene);
      if (ineligible !== undefined) throw ineligibleError(ineligible);
      const routed = deps.router.route(caller, method, params);
      if (routed !== undefined) {
        return written(id, await deps.enforcer.call(caller, routed.ask, routed.destination));
      }
      if (method === 'initialize') return await initialize(request, scene);
      if (method === 'ping') return { status: 200, text: resultText(id, '{}') };
      const text = errorText(id, RPC_ERRORS.METHOD_NOT_FOUND, 'Method not found');
      return { status: 200, text };
    } catch (error) {
      return written(id, await deps.failed(error, caller, method));
    }
  }

  async function initialize(request: ClientRequest, scene: RequestScene): Promise<RequestAnswer> {
    const { protocolVersion } = request.params;
    if (typeof protocolVersion !== 'string') {
      throw new GatewayError(200, 'protocolVersion is missing', RPC_ERRORS.INVALID_PARAMS);
    }
    const refusal = deps.enforcer.admit(scene.caller);
    if (refusal !== undefined) return written(request.id, refusal);
    const { tenantId, agent, serverId, key } = scene.caller;
    const declared = declaredCapabilities(request.params.capabilities, 'legacy');
    const peer = declared?.isAskable ? deps.createPeer(declared.capabilities, scene.caller) : null;
    const shared = declared && !peer ? sharedPeer(key, declared.capabilities) : null;
    try {
      const caller = { ...scene.caller, peer: peer ?? shared ?? undefined };
      const { capabilities, serverInfo, instructions } = await deps.announce(caller);
      const revision = negotiateRevision(protocolVersion);
      const owner = { tenantId, agentId: agent.id, serverId };
      const session = deps.sessions.create(owner, revision, { peer, shared });
      if (peer !== null) peer.caller = { ...caller, sessionId: session.id };
      const result = {
        protocolVersion: revision,
        capabilities,
        serverInfo: serverInfo ?? deps.gateway,
        instructions: instructions ?? undefined,
      };
      return { status: 200, text: resultText(request.id, JSON.stringify(result)), session };
    } catch (error) {
      peer?.close();
      throw error;
    }
  }

  async function call(request: ClientRequest, scene: RequestScene): Promise<RequestAnswer> {
    const { caller, session } = scene;
    const { id, method, params } = request;
    const send = (text: string) => scene.answer.send(text);
    const exchange = clientExchange(progressTokenOf(params), scene, send);
    session?.calls.set(id, exchange.cancellation);
    // A question that waits for a stream is not for an agent that may not act any more.
    const detach = scene.ineligible === undefined ? session?.peer?.attach(send) : undefined;
    try {
      if (method === 'logging/setLevel') {
        const own = requireSession(session);
        return written(id, await deps.reads.setLevel(caller, own, params, exchange));
      }
      const routed: SessionRead = isJudgedRead(method)
        ? deps.reads.route(caller, session, method, params)
        : deps.router.routeTool(caller, params);
      const answer = await callRouted(caller, routed, exchange, deps.enforcer.call);
      routed.settle?.(answer);
      return written(id, answer);
    } finally {
      detach?.();
      const isOwn = session?.calls.get(id) === exchange.cancellation;
      if (isOwn) session?.calls.delete(id);
    }
  }

  return { answer };
}

/** The caller in its session; the peer that servers ask through learns the current caller. */
export function inSession(caller: Caller, session: LegacySession | null): Caller {
  if (session === null) return caller;
  const { id: sessionId, peer } = session;
  const own = { ...caller, sessionId, peer: peerOf(session) ?? undefined };
  if (peer !== null) peer.caller = own;
  return own;
}

/** An answer in the form that a legacy client expects. */
function written(id: RpcId, answer: Answer): RequestAnswer {
  const text = answerText(id, answer);
  if (answer.kind !== 'refusal') return { status: 200, text };
  return { status: answer.status, text, challenge: answer.challenge };
}

/**
 * One call between client and server: forwards what comes before the answer.
 *
 * @param send sends a request of the server along with the answer
 */
function clientExchange(
  progressToken: RpcId | undefined,
  { session, answer, canPause }: RequestScene,
  send: SendToClient,
): Exchange {
  return {
    cancellation: new Cancellation(),
    wantsProgress: progressToken !== undefined,
    send,
    // A client that returns for the answer has to ask again: no call runs without a client.
    onGone: (listener) => answer.onGone(listener),
    onPaused(retryMs) {
      // The client need not hold a connection when the server holds none.
      if (canPause) answer.pause(retryMs);
    },
    onNotification({ method, params }) {
      if (method === 'notifications/progress') {
        // The server knows the gateway's token; the client knows its own.
        if (progressToken === undefined) return;
        answer.notify(notificationText(method, { ...params, progressToken }));
      } else if (method !== 'notifications/message' || isLoudEnough(session, params)) {
        answer.notify(notificationText(method, params));
      }
    },
  };
}
