/**
 * The judged reads of a client of a legacy revision. A session's subscriptions (updates of
 * resources, log messages) are kept with the session, since sessions of an agent share one session
 * with the server.
 */
import type { Answer } from '../../enforcement/call/answer.ts';
import type { JudgedRead } from '../../enforcement/call/call-kinds.ts';
import type { Caller, Destination } from '../../enforcement/call/calls.ts';
import { quiet } from '../../enforcement/enforcer.ts';
import type { SessionPlace } from '../../upstream/sessions/session-opener.ts';
import {
  EMPTY_RESULT,
  requireStillWanted,
  type UpstreamNotification,
} from '../../upstream/upstream.ts';
import { badParams } from '../call-routing.ts';
import { GatewayError } from '../json-rpc.ts';
import { callRouted, type Routed, type RoutedRead, type Router } from '../router.ts';
import { createLogLevels, isLoudEnough, type LogLevelsDeps } from './log-levels.ts';
import { type LegacySession, type LegacySessions, peerOf } from './sessions.ts';

/** Resources that a session may be subscribed to at a time. */
const MAX_SUBSCRIPTIONS = 1000;

/** A routed read of a session. */
export interface SessionRead extends Routed {
  /** To be called with what the client gets, which inspection may have turned into a refusal. */
  settle?(answer: Answer): void;
}

export type SessionReads = ReturnType<typeof createSessionReads>;

interface SessionReadsDeps extends LogLevelsDeps {
  router: Pick<Router, 'routeRead' | 'toRead'>;
  sessions: Pick<LegacySessions, 'ofOwner' | 'together'>;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

/** Builds the handler of all judged reads. `route` and `setLevel` throw GatewayError. */
export function createSessionReads(deps: SessionReadsDeps) {
  const { sessions } = deps;
  const levels = createLogLevels(deps);

  /**
   * Routes a judged read. What a session keeps changes only when the call was allowed and recorded,
   * so its destination changes it; `settle` makes it what the client was told.
   */
  function route(
    caller: Caller,
    session: LegacySession | null,
    method: JudgedRead,
    params: Record<string, unknown>,
  ): SessionRead {
    const routed = deps.router.routeRead(caller, method, params);
    if (method === 'resources/subscribe') return subscribing(requireSession(session), routed);
    if (method === 'resources/unsubscribe') return unsubscribing(requireSession(session), routed);
    return routed;
  }

  function subscribing(session: LegacySession, { ask, destination }: RoutedRead): SessionRead {
    const key = subscriptionKey(ask.serverId, ask.args.uri);
    let isNew = false;
    const send: Destination['send'] = async (call, exchange) => {
      isNew = !session.subscriptions.has(key);
      if (isNew && session.subscriptions.size >= MAX_SUBSCRIPTIONS) {
        throw badParams(`A session has at most ${MAX_SUBSCRIPTIONS} subscriptions.`);
      }
      // Added before it is sent: the first update may come with the answer.
      session.subscriptions.add(key);
      return destination.send(call, exchange);
    };
    const settle = ({ kind }: Answer) => {
      if (kind !== 'result' && isNew) session.subscriptions.delete(key);
    };
    return { ask, destination: { ...destination, send }, settle };
  }

  function unsubscribing(session: LegacySession, { ask, destination }: RoutedRead): SessionRead {
    const key = subscriptionKey(ask.serverId, ask.args.uri);
    let wasSubscribed = false;
    const send: Destination['send'] = async (call, exchange) => {
      requireStillWanted(exchange);
      // The server hears of it from the last session that listens.
      const isListenedTo = sessions
        .together(session)
        .some((other) => other !== session && other.subscriptions.has(key));
      if (!isListenedTo) return destination.send(call, exchange);
      // Decided and done here: two sessions that unsubscribe at the same time must not both leave it
      // to the other.
      wasSubscribed = session.subscriptions.delete(key);
      return EMPTY_RESULT;
    };
    const settle = ({ kind }: Answer) => {
      if (kind === 'result') session.subscriptions.delete(key);
      else if (wasSubscribed) session.subscriptions.add(key);
    };
    return { ask, destination: { ...destination, send }, settle };
  }

  /** A read that no client waits for, judged and recorded like any. Never throws. */
  function sendAnew(caller: Caller, routed: RoutedRead) {
    const anew = { ...caller, arrivedAt: deps.elapsed() };
    return callRouted(anew, routed, quiet(), deps.enforcer.call);
  }

  /**
   * Restores at a server that lost its session the subscriptions and log level of the agent's
   * sessions, as far as any still listens. A subscription that is denied meanwhile, or unknown
   * there, ends.
   */
  async function renew({ tenantId, agentId, serverId, peerId }: SessionPlace): Promise<void> {
    const renewed = new Set<string>();
    let isLevelSent = false;
    for (const session of sessions.ofOwner({ tenantId, agentId, serverId })) {
      const listener = session.stream?.caller;
      if (listener === undefined || peerOf(session)?.id !== peerId) continue;
      if (session.logRank !== null && !isLevelSent) {
        isLevelSent = true;
        const args = { level: levels.lowest(session) };
        await sendAnew(listener, deps.router.toRead('logging/setLevel', serverId, args));
      }
      for (const key of [...session.subscriptions]) {
        if (!key.startsWith(`${serverId} `) || renewed.has(key)) continue;
        renewed.add(key);
        const args = { uri: key.slice(serverId.length + 1) };
        const routed = deps.router.toRead('resources/subscribe', serverId, args);
        const answer = await sendAnew(listener, routed);
        if (answer.kind === 'result') continue;
        for (const one of sessions.together(session)) one.subscriptions.delete(key);
      }
    }
  }

  return { route, setLevel: levels.set, renew };
}

/** Whether a session wants a message that a server sent unprompted. */
export function isWanted(
  session: LegacySession,
  serverId: string,
  { method, params }: UpstreamNotification,
): boolean {
  if (method === 'notifications/resources/updated') {
    return session.subscriptions.has(subscriptionKey(serverId, params?.uri));
  }
  return method !== 'notifications/message' || isLoudEnough(session, params);
}

function subscriptionKey(serverId: string, uri: unknown): string {
  return `${serverId} ${uri}`;
}

/** A client without a session cannot be notified of anything. */
export function requireSession(session: LegacySession | null): LegacySession {
  if (session !== null) return session;
  throw new GatewayError(400, 'The header Mcp-Session-Id is missing.');
}
