/**
 * The lists of tools, resources, resource templates and prompts, as the destination of a call: one
 * server's own, or those of all the agent's servers, joined page by page. A list is not a control:
 * it leaves out what no permission covers, and what the request's delegation does not cover; a call
 * for an unlisted item is still judged by policy.
 */
import type { Logger } from 'pino';
import type { RulesProvider } from '../contracts.ts';
import type { Answer } from '../enforcement/call/answer.ts';
import type { Caller, Destination } from '../enforcement/call/calls.ts';
import { findServer } from '../enforcement/permission/permits.ts';
import { resultOf } from '../enforcement/record/refusals.ts';
import { LIST_MEMBERS, type ListedItem, type ListMethod } from '../upstream/lists/list-page.ts';
import {
  LIST_BUDGETS,
  LIST_START,
  type ListBudget,
  type ListPart,
  type ListPosition,
  readListPart,
} from '../upstream/lists/list-part.ts';
import { TOOL_PAGES } from '../upstream/lists/list-tools.ts';
import { isObject } from '../upstream/message.ts';
import type { UpstreamPool } from '../upstream/sessions/pool.ts';
import {
  requireStillWanted,
  type UpstreamAnswer,
  type UpstreamExchange,
  type UpstreamSession,
} from '../upstream/upstream.ts';
import { answerInTime, LIST_PART_MS, requireRules, sessionWith } from './call-routing.ts';
import { type JoinedPart, readJoined, sealRest, together } from './joined-list.ts';
import { withMember } from './json-members.ts';
import type { ListCursors, ListPlace } from './list-cursors.ts';
import { createListVisibility, type ListAsk, type ListVisibilityDeps } from './list-visibility.ts';
import { type MissingServer, missingMeta, missingNote, missingServer } from './missing-servers.ts';
import { listServers, requireServer, unifiedName } from './servers.ts';
import { unifiedUri } from './unified.ts';

export type Lists = ReturnType<typeof createLists>;

interface ListRequest
  extends ListAsk,
    Pick<UpstreamExchange, 'cancellation' | 'findIneligibility' | 'hold'> {
  /** Caller-controlled. */
  params: unknown;
}

interface ListKind {
  /** The capability of servers that have such a list; null: every server is asked. */
  capability: string | null;
  /** The member that names an item. */
  key: string;
  /** The name of an item at the unified gateway. */
  rename(serverId: string, name: string): string;
  /** Pages of each server's part of a joined page. */
  pages: number;
  limitMs?: number;
  /** How often servers with more than their part are asked again; the default otherwise. */
  rounds?: number;
}

/** Resources and prompts: one page of each server that has any, asked once. */
const ONE_PAGE = { pages: 1, rounds: 1 };

const KINDS: Record<ListMethod, ListKind> = {
  'tools/list': {
    capability: null,
    key: 'name',
    rename: unifiedName,
    pages: TOOL_PAGES,
    limitMs: LIST_PART_MS,
  },
  'resources/list': { ...ONE_PAGE, capability: 'resources', key: 'uri', rename: unifiedUri },
  'resources/templates/list': {
    ...ONE_PAGE,
    capability: 'resources',
    key: 'uriTemplate',
    rename: unifiedUri,
  },
  'prompts/list': { ...ONE_PAGE, capability: 'prompts', key: 'name', rename: unifiedName },
};

/** Whether a method is a list of MCP. */
export function isListMethod(method: string): method is ListMethod {
  return Object.hasOwn(LIST_MEMBERS, method);
}

interface ListsDeps extends ListVisibilityDeps {
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'getSession' | 'note'>;
  cursors: ListCursors;
  log: Pick<Logger, 'warn'>;
}

