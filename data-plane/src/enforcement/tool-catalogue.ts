/**
 * Servers' tools, learned from `tools/list`. A call's action depends on them, so it must not depend
 * on whether somebody happened to list the tools before: an unknown server is asked first. If a
 * server does not answer, the tool's name decides.
 */
import type { McpServerSetting, ToolActionSetting } from '@governance/shared/bundle-format';
import { LRUCache } from 'lru-cache';
import type { ActiveRules } from '../contracts.ts';
import { LIST_BUDGETS } from '../upstream/lists/list-part.ts';
import type { ListedTool } from '../upstream/lists/list-tools.ts';
import { scanToolHeaders } from '../upstream/modern/tool-headers.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import type { AgentCall } from './calls.ts';
import { isServerVisible } from './grants.ts';
import type { ActionOverride, ToolHints } from './tool-action.ts';
import { definitionDigest, type ToolDefinitions } from './tool-definitions.ts';

/** On whose behalf a server is asked. */
type Asking = Pick<AgentCall, 'caller' | 'ask' | 'agent'>;

export type ToolCatalogue = ReturnType<typeof createToolCatalogue>;

type ToolActions = NonNullable<McpServerSetting['tool_actions']>;

/** A tool's definition when an administrator set its action. */
interface Look {
  /** The setting's id: a definition seen before it does not count for it. */
  setId: string;
  /** Null where it is unknown, or the tool did not exist. */
  digest: string | null;
}

interface Entry {
  hints: Map<string, ToolHints>;
  /** Tools whose action was set when the list came. */
  looks: Map<string, Look>;
  /** Output schemas by tool, as JSON; null for one that is too large to be kept. */
  outputs: Map<string, string | null>;
  goodUntil: number;
}

/** UTF-16 units of an output schema as JSON. */
const MAX_OUTPUT_SCHEMA = 16 * 1024;

const TTL_MS = 10 * 60_000;
/** After a failure the server is not asked again for this long. */
const RETRY_MS = 5_000;
/** A call waits no longer than this for a list; the list may still serve the next one. */
const WAIT_MS = 5_000;
/** Tools of one server; parts of lists add to what is known. */
const MAX_TOOLS = LIST_BUDGETS['tools/list'].items;

