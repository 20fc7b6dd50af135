/**
 * The levels of log messages that a client's sessions want. All sessions of an agent share one
 * session with the server, which knows only one level: the lowest.
 */
import type { RulesProvider } from '../../contracts.ts';
import type { Answer } from '../../enforcement/call/answer.ts';
import type { Caller, Destination, Exchange } from '../../enforcement/call/calls.ts';
import { type Enforcer, quiet } from '../../enforcement/enforcer.ts';
import { isServerVisible } from '../../enforcement/permission/permits.ts';
import { internalRefusal } from '../../enforcement/record/refusals.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import { isObject, LOG_LEVELS } from '../../upstream/message.ts';
import { EMPTY_RESULT, requireStillWanted } from '../../upstream/upstream.ts';
import { answerInTime } from '../call-routing.ts';
import { parseReadParams } from '../read-params.ts';
import { callRouted, type Router } from '../router.ts';
import { listServers } from '../servers.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

interface Places {
  serverIds: readonly string[];
  /** Otherwise none of the agent's servers logs, and the gateway only keeps the level. */
  isForwarded: boolean;
}

const KEPT_HERE: Destination = {
  speaker: 'gateway',
  async send(_call, exchange) {
    requireStillWanted(exchange);
    return EMPTY_RESULT;
  },
};

/** Fail closed: without a judgement there is no success. */
const NO_PLACE = internalRefusal('No level was set.');

export interface LogLevelsDeps {
  enforcer: Pick<Enforcer, 'call'>;
  router: Pick<Router, 'toRead'>;
  door: Pick<Door, 'findIneligibility'>;
  sessions: Pick<LegacySessions, 'together'>;
  rules: RulesProvider;
  /** The capabilities of a server, which is opened to learn them. */
  findCapabilities(caller: Caller, serverId: string): Promise<Record<string, unknown>>;
}

export function createLogLevels(deps: LogLevelsDeps) {
  const { call } = deps.enforcer;

  /**
   * At the unified gateway the level is set at each server that can log, and each request is
   * judged. One that is allowed is enough.
   */
  async function set(
    caller: Caller,
    session: LegacySession,
    params: Record<string, unknown>,
    exchange: Exchange,
  ): Promise<Answer> {
    const { level } = parseReadParams('logging/setLevel', params);
    const rank = LOG_LEVELS.indexOf(level);
    const places =
      caller.serverId === null
        ? await findPlaces(caller)
        : { serverIds: [caller.serverId], isForwarded: true };
    // Before the judgement, so that a level set at the same time by another session counts this one.
    const before = session.logRank;
    session.logRank = rank;
    const args = { level: lowest(session) };
    const answers = await Promise.all(
      places.serverIds.map((serverId) => {
        const { ask, destination } = deps.router.toRead('logging/setLevel', serverId, args);
        const routed = { ask, destination: places.isForwarded ? destination : KEPT_HERE };
        if (caller.serverId !== null) return callRouted(caller, routed, exchange, call);
        // Each has its own, since a cancellation has one listener.
        const own = quiet();
        const telling = callRouted(caller, routed, own, call);
        return answerInTime(telling, () => own.cancellation.cancel()).catch(() => telling);
      }),
    );
    const answer = answers.find((one) => one.kind === 'result') ?? answers[0] ?? NO_PLACE;
    if (answer.kind !== 'result') session.logRank = before;
    return answer;
  }

  /** The servers for which the level is judged, at least one, and whether these are told it. */
  async function findPlaces(caller: Caller): Promise<Places> {
    const rules = deps.rules.findActiveRules(caller.tenantId);
    // Without rules the call is denied.
    if (rules === null) return { serverIds: [''], isForwarded: true };
    const ids = listServers(rules).map((server) => server.server_id);
    const visible = ids.filter((id) => isServerVisible(caller.agent.permits, id, rules));
    // When the agent may use none of them, one stands for all, so that the denial is recorded, and
    // none is asked for its capabilities.
    if (visible.length === 0 || deps.door.findIneligibility(caller) !== undefined)
      return { serverIds: [ids[0] ?? ''], isForwarded: true };
    const logging = await Promise.all(
      visible.map(async (id) => {
        const declared = await answerInTime(deps.findCapabilities(caller, id)).catch(() => ({}));
        return isObject((declared as Record<string, unknown>).logging);
      }),
    );
    const found = visible.filter((_id, at) => logging[at]);
    // None logs: the gateway keeps the level, if it may be set at any of them.
    return found.length > 0
      ? { serverIds: found, isForwarded: true }
      : { serverIds: visible, isForwarded: false };
  }

  /** The level that the server is told. */
  function lowest(session: LegacySession): (typeof LOG_LEVELS)[number] {
    const ranks = [session, ...deps.sessions.together(session)].flatMap(
      ({ logRank }) => logRank ?? [],
    );
    return LOG_LEVELS[Math.min(...ranks)] ?? 'debug';
  }

  return { set, lowest };
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
