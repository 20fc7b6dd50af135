/**
 * The lists of resources, resource templates and prompts: one server's own, or those of all the
 * agent's servers, joined page by page. A list is no control: it leaves out what no permission
 * covers, and what is asked for is judged by policy.
 */
import type { Logger } from 'pino';
import type { RulesProvider } from '../contracts.ts';
import { type JudgedRead, nameOfMethod } from '../enforcement/call-kinds.ts';
import { ownErrorOf } from '../enforcement/denied.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import { isToolVisible } from '../enforcement/tool-visibility.ts';
import { LIST_MEMBERS, type ListedItem, type ListMethod } from '../upstream/list-page.ts';
import {
  LIST_BUDGETS,
  LIST_START,
  type ListBudget,
  type ListPart,
  type ListPosition,
  readListPart,
} from '../upstream/list-part.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import type {
  Cancellation,
  UpstreamAnswer,
  UpstreamExchange,
  UpstreamRequest,
  UpstreamSession,
} from '../upstream/upstream.ts';
import { inTime, requireRules, requireServer, sessionWith } from './call-routing.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { type JoinedPart, readJoined, sealRest, together } from './joined-list.ts';
import { withMember } from './json-members.ts';
import { isObject } from './json-rpc.ts';
import type { ListCursors, ListPlace } from './list-cursors.ts';
import type { ListNotes } from './list-notes.ts';
import { type MissingServer, missingMeta, missingNote, missingServer } from './missing-servers.ts';
import { findServer, listServers, unifiedName } from './servers.ts';
import { unifiedUri } from './unified.ts';

export interface ListServiceDeps {
  guard: Pick<Guard, 'findAgent'>;
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'find' | 'note'>;
  cursors: ListCursors;
  notes: ListNotes;
  log: Pick<Logger, 'warn'>;
}

export type ReadList = Exclude<ListMethod, 'tools/list'>;
export type ListService = ReturnType<typeof createListService>;

interface ListKind {
  /** An item is listed for whom a permission covers this. */
  use: JudgedRead;
  capability: string;
  /** The member that names an item. */
  key: string;
  rename(serverId: string, name: string): string;
}

const KINDS: Record<ReadList, ListKind> = {
  'resources/list': {
    use: 'resources/read',
    capability: 'resources',
    key: 'uri',
    rename: unifiedUri,
  },
  'resources/templates/list': {
    use: 'resources/read',
    capability: 'resources',
    key: 'uriTemplate',
    rename: unifiedUri,
  },
  'prompts/list': {
    use: 'prompts/get',
    capability: 'prompts',
    key: 'name',
    rename: unifiedName,
  },
};

/** Whether a method is one of these lists. */
export function isReadList(method: string): method is ReadList {
  return Object.hasOwn(KINDS, method);
}