export function createToolCatalogue(deps: {
  /** Asks a server for all its tools, on behalf of an agent. */
  listTools(call: Asking, rules: ActiveRules): Promise<ListedTool[]>;
  /** Whether tools still have the definitions for which an administrator set their actions. */
  definitions: Pick<ToolDefinitions, 'isUnchanged'>;
  /** The actions that an administrator set for a server's tools, as in force now. */
  findActions(tenantId: string, serverId: string): ToolActions | undefined;
  /** Called with every list of a server, as the server wrote it. */
  onListed?(tenantId: string, serverId: string, tools: readonly ListedTool[]): void;
  /** Monotonic milliseconds. */
  elapsed(): number;
}) {
  const entries = new LRUCache<string, Entry>({ max: 10_000 });
  const loading = new Map<string, { agentId: string; done: Promise<void> }>();

  /** Stores a list. Part of a list adds to what is known. */
  function learn(tenantId: string, serverId: string, tools: ListedTool[], isWhole: boolean): void {
    deps.onListed?.(tenantId, serverId, tools);
    const key = keyOf(tenantId, serverId);
    const known = entries.get(key);
    if (!isWhole && known === undefined) return;
    const hints = isWhole ? new Map<string, ToolHints>() : (known?.hints ?? new Map());
    const outputs = new Map(isWhole ? [] : known?.outputs);
    for (const tool of tools) {
      if (hints.size >= MAX_TOOLS && !hints.has(tool.name)) continue;
      hints.set(tool.name, readHints(tool));
      const { outputSchema } = tool;
      if (outputSchema === undefined) continue;
      const json = JSON.stringify(outputSchema);
      outputs.set(tool.name, json.length > MAX_OUTPUT_SCHEMA ? null : json);
    }
    const goodUntil = isWhole ? deps.elapsed() + TTL_MS : (known?.goodUntil ?? 0);
    const looks = isWhole ? new Map<string, Look>() : (known?.looks ?? new Map());
    const actions = deps.findActions(tenantId, serverId) ?? {};
    if (isWhole) for (const [name, look] of unknownLooks(actions)) looks.set(name, look);
    for (const tool of tools) {
      const said = Object.hasOwn(actions, tool.name) ? actions[tool.name] : undefined;
      if (said === undefined) continue;
      looks.set(tool.name, { setId: said.set_id, digest: definitionDigest(tool) });
      // Checked now, so that a change is noticed before somebody calls it.
      overrideOf(tenantId, serverId, tool.name, said, looks);
    }
    entries.set(key, { hints, looks, outputs, goodUntil });
  }

  async function load(call: Asking, rules: ActiveRules): Promise<void> {
    const { tenantId } = call.caller;
    const { serverId } = call.ask;
    try {
      learn(tenantId, serverId, await deps.listTools(call, rules), true);
    } catch (error) {
      // The asking agent's share is used up, which says nothing about the server: the next one
      // asks.
      if (error instanceof UpstreamFailure && error.kind === 'busy') return;
      // Fail closed: without a hint a tool's action is what its name says, else `execute`.
      const known = entries.get(keyOf(tenantId, serverId));
      const hints = known?.hints ?? new Map();
      const outputs = known?.outputs ?? new Map();
      const goodUntil = deps.elapsed() + RETRY_MS;
      // Old definitions prove nothing: actions that were set have no effect until the list is
      // there.
      const actions = deps.findActions(tenantId, serverId) ?? {};
      const looks = new Map(unknownLooks(actions));
      entries.set(keyOf(tenantId, serverId), { hints, looks, outputs, goodUntil });
    }
  }

  /** Joins a load in progress; if that agent's share was used up, loads in this one's. */
  async function loadOnce(key: string, call: Asking, rules: ActiveRules): Promise<void> {
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

  function overrideOf(
    tenantId: string,
    serverId: string,
    toolName: string,
    { action, set_id }: ToolActionSetting,
    looks: ReadonlyMap<string, Look>,
  ): ActionOverride {
    const look = looks.get(toolName);
    const digest = look?.setId === set_id ? look.digest : null;
    const place = { tenantId, serverId, toolName };
    return { action, isInForce: deps.definitions.isUnchanged(place, set_id, digest) };
  }

  function findSaid({ caller, ask }: Asking): ToolActionSetting | undefined {
    const actions = deps.findActions(caller.tenantId, ask.serverId) ?? {};
    return Object.hasOwn(actions, ask.name) ? actions[ask.name] : undefined;
  }

  function hintsFor(call: Asking, known: Entry | undefined): ToolHints | undefined {
    const { serverId, name } = call.ask;
    const hints = known?.hints.get(name);
    const said = findSaid(call);
    if (said === undefined) return hints;
    // A list that is outdated, or did not come in time, does not show the present definition.
    const isFresh = known !== undefined && known.goodUntil > deps.elapsed();
    const looks = isFresh ? known.looks : new Map<string, Look>();
    return { ...hints, override: overrideOf(call.caller.tenantId, serverId, name, said, looks) };
  }

  return {
    learn,
    /** The hints for a tool that a server has just listed. */
    hintsOf(tenantId: string, serverId: string, tool: ListedTool, rules: ActiveRules): ToolHints {
      const hints = readHints(tool);
      const actions = rules.settings.mcp_servers[serverId]?.tool_actions ?? {};
      const said = Object.hasOwn(actions, tool.name) ? actions[tool.name] : undefined;
      if (said === undefined) return hints;
      const looks = new Map([[tool.name, { setId: said.set_id, digest: definitionDigest(tool) }]]);
      return { ...hints, override: overrideOf(tenantId, serverId, tool.name, said, looks) };
    },
    /**
     * The JSON Schema that the tool's `structuredContent` follows, as far as its list is known.
     *
     * @returns undefined where it has none; `unreadable` where it is too large to be looked at
     */
    findOutputSchema(tenantId: string, serverId: string, toolName: string): unknown {
      const json = entries.get(keyOf(tenantId, serverId))?.outputs.get(toolName);
      return json === null ? 'unreadable' : json && JSON.parse(json);
    },
    /** The server reported that its list changed. */
    forget(tenantId: string, serverId: string): void {
      const known = entries.get(keyOf(tenantId, serverId));
      if (known !== undefined) known.goodUntil = 0;
    },
    /** The hints of the called tool, synchronously when its server's list is known and fresh. */
    findHints(
      call: Asking,
      rules: ActiveRules | null,
    ): ToolHints | undefined | Promise<ToolHints | undefined> {
      const { serverId } = call.ask;
      const key = keyOf(call.caller.tenantId, serverId);
      const known = entries.get(key);
      const isFresh = known !== undefined && known.goodUntil > deps.elapsed();
      const said = findSaid(call);
      const hasLooked =
        said === undefined || known?.looks.get(call.ask.name)?.setId === said.set_id;
      if (isFresh && hasLooked) return hintsFor(call, known);
      // No server is asked for an agent that may use nothing of it.
      if (!isServerVisible(call.agent.grants, serverId, rules)) {
        return hintsFor(call, known);
      }
      if (rules === null || !Object.hasOwn(rules.settings.mcp_servers, serverId)) {
        return undefined;
      }
      return within(loadOnce(key, call, rules), WAIT_MS).then(() =>
        hintsFor(call, entries.get(key)),
      );
    },
  };
}

function unknownLooks(actions: ToolActions): [string, Look][] {
  return Object.entries(actions).map(([name, { set_id }]) => [
    name,
    { setId: set_id, digest: null },
  ]);
}

function keyOf(tenantId: string, serverId: string): string {
  return `${tenantId} ${serverId}`;
}

function readHints({ annotations, inputSchema }: ListedTool): ToolHints {
  const scanned = scanToolHeaders(inputSchema);
  // A list omits a tool whose annotations break the rules; here they are ignored.
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
