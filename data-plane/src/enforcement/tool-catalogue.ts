/**
 * What servers say of their tools, learned from `tools/list`. A call's action depends on it, so it
 * must not depend on whether somebody happened to list the tools before: an unknown server is
 * asked first. A server that does not answer leaves the tool's name to decide.
 */
import { LRUCache } from 'lru-cache';
import type { ActiveRules } from '../contracts.ts';
import { LIST_BUDGETS } from '../upstream/list-part.ts';
import type { ListedTool } from '../upstream/list-tools.ts';
import { scanToolHeaders } from '../upstream/modern/tool-headers.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import type { AgentCall } from './calls.ts';
import type { ToolHints } from './tool-action.ts';
import { isServerVisible } from './tool-visibility.ts';

export interface ToolCatalogue {
  /** The hints of the called tool, at once when its server's list is known and fresh. */
  findHints(
    call: Pick<AgentCall, 'tenantId' | 'serverId' | 'toolName' | 'agent' | 'peer' | 'era'>,
    rules: ActiveRules | null,
  ): ToolHints | undefined | Promise<ToolHints | undefined>;
  /** Keeps what a list said. Part of a list adds to what is known. */
  learn(tenantId: string, serverId: string, tools: ListedTool[], isWhole: boolean): void;
  /** The server said that its list changed. */
  forget(tenantId: string, serverId: string): void;
}

export interface ToolCatalogueDeps {
  /** Asks a server for all its tools, on behalf of an agent. */
  listTools(
    call: Pick<AgentCall, 'tenantId' | 'serverId' | 'agent' | 'peer' | 'era' | 'hops'>,
    rules: ActiveRules,
  ): Promise<ListedTool[]>;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

interface Entry {
  hints: Map<string, ToolHints>;
  goodUntil: number;
}

const TTL_MS = 10 * 60_000;
/** After a failure the server is left alone for as long. */
const RETRY_MS = 5_000;
/** A call waits no longer for a list; the list may still come for the next one. */
const WAIT_MS = 5_000;
/** Of one server; parts of lists add to what is known. */
const MAX_TOOLS = LIST_BUDGETS['tools/list'].items;

/** Builds the catalogue. */
export function createToolCatalogue(deps: ToolCatalogueDeps): ToolCatalogue {
  const entries = new LRUCache<string, Entry>({ max: 10_000 });
  const loading = new Map<string, { agentId: string; done: Promise<void> }>();

  function learn(tenantId: string, serverId: string, tools: ListedTool[], isWhole: boolean): void {
    const key = keyOf(tenantId, serverId);
    const known = entries.get(key);
    if (!isWhole && known === undefined) return;
    const hints = isWhole ? new Map<string, ToolHints>() : (known?.hints ?? new Map());
    for (const tool of tools) {
      if (hints.size < MAX_TOOLS || hints.has(tool.name)) hints.set(tool.name, readHints(tool));
    }
    const goodUntil = isWhole ? deps.elapsed() + TTL_MS : (known?.goodUntil ?? 0);
    entries.set(key, { hints, goodUntil });
  }

  async function load(
    call: Pick<AgentCall, 'tenantId' | 'serverId' | 'agent' | 'peer' | 'era' | 'hops'>,
    rules: ActiveRules,
  ): Promise<void> {
    try {
      learn(call.tenantId, call.serverId, await deps.listTools(call, rules), true);
    } catch (error) {
      // The asking agent's share is taken, which says nothing of the server: the next one asks.
      if (error instanceof UpstreamFailure && error.kind === 'busy') return;
      // Fail closed: without a hint a tool's action is what its name says, else `execute`.
      const hints = entries.get(keyOf(call.tenantId, call.serverId))?.hints ?? new Map();
      const goodUntil = deps.elapsed() + RETRY_MS;
      entries.set(keyOf(call.tenantId, call.serverId), { hints, goodUntil });
    }
  }

  /** Joins what loads already; where that agent's share is taken, it is loaded in this one's. */
  async function loadOnce(
    key: string,
    call: Pick<AgentCall, 'tenantId' | 'serverId' | 'agent' | 'peer' | 'era' | 'hops'>,
    rules: ActiveRules,
  ): Promise<void> {
    for (;;) {
      const running = loading.get(key);
      if (running !== undefined) await running.done;
      const known = entries.get(key);
      if (running !== undefined) {
        if (running.agentId === call.agent.id) return;
        if (known !== undefined && known.goodUntil > deps.elapsed()) return;
        if (loading.has(key)) continue;
      }
      const done = load(call, rules).finally(() => loading.delete(key));
      loading.set(key, { agentId: call.agent.id, done });
      await done;
      return;
    }
  }

  return {
    learn,
    forget(tenantId, serverId) {
      const known = entries.get(keyOf(tenantId, serverId));
      if (known !== undefined) known.goodUntil = 0;
    },
    findHints(call, rules) {
      const key = keyOf(call.tenantId, call.serverId);
      const known = entries.get(key);
      if (known !== undefined && known.goodUntil > deps.elapsed()) {
        return known.hints.get(call.toolName);
      }
      // For an agent that may use nothing of the server, nobody asks it anything.
      if (!isServerVisible(call.agent.grants, call.serverId, rules)) {
        return known?.hints.get(call.toolName);
      }
      if (rules === null || !Object.hasOwn(rules.settings.mcp_servers, call.serverId)) {
        return undefined;
      }
      return within(loadOnce(key, call, rules), WAIT_MS).then(() =>
        entries.get(key)?.hints.get(call.toolName),
      );
    },
  };
}

function keyOf(tenantId: string, serverId: string): string {
  return `${tenantId} ${serverId}`;
}

function readHints({ annotations, inputSchema }: ListedTool): ToolHints {
  const scanned = scanToolHeaders(inputSchema);
  // A list leaves out a tool whose annotations are against the rules; here they mean nothing.
  const headers = typeof scanned === 'string' || scanned.length === 0 ? undefined : scanned;
  if (typeof annotations !== 'object' || annotations === null) return headers ? { headers } : {};
  const { readOnlyHint, destructiveHint } = annotations as Record<string, unknown>;
  return {
    ...(headers && { headers }),
    readOnlyHint: typeof readOnlyHint === 'boolean' ? readOnlyHint : undefined,
    destructiveHint: typeof destructiveHint === 'boolean' ? destructiveHint : undefined,
  };
}

async function within(work: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, limit]);
  clearTimeout(timer);
}
