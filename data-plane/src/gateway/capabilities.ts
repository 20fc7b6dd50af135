/**
 * What a client learns at initialization: the capabilities of its path's server, or of any of the
 * agent's servers.
 */
import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { RulesProvider } from '../contracts.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import type { Enforcer } from '../enforcement/enforcer.ts';
import { isServerVisible } from '../enforcement/permission/permits.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import { isObject } from '../upstream/message.ts';
import type { UpstreamPool } from '../upstream/sessions/pool.ts';
import { AnswerBytes, bytesToHold, noRoomYet } from '../upstream/shares/answer-room.ts';
import type { FairBytes } from '../upstream/shares/fair-bytes.ts';
import type { UpstreamInfo } from '../upstream/upstream.ts';
import {
  answerInTime,
  askerFor,
  requireFewHops,
  requireRules,
  sessionWith,
} from './call-routing.ts';
import { APPS_EXTENSION, passedExtensions } from './extensions.ts';
import { ineligibleError } from './failures.ts';
import { listServers, requireServer } from './servers.ts';

/**
 * What the gateway announces of the servers behind it. `serverInfo` is null at the unified gateway.
 */
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

/** The kinds of lists that clients keep. */
const LISTED = ['tools', 'resources', 'prompts'];

/** Initialization waits no longer than this for servers that have not been opened yet. */
const OPEN_WAIT_MS = 200;
/** Servers whose last known capabilities are remembered. */
const MAX_KNOWN = 4096;

export type Announce = ReturnType<typeof createAnnouncer>;

/**
 * Builds it. The function throws GatewayError, and UpstreamFailure for the server of the path. It
 * announces nothing to an agent that may not act any more by then.
 */
export function createAnnouncer(deps: {
  enforcer: Pick<Enforcer, 'introduce'>;
  door: Pick<Door, 'findIneligibility'>;
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'getSession' | 'notify'>;
  /** For what servers say of themselves, until it was inspected. */
  room: FairBytes;
  log: Pick<Logger, 'warn'>;
}) {
  /** The capabilities of servers when they were last opened. */
  const known = new LRUCache<string, Record<string, unknown>>({ max: MAX_KNOWN });

  async function joined(caller: Caller): Promise<Announcement> {
    const rules = deps.rules.findActiveRules(caller.tenantId);
    const servers = rules === null ? [] : listServers(rules);
    const infos = await Promise.all(
      servers
        .filter((server) => isServerVisible(caller.agent.permits, server.server_id, rules))
        .map((server) => findOut(caller, server)),
    );
    // Servers come and go with the rules, and their tools with them.
    const capabilities = [{ tools: { listChanged: true } }, ...infos].reduce(merge, {});
    return { capabilities, serverInfo: null, instructions: null };
  }

  /** A server's capabilities, if they are known soon; otherwise they are announced later. */
  async function findOut(caller: Caller, server: McpServerSetting) {
    const place = `${caller.tenantId} ${server.server_id} ${caller.era}`;
    let isLate = false;
    const finding = open(caller, server, place).then((found) => {
      if (isLate && found !== undefined) notifyOf(caller, server.server_id, found);
      return found;
    });
    const expire = () => {
      isLate = true;
    };
    const found = await answerInTime(finding, expire, OPEN_WAIT_MS).catch(() => undefined);
    // It may be up before the client asks; until then its part of a list is empty.
    return found ?? known.get(place) ?? ALL;
  }

  /** Never rejects: undefined where it cannot be opened. */
  async function open(caller: Caller, server: McpServerSetting, place: string) {
    try {
      const session = sessionWith(deps.pool, caller, server);
      const found = passed(await session.open(askerFor(caller, deps.door)), caller);
      known.set(place, found);
      return found;
    } catch (error) {
      const fields = { err: error, server: server.server_id, reqId: caller.requestId };
      deps.log.warn(fields, 'a server could not be asked what it can do');
      return undefined;
    }
  }

  /** Tells a client that began without a server to list again when the server is up. */
  function notifyOf(caller: Caller, serverId: string, found: Record<string, unknown>): void {
    const { tenantId, agent, peer } = caller;
    const place = { tenantId, agentId: agent.id, serverId, peerId: peer?.id };
    for (const name of LISTED) {
      const method = `notifications/${name}/list_changed`;
      if (found[name] !== undefined) deps.pool.notify(place, { method, params: undefined });
    }
  }

  /** @throws UpstreamFailure where there is no room for it */
  async function introduce<T extends object>(caller: Caller, serverId: string, introduction: T) {
    const held = new AnswerBytes(deps.room, caller);
    if (!held.hold(bytesToHold(JSON.stringify(introduction).length, true))) throw noRoomYet();
    try {
      return await deps.enforcer.introduce(caller, serverId, introduction, 'introduction');
    } finally {
      held.release();
    }
  }

  async function announced(caller: Caller): Promise<Announcement> {
    if (caller.serverId === null) return joined(caller);
    // An agent that may use nothing of a server does not learn what it is, or whether it is up.
    const active = deps.rules.findActiveRules(caller.tenantId);
    if (!isServerVisible(caller.agent.permits, caller.serverId, active)) return NOTHING;
    const server = requireServer(requireRules(deps.rules, caller), caller.serverId);
    const session = sessionWith(deps.pool, caller, server);
    const info = await session.open(askerFor(caller, deps.door));
    const { serverInfo, instructions } = info;
    const introduction = { serverInfo, instructions };
    const shown = await introduce(caller, caller.serverId, introduction);
    return { capabilities: passed(info, caller), ...(shown ?? UNNAMED) };
  }

  return async (caller: Caller): Promise<Announcement> => {
    requireFewHops(caller);
    const announcement = await announced(caller);
    // Servers, or the inspection of what they say of themselves, may have taken their time.
    const ineligible = deps.door.findIneligibility(caller);
    if (ineligible !== undefined) throw ineligibleError(ineligible);
    return announcement;
  };
}

/** Only what the gateway passes on, whatever else the server can do. */
function passed(
  { capabilities: declared, era }: UpstreamInfo,
  caller: Caller,
): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  const together = caller.era === 'modern' && era === 'modern' ? 'modern' : 'legacy';
  const extensions = passedExtensions(declared.extensions, together);
  if (extensions !== null) found.extensions = extensions;
  for (const [name, members] of Object.entries(PASSED)) {
    const capability = declared[name];
    if (!isObject(capability)) continue;
    const offered = members.filter((member) => capability[member] === true);
    found[name] = Object.fromEntries(offered.map((member) => [member, true]));
  }
  return found;
}

/** Where nothing that the server says about itself is passed on, the gateway names itself. */
const UNNAMED = { serverInfo: null, instructions: null };

/** Announces tools to an agent of any role; the list itself is then empty. */
const NOTHING: Announcement = { capabilities: { tools: {} }, ...UNNAMED };

const ALL: Record<string, unknown> = {
  extensions: { [APPS_EXTENSION]: {} },
  ...Object.fromEntries(
    Object.entries(PASSED).map(([name, members]) => [
      name,
      Object.fromEntries(members.map((member) => [member, true])),
    ]),
  ),
};

function merge(
  all: Record<string, unknown>,
  more: Record<string, unknown>,
): Record<string, unknown> {
  const merged = { ...all };
  for (const [name, value] of Object.entries(more)) {
    const known = merged[name];
    merged[name] = isObject(known) && isObject(value) ? merge(known, value) : value;
  }
  return merged;
}
