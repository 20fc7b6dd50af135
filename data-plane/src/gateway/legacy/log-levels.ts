/**
 * The levels of log messages that a client's sessions want. All sessions of an agent share one
 * session with the server, which knows only one level: the lowest.
 */
import type { RulesProvider } from '../../contracts.ts';
import type { Answer } from '../../enforcement/answer.ts';
import type { Caller, Exchange } from '../../enforcement/calls.ts';
import { quiet } from '../../enforcement/enforcer.ts';
import { isServerVisible } from '../../enforcement/grants.ts';
import type { Door } from '../../enforcement/steps/authenticate.ts';
import { isObject, LOG_LEVELS } from '../../upstream/message.ts';
import { EMPTY_RESULT } from '../../upstream/upstream.ts';
import { inTime } from '../call-routing.ts';
import { parseReadParams } from '../read-params.ts';
import type { RoutedRead, Router } from '../router.ts';
import { listServers } from '../servers.ts';
import type { LegacySession, LegacySessions } from './sessions.ts';

/** Has a read judged and sent. */
export type JudgeRead = (caller: Caller, routed: RoutedRead, exchange: Exchange) => Promise<Answer>;

export function createLogLevels(deps: {
  read: JudgeRead;
  router: Pick<Router, 'toRead'>;
  door: Pick<Door, 'findIneligibility'>;
  sessions: Pick<LegacySessions, 'together'>;
  rules: RulesProvider;
  /** The capabilities of a server, which is opened to learn them. */
  findCapabilities(caller: Caller, serverId: string): Promise<Record<string, unknown>>;
}) {
  /**
   * At the unified gateway the level is set at each server that can log, and each request is
   * judged.
   */
  async function set(
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
    if (caller.serverId !== null) return deps.read(caller, routed, exchange);
    // Each has its own, since a cancellation has one listener.
    const own = quiet();
    const telling = deps.read(caller, routed, own);
    return inTime(telling, () => own.cancellation.cancel()).catch(() => telling);
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
