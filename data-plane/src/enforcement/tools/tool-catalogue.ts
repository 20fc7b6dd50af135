/**
 * The tools of servers, learned from `tools/list`. The action of a call depends on its tool's
 * hints, but must not depend on whether the tools were listed before: a server whose list is
 * unknown is asked first. If it does not answer, the tool's name decides. A server may list other
 * tools for a client that declares more, so what clients that declare the same are shown is one list.
 */

import type { ToolActionSetting } from '@governance/shared/bundle/bundle-format';
import { inTime } from '@governance/shared/time/in-time';
import { LRUCache } from 'lru-cache';
import type { ActiveRules } from '../../contracts.ts';
import { LIST_BUDGETS } from '../../upstream/lists/list-part.ts';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';
import { scanToolHeaders } from '../../upstream/modern/tool-headers.ts';
import { UpstreamFailure, type UpstreamFailureKind } from '../../upstream/upstream.ts';
import type { AgentCall, Caller } from '../call/calls.ts';
import type { ToolHints } from '../call/tool-action.ts';
import { findServer, isServerVisible } from '../permission/permits.ts';
import { type Look, overrideOf, type ToolActions, unknownLooks } from './action-overrides.ts';
import { findDryRunArguments } from './dry-run.ts';
import { findOperations } from './operations.ts';
import { definitionDigest, type ToolDefinitions } from './tool-definitions.ts';

/** The call on whose behalf a server is asked. */
export type Asking = Pick<AgentCall, 'caller' | 'ask' | 'agent'>;

/** Whose list is meant. */
export type ListReader = Pick<Caller, 'tenantId' | 'peer'>;

export type ToolCatalogue = ReturnType<typeof createToolCatalogue>;

interface Entry {
  hints: Map<string, ToolHints>;
  /** By tool: the definitions that settings of its action apply to, as of this list. */
  looks: Map<string, Look>;
  /** Output schemas by tool, as JSON; null for a schema that is too large to be kept. */
  outputs: Map<string, string | null>;
  /** Monotonic milliseconds. */
  goodUntil: number;
}

/** Most UTF-16 units of an output schema as JSON. */
const MAX_OUTPUT_SCHEMA = 16 * 1024;

/** Failures that concern the agent on whose behalf the server was asked. */
const OF_AGENT: ReadonlySet<UpstreamFailureKind> = new Set(['busy', 'ineligible']);

const TTL_MS = 10 * 60_000;
/** After a failure the server is not asked again for this long. */
const RETRY_MS = 5_000;
/** How long a call waits for a list. A list that comes later still serves the next call. */
const WAIT_MS = 5_000;
/** Most tools of one server that are kept. */
const MAX_TOOLS = LIST_BUDGETS['tools/list'].items;
/** Lists of one server that are kept: those used last. */
const MAX_LISTS = 8;

