/**
 * The judged reads of a client of a legacy revision. A session's subscriptions (updates of
 * resources, log messages) are kept with the session, since all sessions of an agent share one
 * session with the server.
 */
import type { RulesProvider } from '../../contracts.ts';
import type { Answer } from '../../enforcement/answer.ts';
import type { JudgedRead } from '../../enforcement/call-kinds.ts';
import type { Caller, Exchange } from '../../enforcement/calls.ts';
import { type Enforcer, quiet } from '../../enforcement/enforcer.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import type { SessionPlace } from '../../upstream/sessions/session-opener.ts';
import { EMPTY_RESULT, type UpstreamNotification } from '../../upstream/upstream.ts';
import { badParams } from '../call-routing.ts';
import { GatewayError } from '../json-rpc.ts';
import { callRouted, type RoutedRead, type Router } from '../router.ts';
import { createLogLevels, isLoudEnough, type JudgeRead } from './log-levels.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

/** Resources that a session may be subscribed to at a time. */
const MAX_SUBSCRIPTIONS = 1000;

export type SessionReads = ReturnType<typeof createSessionReads>;

/** Builds the handler of all judged reads. `call` throws GatewayError. */
export function createSessionReads(deps: {
  enforcer: Pick<Enforcer, 'call'>;
  router: Pick<Router, 'routeRead' | 'toRead'>;
  door: Pick<Door, 'findIneligibility'>;
  sessions: Pick<LegacySessions, 'ofOwner' | 'together'>;
  rules: RulesProvider;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** The capabilities of a server, which is opened to learn them. */
  findCapabilities(caller: Caller, serverId: string): Promise<Record<string, unknown>>;
}) {
  const { sessions } = deps;
  const read: JudgeRead = (caller, routed, exchange) =>
    callRouted(caller, routed, exchange, deps.enforcer.call);
  const levels = createLogLevels({ ...deps, read });

  async function subscribe(
    caller: Caller,
    session: LegacySession,
    routed: RoutedRead,
    exchange: Exchange,
  ): Promise<Answer> {
    const key = subscriptionKey(routed.ask.serverId, routed.ask.args.uri);
    const isNew = !session.subscriptions.has(key);
    if (isNew && session.subscriptions.size >= MAX_SUBSCRIPTIONS) {
      throw badParams(`A session has at most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    }
    // Added before it is sent: the first update may come with the answer.
    session.subscriptions.add(key);
    const answer = await read(caller, routed, exchange);
    if (answer.kind !== 'result' && isNew) session.subscriptions.delete(key);
    return answer;
  }

  async function unsubscribe(
    caller: Caller,
    session: LegacySession,
    routed: RoutedRead,
    exchange: Exchange,
  ): Promise<Answer> {
    const key = subscriptionKey(routed.ask.serverId, routed.ask.args.uri);
    const isLast = !sessions
      .together(session)
      .some((other) => other !== session && other.subscriptions.has(key));
    // Another session of the agent still listens: only this one unsubscribes.
    if (!isLast && session.subscriptions.delete(key)) return EMPTY_RESULT;
    const answer = await read(caller, routed, exchange);
    if (answer.kind === 'result') session.subscriptions.delete(key);
    return answer;
  }

  async function call(
    caller: Caller,
    session: LegacySession | null,
    method: JudgedRead,
    params: Record<string, unknown>,
    exchange: Exchange,
  ): Promise<Answer> {
    if (method === 'logging/setLevel') {
      return levels.set(caller, requireSession(session), params, exchange);
    }
    const routed = deps.router.routeRead(caller, method, params);
    if (method === 'resources/subscribe') {
      return subscribe(caller, requireSession(session), routed, exchange);
    }
    if (method === 'resources/unsubscribe') {
      return unsubscribe(caller, requireSession(session), routed, exchange);
    }
    return read(caller, routed, exchange);
  }

  /** A read that no client waits for, judged and recorded like any. Never throws. */
  function tellAnew(caller: Caller, routed: RoutedRead) {
    return read({ ...caller, arrivedAt: deps.elapsed() }, routed, quiet());
  }

  /**
   * Restores at a server that lost its session the subscriptions and log level of the agent's
   * sessions, as far as any still listens. A subscription that is denied meanwhile, or unknown
   * there, ends.
   */
  async function renew({ tenantId, agentId, serverId, peerId }: SessionPlace): Promise<void> {
    const renewed = new Set<string>();
    let isLevelTold = false;
    for (const session of sessions.ofOwner({ tenantId, agentId, serverId })) {
      const heard = session.stream?.caller;
      if (heard === undefined || session.peer?.id !== peerId) continue;
      if (session.logRank !== null && !isLevelTold) {
        isLevelTold = true;
        const args = { level: levels.lowest(session) };
        await tellAnew(heard, deps.router.toRead('logging/setLevel', serverId, args));
      }
      for (const key of [...session.subscriptions]) {
        if (!key.startsWith(`${serverId} `) || renewed.has(key)) continue;
        renewed.add(key);
        const args = { uri: key.slice(serverId.length + 1) };
        const routed = deps.router.toRead('resources/subscribe', serverId, args);
        const answer = await tellAnew(heard, routed);
        if (answer.kind === 'result') continue;
        for (const one of sessions.together(session)) one.subscriptions.delete(key);
      }
    }
  }

  return { call, renew };
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