export function createLists(deps: ListsDeps) {
  const { isVisible, shown } = createListVisibility(deps);

  async function listOne(request: ListRequest, serverId: string): Promise<Answer> {
    const { caller, rules, method, params, cancellation, findIneligibility, hold } = request;
    // An agent that may use nothing of a server does not learn whether it is up.
    if (!isVisible(request, serverId)) return page(method, [], undefined);
    const server = requireServer(rules, serverId);
    const at = deps.cursors.find(caller, method, params)?.[0]?.at ?? LIST_START;
    const session = sessionWith(deps.pool, caller, server);
    let answer: UpstreamAnswer | undefined;
    const asking: Pick<UpstreamSession, 'request'> = {
      request: async (...asked) => (answer = await session.request(...asked)),
    };
    let part: ListPart;
    try {
      const room = LIST_BUDGETS[method];
      const options = { room, pages: 1, cancellation, findIneligibility, hold };
      part = await readListPart(asking, method, at, options);
    } catch (error) {
      // A server's own error is passed on unchanged.
      if (answer?.kind !== 'error' || method === 'tools/list') throw error;
      return answer;
    }
    const items = shown(request, { serverId, at }, part);
    if (!isVisible(request, serverId)) return page(method, [], undefined);
    const next = part.rest && deps.cursors.seal(caller, method, [{ serverId, at: part.rest }]);
    const isPassedOn = method !== 'tools/list' && items === part.items;
    if (answer && isPassedOn) return withPart(answer, method, items, next);
    return page(method, items, next ?? undefined);
  }

  async function listJoined(request: ListRequest): Promise<Answer> {
    const { caller, rules, method, params } = request;
    const places =
      deps.cursors.find(caller, method, params) ??
      listServers(rules).map((one) => ({ serverId: one.server_id, at: LIST_START }));
    // The rules may have changed since the cursor was issued.
    const wanted = places.filter(
      ({ serverId }) => findServer(rules, serverId) !== undefined && isVisible(request, serverId),
    );
    const nextCancellation = together(request.cancellation);
    const missing: MissingServer[] = [];
    const read = async (place: ListPlace, room: ListBudget) => {
      const part = await partOf({ ...request, cancellation: nextCancellation() }, place, room);
      if (part === null || 'items' in part) return part;
      missing.push(part);
      return null;
    };
    const { items, rest } = await readJoined(wanted, read, KINDS[method].rounds);
    return page(method, items, sealRest(deps, caller, method, rest), missing);
  }

  /** One server's part of a joined page; null where it has no such list. */
  async function partOf(
    request: ListRequest,
    place: ListPlace,
    room: ListBudget,
  ): Promise<JoinedPart<ListedItem> | MissingServer | null> {
    const { caller, rules, method, cancellation } = request;
    const { serverId } = place;
    const { key, rename } = KINDS[method];
    const ask = async () => {
      const session = sessionWith(deps.pool, caller, requireServer(rules, serverId));
      return await readDeclared(session, request, place.at, room);
    };
    try {
      const part = await answerInTime(ask(), () => cancellation.cancel());
      deps.pool.note(caller.tenantId, serverId, 'list', null);
      if (part === null) return null;
      const items = shown(request, place, part).flatMap((item) => {
        const name = item[key];
        return typeof name === 'string' ? [{ ...item, [key]: rename(serverId, name) }] : [];
      });
      return { items, count: part.items.length, bytes: part.bytes, rest: part.rest };
    } catch (error) {
      // A server that is down must not hide the others.
      const fields = { err: error, server: serverId, reqId: caller.requestId, method };
      deps.log.warn(fields, 'a server is missing from a list');
      deps.pool.note(caller.tenantId, serverId, 'list', missingNote(error));
      return missingServer(serverId, error);
    }
  }

  return {
    /**
     * Answers a list. Without a permission for anything of it the list is empty, and no server is
     * asked.
     *
     * @param params of the request, caller-controlled
     */
    destination(caller: Caller, method: ListMethod, params: unknown): Destination {
      const { serverId } = caller;
      return {
        speaker: 'server',
        async send({ delegation }, exchange) {
          const request: ListRequest = {
            caller,
            rules: requireRules(deps.rules, caller),
            method,
            params,
            links: delegation?.links ?? [],
            waiting: new Set(),
            cancellation: exchange.cancellation,
            findIneligibility: () => exchange.findIneligibility?.(),
            hold: (bytes) => exchange.hold?.(bytes) ?? true,
          };
          const answer =
            serverId === null ? await listJoined(request) : await listOne(request, serverId);
          // A server can delay a list: an agent that may not act any more does not get it.
          requireStillWanted(exchange);
          return request.waiting.size === 0 || answer.kind !== 'result'
            ? answer
            : { ...answer, waiting: request.waiting };
        },
      };
    },
  };
}

/** Part of a server's list; null where the server declares that it has none. */
async function readDeclared(
  session: UpstreamSession,
  { method, ...request }: ListRequest,
  at: ListPosition,
  room: ListBudget,
): Promise<ListPart | null> {
  const { capability, pages, limitMs } = KINDS[method];
  if (capability !== null) {
    const { capabilities } = await session.open(request);
    if (!isObject(capabilities[capability])) return null;
  }
  const timed = limitMs !== undefined && { limitMs };
  const { cancellation, findIneligibility, hold } = request;
  const options = { room, pages, cancellation, findIneligibility, hold, ...timed };
  return await readListPart(session, method, at, options);
}

/**
 * A server's answer with another cursor; its items are serialised again only where some are left
 * out.
 */
function withPart(
  { raw, value }: UpstreamAnswer,
  method: ListMethod,
  items: readonly ListedItem[],
  nextCursor: string | null,
): UpstreamAnswer {
  const given = isObject(value) ? value : {};
  const member = LIST_MEMBERS[method];
  const listed = given[member];
  const isWhole = Array.isArray(listed) && listed.length === items.length;
  const { nextCursor: own, ...others } = given;
  if (isWhole && own === undefined && nextCursor === null) return { kind: 'result', raw, value };
  if (isWhole && own !== undefined && nextCursor !== null) {
    const renamed = withMember(raw, given, 'nextCursor', nextCursor);
    return { kind: 'result', raw: renamed, value: { ...given, nextCursor } };
  }
  return resultOf({ ...others, [member]: items, ...(nextCursor !== null && { nextCursor }) });
}

function page(
  method: ListMethod,
  items: ListedItem[],
  nextCursor: string | undefined,
  missing: MissingServer[] = [],
): Answer {
  return resultOf({ [LIST_MEMBERS[method]]: items, nextCursor, ...missingMeta(missing) });
}