export interface ToolCatalogueDeps {
  /** Whether tools still have the definitions for which an administrator set their actions. */
  definitions: Pick<ToolDefinitions, 'isUnchanged'>;
  /** The actions that an administrator set for a server's tools, as in force now. */
  findActions(tenantId: string, serverId: string): ToolActions | undefined;
  /** Asks a server for all its tools, on behalf of an agent. */
  listTools(call: Asking, rules: ActiveRules): Promise<ListedTool[]>;
  /** Called with every list of a server, as received. */
  onListed?(tenantId: string, serverId: string, tools: readonly ListedTool[]): void;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

export function createToolCatalogue(deps: ToolCatalogueDeps) {
  const { definitions } = deps;
  /** By server, and then by what the client declares to it. */
  const lists = new LRUCache<string, LRUCache<string, Entry>>({ max: 10_000 });
  const loading = new Map<string, { agentId: string; done: Promise<void> }>();

  function find({ tenantId, peer }: ListReader, serverId: string): Entry | undefined {
    return lists.get(keyOf(tenantId, serverId))?.get(declaredTo(peer));
  }

  function keep({ tenantId, peer }: ListReader, serverId: string, entry: Entry): void {
    const key = keyOf(tenantId, serverId);
    const ofServer = lists.get(key) ?? new LRUCache<string, Entry>({ max: MAX_LISTS });
    ofServer.set(declaredTo(peer), entry);
    lists.set(key, ofServer);
  }

  /** Stores a list. A part of a list adds to the known tools. */
  function learn(
    reader: ListReader,
    serverId: string,
    tools: ListedTool[],
    isWhole: boolean,
  ): void {
    const { tenantId } = reader;
    deps.onListed?.(tenantId, serverId, tools);
    const actions = deps.findActions(tenantId, serverId);
    const known = isWhole ? newEntry(actions) : find(reader, serverId);
    if (known === undefined) return;
    for (const tool of tools) {
      keepTool(known, tool);
      const setting = settingOf(actions, tool.name);
      if (setting === undefined) continue;
      const look = lookAt(tool, setting);
      known.looks.set(tool.name, look);
      // Checked now, so that a changed definition is noticed before the tool is called.
      overrideOf(definitions, { tenantId, serverId, toolName: tool.name }, setting, look);
    }
    keep(reader, serverId, known);
  }

  function newEntry(actions: ToolActions | undefined): Entry {
    const goodUntil = deps.elapsed() + TTL_MS;
    return { hints: new Map(), looks: unknownLooks(actions), outputs: new Map(), goodUntil };
  }

  async function load(call: Asking, rules: ActiveRules): Promise<void> {
    const { caller } = call;
    const { serverId } = call.ask;
    try {
      learn(caller, serverId, await deps.listTools(call, rules), true);
    } catch (error) {
      // This agent's share is used up, or it may not act any more, which says nothing about the
      // server: the next call asks again.
      if (error instanceof UpstreamFailure && OF_AGENT.has(error.kind)) return;
      // Fail closed: without hints the tool's name decides, else the action is `execute`.
      const known = find(caller, serverId);
      // Old definitions prove nothing: set actions are not in force until the server's list has
      // arrived.
      keep(caller, serverId, {
        hints: known?.hints ?? new Map(),
        looks: unknownLooks(deps.findActions(caller.tenantId, serverId)),
        outputs: known?.outputs ?? new Map(),
        goodUntil: deps.elapsed() + RETRY_MS,
      });
    }
  }

  /**
   * Joins a load in progress. If that brought no list, since its agent's share was used up or it may
   * not act any more, loads on behalf of this call's agent.
   */
  async function loadOnce(call: Asking, rules: ActiveRules): Promise<void> {
    const { caller, ask } = call;
    const key = `${keyOf(caller.tenantId, ask.serverId)} ${declaredTo(caller.peer)}`;
    for (;;) {
      const running = loading.get(key);
      if (running !== undefined) await running.done;
      const known = find(caller, ask.serverId);
      if (running !== undefined) {
        if (running.agentId === call.agent.id) return;
        if (isFresh(known)) return;
        if (loading.has(key)) continue;
      }
      const done = load(call, rules).finally(() => loading.delete(key));
      loading.set(key, { agentId: call.agent.id, done });
      await done;
      return;
    }
  }

  function isFresh(known: Entry | undefined): known is Entry {
    return known !== undefined && known.goodUntil > deps.elapsed();
  }

  function hintsFor({ caller, ask }: Asking, known: Entry | undefined): ToolHints | undefined {
    const { serverId, name } = ask;
    const hints = known?.hints.get(name);
    const setting = settingOf(deps.findActions(caller.tenantId, serverId), name);
    if (setting === undefined) return hints;
    // A list that is outdated or did not arrive in time does not show the present definition.
    const look = isFresh(known) ? known.looks.get(name) : undefined;
    const place = { tenantId: caller.tenantId, serverId, toolName: name };
    return { ...hints, override: overrideOf(definitions, place, setting, look) };
  }

  return {
    learn,
    /** The hints for a tool that a server has just listed. */
    hintsOf(tenantId: string, serverId: string, tool: ListedTool, rules: ActiveRules): ToolHints {
      const hints = readHints(tool);
      const setting = settingOf(findServer(rules, serverId)?.tool_actions, tool.name);
      if (setting === undefined) return hints;
      const look = lookAt(tool, setting);
      const place = { tenantId, serverId, toolName: tool.name };
      return { ...hints, override: overrideOf(definitions, place, setting, look) };
    },
    /**
     * The JSON Schema of the tool's `structuredContent`, from the known list.
     *
     * @returns undefined where it has none or is unknown; `unreadable` where it was too large to
     *   keep
     */
    findOutputSchema(reader: ListReader, serverId: string, toolName: string): unknown {
      const json = find(reader, serverId)?.outputs.get(toolName);
      return json === null ? 'unreadable' : json && JSON.parse(json);
    },
    /** To be called when the server reported that its list changed. */
    forget(tenantId: string, serverId: string): void {
      const ofServer = lists.get(keyOf(tenantId, serverId));
      for (const known of ofServer?.values() ?? []) known.goodUntil = 0;
    },
    /** The hints of the called tool; synchronous when its server's list is known and fresh. */
    findHints(
      call: Asking,
      rules: ActiveRules | null,
    ): ToolHints | undefined | Promise<ToolHints | undefined> {
      const { tenantId } = call.caller;
      const { serverId, name } = call.ask;
      const known = find(call.caller, serverId);
      const setting = settingOf(deps.findActions(tenantId, serverId), name);
      const hasLooked = setting === undefined || known?.looks.get(name)?.setId === setting.set_id;
      if (isFresh(known) && hasLooked) return hintsFor(call, known);
      // A server is not asked on behalf of an agent that may use nothing of it.
      if (!isServerVisible(call.agent.permits, serverId, rules)) {
        return hintsFor(call, known);
      }
      if (rules === null || !findServer(rules, serverId)) return undefined;
      return inTime(loadOnce(call, rules), WAIT_MS, () => undefined).then(() =>
        hintsFor(call, find(call.caller, serverId)),
      );
    },
  };
}

/** Keeps a tool's hints and output schema, while there is room. */
function keepTool({ hints, outputs }: Entry, tool: ListedTool): void {
  if (hints.size >= MAX_TOOLS && !hints.has(tool.name)) return;
  hints.set(tool.name, readHints(tool));
  if (tool.outputSchema === undefined) return;
  const json = JSON.stringify(tool.outputSchema);
  outputs.set(tool.name, json.length > MAX_OUTPUT_SCHEMA ? null : json);
}

function lookAt(tool: ListedTool, { set_id }: ToolActionSetting): Look {
  return { setId: set_id, digest: definitionDigest(tool) };
}

function declaredTo(peer: ListReader['peer']): string {
  return peer?.capabilities === undefined ? '' : JSON.stringify(peer.capabilities);
}

function keyOf(tenantId: string, serverId: string): string {
  return `${tenantId} ${serverId}`;
}

function readHints({ annotations, inputSchema }: ListedTool): ToolHints {
  const scanned = scanToolHeaders(inputSchema);
  // Invalid header annotations are ignored here; a list omits a tool that has them.
  const headers = typeof scanned === 'string' || scanned.length === 0 ? undefined : scanned;
  const dryRun = findDryRunArguments(inputSchema);
  const operations = findOperations(inputSchema);
  const found = {
    ...(headers && { headers }),
    ...(dryRun && { dryRun }),
    ...(operations && { operations }),
  };
  if (typeof annotations !== 'object' || annotations === null) return found;
  const { readOnlyHint, destructiveHint } = annotations as Record<string, unknown>;
  return {
    ...found,
    readOnlyHint: typeof readOnlyHint === 'boolean' ? readOnlyHint : undefined,
    destructiveHint: typeof destructiveHint === 'boolean' ? destructiveHint : undefined,
  };
}

/** The administrator's setting for a tool; undefined where there is none. */
function settingOf(
  actions: ToolActions | undefined,
  toolName: string,
): ToolActionSetting | undefined {
  return actions && Object.hasOwn(actions, toolName) ? actions[toolName] : undefined;
}
