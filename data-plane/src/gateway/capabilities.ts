/**
 * What a client is told at the beginning: what the server of its path has, or what any of the
 * agent's servers has.
 */
import type { Logger } from 'pino';
import type { RulesProvider } from '../contracts.ts';
import { isServerVisible } from '../enforcement/tool-visibility.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import type { UpstreamInfo } from '../upstream/upstream.ts';
import {
  inTime,
  requireFewHops,
  requireRules,
  requireServer,
  sessionWith,
} from './call-routing.ts';
import type { Caller } from './caller.ts';
import { isObject } from './json-rpc.ts';
import { TASKS_EXTENSION } from './modern/extensions.ts';
import { listServers } from './servers.ts';

export interface CapabilityDeps {
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'find'>;
  log: Pick<Logger, 'warn'>;
}

/** What the gateway says of what is behind it. `serverInfo` is null at the unified gateway. */
export interface Announcement {
  capabilities: Record<string, unknown>;
  serverInfo: Record<string, unknown> | null;
  instructions: string | null;
}

/** The capabilities that the gateway passes on, each with the members that matter. */
const PASSED: Record<string, readonly string[]> = {
  tools: ['listChanged'],
  resources: ['subscribe', 'listChanged'],
  prompts: ['listChanged'],
  completions: [],
  logging: [],
};

/** A beginning waits no longer for servers that have not been opened yet. */
const OPEN_WAIT_MS = 3_000;

export type Announce = ReturnType<typeof createAnnouncer>;

/** Builds it. The function throws GatewayError, and UpstreamFailure for the server of the path. */
export function createAnnouncer(deps: CapabilityDeps) {
  async function joined(caller: Caller): Promise<Announcement> {
    const rules = deps.rules.findActiveRules(caller.tenantId);
    const servers = rules === null ? [] : listServers(rules);
    const infos = await Promise.all(
      servers
        .filter((server) => isServerVisible(caller.agent.grants, server.server_id, rules))
        .map(async (server): Promise<Record<string, unknown>> => {
          const open = async () => await sessionWith(deps.pool, caller, server).open();
          try {
            return passed(await inTime(open(), undefined, OPEN_WAIT_MS), caller);
          } catch (error) {
            const fields = { err: error, server: server.server_id, reqId: caller.requestId };
            deps.log.warn(fields, 'a server could not be asked what it can do');
            // It may be back before the client asks; its part of a list is empty until then.
            return ALL;
          }
        }),
    );
    // New servers come and go with the rules, with their tools.
    const capabilities = [{ tools: { listChanged: true } }, ...infos].reduce(merge, {});
    return { capabilities, serverInfo: null, instructions: null };
  }

  return async (caller: Caller): Promise<Announcement> => {
    requireFewHops(caller);
    if (caller.serverId === null) return joined(caller);
    // Neither what the server is nor whether it is there is for whoever may use nothing of it.
    const active = deps.rules.findActiveRules(caller.tenantId);
    if (!isServerVisible(caller.agent.grants, caller.serverId, active)) return NOTHING;
    const server = requireServer(requireRules(deps.rules, caller), caller.serverId);
    const session = sessionWith(deps.pool, caller, server);
    const info: UpstreamInfo = await session.open();
    const { serverInfo, instructions } = info;
    return { capabilities: passed(info, caller), serverInfo, instructions };
  };
}

/** Only what the gateway passes on, whatever else the server can do. */
function passed(
  { capabilities: declared, era }: UpstreamInfo,
  caller: Caller,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const { extensions } = declared;
  // An extension is carried where both sides speak the same era.
  if (caller.era === 'modern' && era === 'modern' && isObject(extensions)) {
    if (isObject(extensions[TASKS_EXTENSION])) found.extensions = { [TASKS_EXTENSION]: {} };
  }
  for (const [name, members] of Object.entries(PASSED)) {
    const capability = declared[name];
    if (!isObject(capability)) continue;
    const held = members.filter((member) => capability[member] === true);
    found[name] = Object.fromEntries(held.map((member) => [member, true]));
  }
  return found;
}

/** A list of tools there is, for agents of whatever roles; here it is empty. */
const NOTHING: Announcement = { capabilities: { tools: {} }, serverInfo: null, instructions: null };

const ALL: Record<string, unknown> = Object.fromEntries(
  Object.entries(PASSED).map(([name, members]) => [
    name,
    Object.fromEntries(members.map((member) => [member, true])),
  ]),
);

function merge(
  all: Record<string, unknown>,
  more: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...all };
  for (const [name, members] of Object.entries(more)) {
    merged[name] = { ...(merged[name] as object | undefined), ...(members as object) };
  }
  return merged;
}