/** Builds the service. `list` throws GatewayError and UpstreamFailure. */
export function createListService(deps: ListServiceDeps) {
  /** By the roles that the agent has now. */
  function isVisible({ tenantId, agent }: Caller, serverId: string, { use }: ListKind): boolean {
    const grants = deps.guard.findAgent(tenantId, agent.id)?.grants ?? [];
    return isToolVisible(grants, serverId, nameOfMethod(use), 'read');
  }

  async function listOne(
    caller: Caller,
    serverId: string,
    method: ReadList,
    params: unknown,
    cancellation: Cancellation | undefined,
  ): Promise<CallAnswer> {
    const server = requireServer(requireRules(deps.rules, caller), serverId);
    const [place] = deps.cursors.find(caller, method, params) ?? [{ serverId, at: LIST_START }];
    const at = place?.at ?? LIST_START;
    if (!isVisible(caller, serverId, KINDS[method])) return page(method, [], undefined);
    const asking = new KeptAnswer(sessionWith(deps.pool, caller, server));
    let part: ListPart;
    try {
      const options = { room: LIST_BUDGETS[method], pages: 1, cancellation };
      part = await readListPart(asking, method, at, options);
    } catch (error) {
      // What the server says itself is passed on as it said it.
      if (asking.answer?.kind !== 'error') throw error;
      const { raw, value } = asking.answer;
      return { kind: 'upstream-error', raw: ownErrorOf(raw, value) };
    }
    note(caller, serverId, method, at, part);
    // The server may have taken its time.
    if (!isVisible(caller, serverId, KINDS[method])) return page(method, [], undefined);
    const next = part.rest && deps.cursors.seal(caller, method, [{ serverId, at: part.rest }]);
    return asking.withPart(method, part, next);
  }

  async function listJoined(
    caller: Caller,
    method: ReadList,
    params: unknown,
    cancellation: Cancellation | undefined,
  ): Promise<CallAnswer> {
    const rules = requireRules(deps.rules, caller);
    const kind = KINDS[method];
    const places =
      deps.cursors.find(caller, method, params) ??
      listServers(rules).map((one) => ({ serverId: one.server_id, at: LIST_START }));
    // The rules may be others by now than those under which the cursor was given.
    const wanted = places.filter(
      ({ serverId }) =>
        findServer(rules, serverId) !== undefined && isVisible(caller, serverId, kind),
    );
    const asked = together(cancellation);
    const missing: MissingServer[] = [];
    const read = (place: ListPlace, room: ListBudget) =>
      partOf(caller, place, method, room, asked.next(), missing);
    const { items, rest } = await readJoined(wanted, read, 1);
    return page(method, items, sealRest(deps, caller, method, rest), missing);
  }

  async function partOf(
    caller: Caller,
    { serverId, at }: ListPlace,
    method: ReadList,
    room: ListBudget,
    cancellation: Cancellation,
    missing: MissingServer[],
  ): Promise<JoinedPart<ListedItem> | null> {
    const { capability, key, rename } = KINDS[method];
    const ask = async () => {
      const server = requireServer(requireRules(deps.rules, caller), serverId);
      const session = sessionWith(deps.pool, caller, server);
      const { capabilities } = await session.open();
      if (!isObject(capabilities[capability])) return null;
      return await readListPart(session, method, at, { room, pages: 1, cancellation });
    };
    try {
      const part = await inTime(ask(), () => cancellation.cancel());
      deps.pool.note(caller.tenantId, serverId, 'list', null);
      if (part === null || !isVisible(caller, serverId, KINDS[method])) return null;
      note(caller, serverId, method, at, part);
      const items = part.items.flatMap((item) => {
        const name = item[key];
        return typeof name === 'string' ? [{ ...item, [key]: rename(serverId, name) }] : [];
      });
      return { items, count: part.items.length, bytes: part.bytes, rest: part.rest };
    } catch (error) {
      // One server that is away must not hide the others.
      const fields = { err: error, server: serverId, reqId: caller.requestId, method };
      deps.log.warn(fields, 'a server is missing from a list');
      deps.pool.note(caller.tenantId, serverId, 'list', missingNote(error));
      missing.push(missingServer(serverId, error));
      return null;
    }
  }

  function note(
    { tenantId }: Caller,
    serverId: string,
    method: ReadList,
    at: ListPosition,
    { rest, leftOut }: ListPart,
  ): void {
    const isWhole = at === LIST_START && rest === null;
    if (isWhole || leftOut !== null) deps.notes.put(tenantId, serverId, method, leftOut);
  }

  return {
    /** @param params of the request, caller-controlled */
    list(
      caller: Caller,
      method: ReadList,
      params: unknown,
      cancellation?: Cancellation,
    ): Promise<CallAnswer> {
      return caller.serverId === null
        ? listJoined(caller, method, params, cancellation)
        : listOne(caller, caller.serverId, method, params, cancellation);
    },
  };
}

function page(
  method: ReadList,
  items: ListedItem[],
  nextCursor: string | undefined,
  missing: MissingServer[] = [],
): CallAnswer {
  const value = { [LIST_MEMBERS[method]]: items, nextCursor, ...missingMeta(missing) };
  return { kind: 'result', raw: JSON.stringify(value), value };
}

/** A session whose last answer is at hand, as the server wrote it. */
class KeptAnswer {
  readonly #session: UpstreamSession;
  answer: UpstreamAnswer | undefined;

  constructor(session: UpstreamSession) {
    this.#session = session;
  }

  async request(request: UpstreamRequest, exchange: UpstreamExchange): Promise<UpstreamAnswer> {
    this.answer = await this.#session.request(request, exchange);
    return this.answer;
  }

  /** The answer with another cursor; its items are written anew only where some are left out. */
  withPart(method: ReadList, part: ListPart, nextCursor: string | null): CallAnswer {
    const { raw = '{}', value } = this.answer ?? {};
    const given = isObject(value) ? value : {};
    const member = LIST_MEMBERS[method];
    const listed = given[member];
    const isWhole = Array.isArray(listed) && listed.length === part.items.length;
    const { nextCursor: own, ...others } = given;
    if (isWhole && own === undefined && nextCursor === null) return { kind: 'result', raw, value };
    if (isWhole && own !== undefined && nextCursor !== null) {
      const renamed = withMember(raw, given, 'nextCursor', nextCursor);
      return { kind: 'result', raw: renamed, value: { ...given, nextCursor } };
    }
    const cut = { ...others, [member]: part.items, ...(nextCursor !== null && { nextCursor }) };
    return { kind: 'result', raw: JSON.stringify(cut), value: cut };
  }
}
