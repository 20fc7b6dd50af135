/**
 * The lists of tools, resources, resource templates and prompts, as the destination of a call: one
 * server's own, or those of all the agent's servers, joined page by page. A list is not a control:
 * it leaves out what no permission covers, and what the request's delegation does not cover; a call
 * for an unlisted item is still judged by policy.
 */
import type { Logger } from 'pino';
import type { ActiveRules, RulesProvider } from '../contracts.ts';
import type { Answer } from '../enforcement/answer.ts';
import { nameOfMethod, useOfList } from '../enforcement/call-kinds.ts';
import type { Action, Caller, DelegationLink, Destination } from '../enforcement/calls.ts';
import { isListVisible, isToolDelegated, isToolVisible } from '../enforcement/grants.ts';
import { resultOf } from '../enforcement/refusals.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import { deriveAction } from '../enforcement/tool-action.ts';
import type { ToolCatalogue } from '../enforcement/tool-catalogue.ts';
import { LIST_MEMBERS, type ListedItem, type ListMethod } from '../upstream/lists/list-page.ts';
import {
  LIST_BUDGETS,
  LIST_START,
  type ListBudget,
  type ListPart,
  readListPart,
} from '../upstream/lists/list-part.ts';
import { callableTools, TOOL_PAGES } from '../upstream/lists/list-tools.ts';
import { isObject } from '../upstream/message.ts';
import type { UpstreamPool } from '../upstream/sessions/pool.ts';
import { requireStillWanted, type UpstreamExchange } from '../upstream/upstream.ts';
import { inTime, LIST_PART_MS, requireRules, sessionWith } from './call-routing.ts';
import { type JoinedPart, readJoined, sealRest, together } from './joined-list.ts';
import { KeptAnswer } from './kept-answer.ts';
import type { ListCursors, ListPlace } from './list-cursors.ts';
import type { ListNotes } from './list-notes.ts';
import { type MissingServer, missingMeta, missingNote, missingServer } from './missing-servers.ts';
import { findServer, listServers, requireServer, unifiedName } from './servers.ts';
import { unifiedUri } from './unified.ts';

export type Lists = ReturnType<typeof createLists>;

