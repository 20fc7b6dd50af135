/**
 * The lists of resources, resource templates and prompts: one server's own, or those of all the
 * agent's servers, joined page by page. A list is no control: it leaves out what no permission
 * covers, and what is asked for is judged by policy.
 */
import type { Logger } from 'pino';
import { z } from 'zod';
import type { RulesProvider } from '../contracts.ts';
import { type JudgedRead, nameOfMethod } from '../enforcement/call-kinds.ts';
import { ownErrorOf } from '../enforcement/denied.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import { isToolVisible } from '../enforcement/tool-visibility.ts';
import { LIST_MEMBERS, type ListedItem, type ListMethod, listPage } from '../upstream/list-page.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import { Cancellation } from '../upstream/upstream.ts';
import {
  badParams,
  inTime,
  readCursor,
  requireRules,
  requireServer,
  sessionWith,
} from './call-routing.ts';
import type { Caller } from './caller.ts';
import { isObject } from './json-rpc.ts';
import { findServer, listServers, unifiedName } from './servers.ts';
import { unifiedUri } from './unified.ts';

export interface ListServiceDeps {
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'find'>;
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

/** Characters of a joined cursor: it has a cursor for each server that has more. */
const MAX_JOINED_CURSOR = 1024 * 1024;
const MAX_SERVER_CURSOR = 4096;

const JoinedCursor = z.array(z.tuple([z.string(), z.string().max(MAX_SERVER_CURSOR)])).max(1000);

/** Whether a method is one of these lists. */
export function isReadList(method: string): method is ReadList {
  return Object.hasOwn(KINDS, method);
}

/** Builds the service. `list` throws GatewayError and UpstreamFailure. */
export function createListService(deps: ListServiceDeps) {
  function isVisible({ agent }: Caller, serverId: string, { use }: ListKind): boolean {
    return isToolVisible(agent.grants, serverId, nameOfMethod(use), 'read');
  }

  async function listOne(
    caller: Caller,
    serverId: string,
    method: ReadList,
    params: unknown,
  ): Promise<CallAnswer> {
    const server = requireServer(requireRules(deps.rules, caller), serverId);
    const cursor = readCursor(params);
    if (!isVisible(caller, serverId, KINDS[method])) return page(method, [], undefined);
    const session = sessionWith(deps.pool, caller, server);
    const members = cursor === undefined ? '' : `"cursor":${JSON.stringify(cursor)}`;
    const answer = await session.request(
      { method, members, wantsProgress: false },
      { onNotification: () => undefined, cancellation: new Cancellation() },
    );
    const { kind, raw, value } = answer;
    if (kind === 'result') return { kind, raw, value };
    return { kind: 'upstream-error', raw: ownErrorOf(raw, value) };
  }

  async function listJoined(caller: Caller, method: ReadList, params: unknown) {
    const rules = requireRules(deps.rules, caller);
    const cursors = readJoinedCursor(params);
    const kind = KINDS[method];
    const wanted = cursors ?? listServers(rules).map((one) => [one.server_id, undefined] as const);
    const pages = await Promise.all(
      wanted.map(async ([serverId, cursor]) => {
        // A cursor is the client's: what it names is looked at like everything it sends.
        if (findServer(rules, serverId) === undefined || !isVisible(caller, serverId, kind)) {
          return { items: [], next: [] };
        }
        return pageOf(caller, serverId, method, cursor);
      }),
    );
    const next = pages.flatMap((one) => one.next);
    const items = pages.flatMap((one) => one.items);
    return page(method, items, next.length > 0 ? joinCursors(next) : undefined);
  }

  async function pageOf(
    caller: Caller,
    serverId: string,
    method: ReadList,
    cursor: string | undefined,
  ): Promise<{ items: ListedItem[]; next: [string, string][] }> {
    const { capability, key, rename } = KINDS[method];
    const cancellation = new Cancellation();
    const ask = async () => {
      const server = requireServer(requireRules(deps.rules, caller), serverId);
      const session = sessionWith(deps.pool, caller, server);
      const { capabilities } = await session.open();
      if (!isObject(capabilities[capability])) return { items: [], nextCursor: undefined };
      const exchange = { onNotification: () => undefined, cancellation };
      return await listPage(session, method, cursor, exchange);
    };
    try {
      const { items, nextCursor } = await inTime(ask(), () => cancellation.cancel());
      const renamed = items.flatMap((item) => {
        const name = item[key];
        return typeof name === 'string' ? [{ ...item, [key]: rename(serverId, name) }] : [];
      });
      const hasNext = nextCursor !== undefined && nextCursor.length <= MAX_SERVER_CURSOR;
      return { items: renamed, next: hasNext ? [[serverId, nextCursor]] : [] };
    } catch (error) {
      // One server that is away must not hide the others.
      const fields = { err: error, server: serverId, reqId: caller.requestId, method };
      deps.log.warn(fields, 'a server is missing from a list');
      return { items: [], next: [] };
    }
  }

  return {
    /** @param params of the request, caller-controlled */
    list(caller: Caller, method: ReadList, params: unknown): Promise<CallAnswer> {
      return caller.serverId === null
        ? listJoined(caller, method, params)
        : listOne(caller, caller.serverId, method, params);
    },
  };
}

function page(method: ReadList, items: ListedItem[], nextCursor: string | undefined): CallAnswer {
  const value = { [LIST_MEMBERS[method]]: items, nextCursor };
  return { kind: 'result', raw: JSON.stringify(value), value };
}

function joinCursors(cursors: [string, string][]): string {
  return Buffer.from(JSON.stringify(cursors)).toString('base64url');
}

/** The servers that have more, each with its own cursor; undefined for the first page. */
function readJoinedCursor(params: unknown): [string, string][] | undefined {
  const text = readCursor(params, MAX_JOINED_CURSOR);
  if (text === undefined) return undefined;
  let cursors: unknown;
  try {
    cursors = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    throw badParams('cursor is none of this list');
  }
  const parsed = JoinedCursor.safeParse(cursors);
  if (!parsed.success) throw badParams('cursor is none of this list');
  // Each server is asked once, however often a cursor names it.
  return [...new Map(parsed.data)];
}
