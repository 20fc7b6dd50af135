/**
 * The judged reads of a client of a legacy revision. A session's subscriptions (updates of
 * resources, log messages) are kept with the session, since all sessions of an agent share one
 * session with the server.
 */
import type { RulesProvider } from '../../contracts.ts';
import type { Answer } from '../../enforcement/answer.ts';
import type { JudgedRead } from '../../enforcement/call-kinds.ts';
import type { Caller, Exchange } from '../../enforcement/calls.ts';
import type { Enforcer } from '../../enforcement/enforcer.ts';
import { isServerVisible } from '../../enforcement/grants.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import { isObject, LOG_LEVELS } from '../../upstream/message.ts';
import type { SessionPlace } from '../../upstream/sessions/session-listeners.ts';
import { Cancellation, EMPTY_RESULT, type UpstreamNotification } from '../../upstream/upstream.ts';
import { badParams, inTime } from '../call-routing.ts';
import { GatewayError } from '../json-rpc.ts';
import { parseReadParams } from '../read-params.ts';
import { callRouted, type RoutedRead, type Router } from '../router.ts';
import { listServers } from '../servers.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

/** Resources that a session may be subscribed to at a time. */
const MAX_SUBSCRIPTIONS = 1000;

export type SessionReads = ReturnType<typeof createSessionReads>;