interface ListExchange extends Pick<UpstreamExchange, 'cancellation' | 'findIneligibility'> {
  /** The delegation under which the list is requested; empty without one. */
  links: readonly DelegationLink[];
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

export function createLists(deps: {
  door: Pick<Door, 'grantsOf'>;
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'find' | 'note'>;
  catalogue: Pick<ToolCatalogue, 'learn' | 'hintsOf'>;
  cursors: ListCursors;
  notes: ListNotes;
  log: Pick<Logger, 'warn'>;
}) {
  /** By the agent's present roles: a server may take its time. */
  function isVisible(
    caller: Caller,
    rules: ActiveRules,
    serverId: string,
    method: ListMethod,
    links: readonly DelegationLink[],
  ) {
    if (!isListVisible(deps.door.grantsOf(caller), serverId, method, rules)) return false;
    const use = useOfList(method);
    // Tools are checked one by one.
    return use === null || isDelegated(caller, links, serverId, nameOfMethod(use), 'read');
  }

  /** By the delegators' present roles. */
  function isDelegated(
    { tenantId }: Caller,
    links: readonly DelegationLink[],
    serverId: string,
    name: string,
    action: Action,
  ): boolean {
    return links.every((link) => {
      const grants = deps.door.grantsOf({ tenantId, agent: link.delegator });
      return isToolDelegated(link.delegation, grants, serverId, name, action);
    });
  }

  /** The items of a server's part that the agent may see. */
  function shown(
    caller: Caller,
    rules: ActiveRules,
    { serverId, at }: ListPlace,
    method: ListMethod,
    { items, rest, leftOut }: ListPart,
    links: readonly DelegationLink[],
  ): ListedItem[] {
    const { tenantId, peer } = caller;
    const isWhole = at === LIST_START && rest === null;
    if (isWhole || leftOut !== null) deps.notes.put(tenantId, serverId, method, leftOut);
    if (method !== 'tools/list') {
      return isVisible(caller, rules, serverId, method, links) ? items : [];
    }
    const tools = callableTools(items);
    // A client that servers may ask may be shown more than others.
    deps.catalogue.learn(tenantId, serverId, tools, isWhole && peer === undefined);
    const grants = deps.door.grantsOf(caller);
    return tools.filter((tool) => {
      const hints = deps.catalogue.hintsOf(tenantId, serverId, tool, rules);
      const action = deriveAction(tool.name, hints);
      return (
        isToolVisible(grants, serverId, tool.name, action) &&
        isDelegated(caller, links, serverId, tool.name, action)
      );
    });
  }

  async function listOne(
    caller: Caller,
    serverId: string,
    method: ListMethod,
    params: unknown,
    { cancellation, findIneligibility, links }: ListExchange,
  ): Promise<Answer> {
    const rules = requireRules(deps.rules, caller);
    // An agent that may use nothing of a server does not learn whether it is up.
    if (!isVisible(caller, rules, serverId, method, links)) return page(method, [], undefined);
    const server = requireServer(rules, serverId);
    const at = deps.cursors.find(caller, method, params)?.[0]?.at ?? LIST_START;
    const asking = new KeptAnswer(sessionWith(deps.pool, caller, server));
    let part: ListPart;
    try {
      const room = LIST_BUDGETS[method];
      const options = { room, pages: 1, cancellation, findIneligibility };
      part = await readListPart(asking, method, at, options);
    } catch (error) {
      // A server's own error is passed on unchanged.
      if (asking.answer?.kind !== 'error' || method === 'tools/list') throw error;
      return asking.answer;
    }
    const items = shown(caller, rules, { serverId, at }, method, part, links);
    if (!isVisible(caller, rules, serverId, method, links)) return page(method, [], undefined);
    const next = part.rest && deps.cursors.seal(caller, method, [{ serverId, at: part.rest }]);
    const isPassedOn = method !== 'tools/list' && items === part.items;
    if (isPassedOn) return asking.withPart(method, items, next);
    return page(method, items, next ?? undefined);
  }

  async function listJoined(
    caller: Caller,
    method: ListMethod,
    params: unknown,
    { cancellation, findIneligibility, links }: ListExchange,
  ): Promise<Answer> {
    const rules = requireRules(deps.rules, caller);
    const places =
      deps.cursors.find(caller, method, params) ??
      listServers(rules).map((one) => ({ serverId: one.server_id, at: LIST_START }));
    // The rules may have changed since the cursor was issued.
    const wanted = places.filter(
      ({ serverId }) =>
        findServer(rules, serverId) !== undefined &&
        isVisible(caller, rules, serverId, method, links),
    );
    const asked = together(cancellation);
    const missing: MissingServer[] = [];
    const read = (place: ListPlace, room: ListBudget) => {
      const own = { cancellation: asked.next(), findIneligibility, links };
      return partOf(caller, rules, place, method, room, own, missing);
    };
    const { items, rest } = await readJoined(wanted, read, KINDS[method].rounds);
    return page(method, items, sealRest(deps, caller, method, rest), missing);
  }

  async function partOf(
    caller: Caller,
    rules: ActiveRules,
    place: ListPlace,
    method: ListMethod,
    room: ListBudget,
    { cancellation, findIneligibility, links }: ListExchange,
    missing: MissingServer[],
  ): Promise<JoinedPart<ListedItem> | null> {
    const { serverId, at } = place;
    const { capability, key, rename, pages, limitMs } = KINDS[method];
    const ask = async () => {
      const session = sessionWith(deps.pool, caller, requireServer(rules, serverId));
      if (capability !== null) {
        const { capabilities } = await session.open();
        if (!isObject(capabilities[capability])) return null;
      }
      return await readListPart(session, method, at, {
        room,
        pages,
        cancellation,
        findIneligibility,
        ...(limitMs !== undefined && { limitMs }),
      });
    };
    try {
      const part = await inTime(ask(), () => cancellation.cancel());
      deps.pool.note(caller.tenantId, serverId, 'list', null);
      if (part === null) return null;
      const items = shown(caller, rules, place, method, part, links).flatMap((item) => {
        const name = item[key];
        return typeof name === 'string' ? [{ ...item, [key]: rename(serverId, name) }] : [];
      });
      return { items, count: part.items.length, bytes: part.bytes, rest: part.rest };
    } catch (error) {
      // A server that is down must not hide the others.
      const fields = { err: error, server: serverId, reqId: caller.requestId, method };
      deps.log.warn(fields, 'a server is missing from a list');
      deps.pool.note(caller.tenantId, serverId, 'list', missingNote(error));
      missing.push(missingServer(serverId, error));
      return null;
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
          const own: ListExchange = {
            links: delegation?.links ?? [],
            cancellation: exchange.cancellation,
            findIneligibility: () => exchange.findIneligibility?.(),
          };
          const answer =
            serverId === null
              ? await listJoined(caller, method, params, own)
              : await listOne(caller, serverId, method, params, own);
          // A server can delay a list: an agent that may not act any more does not get it.
          requireStillWanted(exchange);
          return answer;
        },
      };
    },
  };
}

function page(
  method: ListMethod,
  items: ListedItem[],
  nextCursor: string | undefined,
  missing: MissingServer[] = [],
): Answer {
  return resultOf({ [LIST_MEMBERS[method]]: items, nextCursor, ...missingMeta(missing) });
}