/** Builds the handler of all judged reads. `call` throws GatewayError. */
export function createSessionReads(deps: {
  enforcer: Pick<Enforcer, 'call'>;
  router: Pick<Router, 'routeRead' | 'toRead'>;
  door: Pick<Door, 'findIneligibility'>;
  sessions: Pick<LegacySessions, 'ofOwner'>;
  rules: RulesProvider;
  /** Monotonic milliseconds. */
  elapsed(): number;
  /** The capabilities of a server, which is opened to learn them. */
  findCapabilities(caller: Caller, serverId: string): Promise<Record<string, unknown>>;
}) {
  const read = (caller: Caller, routed: RoutedRead, exchange: Exchange) =>
    callRouted(caller, routed, exchange, deps.enforcer.call);

  async function subscribe(
    caller: Caller,
    session: LegacySession,
    routed: RoutedRead,
    exchange: Exchange,
  ): Promise<Answer> {
    const key = subscriptionKey(routed.ask.serverId, routed.ask.args.uri);
    if (session.subscriptions.size >= MAX_SUBSCRIPTIONS && !session.subscriptions.has(key)) {
      throw badParams(`A session has at most ${MAX_SUBSCRIPTIONS} subscriptions.`);
    }
    const isNew = !session.subscriptions.has(key);
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
    const isLast = !together(session).some(
      (other) => other !== session && other.subscriptions.has(key),
    );
    // Another session of the agent still listens: only this one unsubscribes.
    if (!isLast && session.subscriptions.delete(key)) return EMPTY_RESULT;
    const answer = await read(caller, routed, exchange);
    if (answer.kind === 'result') session.subscriptions.delete(key);
    return answer;
  }

  /**
   * At the unified gateway the level is set at each server that can log, and each request is
   * judged.
   */
  async function setLevel(
    caller: Caller,
    session: LegacySession,
    params: Record<string, unknown>,
    exchange: Exchange,
  ): Promise<Answer> {
    const { level } = parseReadParams('logging/setLevel', params);
    const rank = LOG_LEVELS.indexOf(level);
    const serverIds =
      caller.serverId === null ? await findLogging(caller) : ([caller.serverId] as const);
    const before = session.logRank;
    session.logRank = rank;
    const answers = await Promise.all(
      serverIds.map((serverId) => {
        const args = { level: lowest(session) };
        return tell(caller, deps.router.toRead('logging/setLevel', serverId, args), exchange);
      }),
    );
    // With no server to set it at, there is nothing to receive either.
    const answer = answers.find((one) => one.kind === 'result') ?? answers[0] ?? EMPTY_RESULT;
    if (answer.kind !== 'result') session.logRank = before;
    return answer;
  }

  function tell(caller: Caller, routed: RoutedRead, exchange: Exchange): Promise<Answer> {
    if (caller.serverId !== null) return read(caller, routed, exchange);
    // Each has its own, since a cancellation has one listener.
    const cancellation = new Cancellation();
    const own = { ...QUIET, cancellation };
    const telling = read(caller, routed, own);
    return inTime(telling, () => cancellation.cancel()).catch(() => telling);
  }

  /** The servers that log, as far as they can be asked; without rules the call is denied. */
  async function findLogging(caller: Caller): Promise<string[]> {
    const rules = deps.rules.findActiveRules(caller.tenantId);
    if (rules === null) return [''];
    const ids = listServers(rules).map((server) => server.server_id);
    const visible = ids.filter((id) => isServerVisible(caller.agent.grants, id, rules));
    // When the agent may use none of them, one stands for all, so that the denial is recorded, and
    // none is asked for its capabilities.
    if (visible.length === 0 || deps.door.findIneligibility(caller) !== undefined)
      return [ids[0] ?? ''];
    const logging = await Promise.all(
      visible.map(async (id) => {
        const declared = await inTime(deps.findCapabilities(caller, id)).catch(() => ({}));
        return isObject((declared as Record<string, unknown>).logging);
      }),
    );
    return visible.filter((_id, at) => logging[at]);
  }

  /** The lowest level that any of the agent's sessions wants: the server knows only one. */
  function lowest(session: LegacySession): (typeof LOG_LEVELS)[number] {
    const ranks = [session, ...together(session)].flatMap(({ logRank }) => logRank ?? []);
    return LOG_LEVELS[Math.min(...ranks)] ?? 'debug';
  }

  /** The agent's sessions that share this one's sessions with servers. */
  function together({ owner, peer }: LegacySession): LegacySession[] {
    return deps.sessions.ofOwner(owner).filter((other) => other.peer === peer);
  }

  async function call(
    caller: Caller,
    session: LegacySession | null,
    method: JudgedRead,
    params: Record<string, unknown>,
    exchange: Exchange,
  ): Promise<Answer> {
    if (method === 'logging/setLevel') {
      return setLevel(caller, requireSession(session), params, exchange);
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
    const now = { ...caller, arrivedAt: deps.elapsed() };
    return read(now, routed, { ...QUIET, cancellation: new Cancellation() });
  }

  /**
   * Restores at a server that lost its session the subscriptions and log level of the agent's
   * sessions, as far as any still listens. A subscription that is denied meanwhile, or unknown
   * there, ends.
   */
  async function renew({ tenantId, agentId, serverId, peerId }: SessionPlace): Promise<void> {
    const renewed = new Set<string>();
    let isLevelTold = false;
    for (const session of deps.sessions.ofOwner({ tenantId, agentId, serverId })) {
      const heard = session.stream?.caller;
      if (heard === undefined || session.peer?.id !== peerId) continue;
      if (session.logRank !== null && !isLevelTold) {
        isLevelTold = true;
        const args = { level: lowest(session) };
        await tellAnew(heard, deps.router.toRead('logging/setLevel', serverId, args));
      }
      for (const key of [...session.subscriptions]) {
        if (!key.startsWith(`${serverId} `) || renewed.has(key)) continue;
        renewed.add(key);
        const args = { uri: key.slice(serverId.length + 1) };
        const routed = deps.router.toRead('resources/subscribe', serverId, args);
        const answer = await tellAnew(heard, routed);
        if (answer.kind === 'result') continue;
        for (const one of together(session)) one.subscriptions.delete(key);
      }
    }
  }

  return { call, renew };
}

const QUIET = { onNotification: () => undefined, wantsProgress: false };

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

/** Whether a log message is severe enough for the session; one that set no level gets all. */
export function isLoudEnough(
  session: LegacySession | null,
  params: Record<string, unknown> | undefined,
): boolean {
  const wanted = session?.logRank ?? null;
  const rank = LOG_LEVELS.indexOf(params?.level as (typeof LOG_LEVELS)[number]);
  return wanted === null || rank < 0 || rank >= wanted;
}

function subscriptionKey(serverId: string, uri: unknown): string {
  return `${serverId} ${uri}`;
}

/** A client without a session cannot be notified of anything. */
export function requireSession(session: LegacySession | null): LegacySession {
  if (session !== null) return session;
  throw new GatewayError(400, 'The header Mcp-Session-Id is missing.');
}
