/**
 * What a list shows: it leaves out what no permission covers, and what the request's delegation
 * does not cover. All roles are the present ones, since a server may take its time.
 */
import type { ActiveRules } from '../contracts.ts';
import { nameOfMethod, useOfList } from '../enforcement/call/call-kinds.ts';
import type { Caller, DelegationLink } from '../enforcement/call/calls.ts';
import { deriveAction } from '../enforcement/call/tool-action.ts';
import {
  isListVisible,
  isToolDelegated,
  isToolVisible,
  type ToolUse,
} from '../enforcement/permission/permits.ts';
import type { PinnedTools } from '../enforcement/pins/pinned-tools.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import type { ToolCatalogue } from '../enforcement/tools/tool-catalogue.ts';
import type { ListedItem, ListMethod } from '../upstream/lists/list-page.ts';
import { LIST_START, type ListPart } from '../upstream/lists/list-part.ts';
import { callableTools, type ListedTool } from '../upstream/lists/list-tools.ts';
import type { ListPlace } from './list-cursors.ts';
import type { ListNotes } from './list-notes.ts';
import { unifiedName } from './servers.ts';

/** Who asks for which list, and by which rules. */
export interface ListAsk {
  caller: Caller;
  rules: ActiveRules;
  method: ListMethod;
  /** The delegation under which the list is requested; empty without one. */
  links: readonly DelegationLink[];
  /** Gets the tools that wait for approval as they are listed, by their names in the list. */
  waiting: Set<string>;
}

export interface ListVisibilityDeps {
  door: Pick<Door, 'permitsOf'>;
  catalogue: Pick<ToolCatalogue, 'learn' | 'hintsOf'>;
  pins: Pick<PinnedTools, 'isWaiting'>;
  notes: ListNotes;
}

export function createListVisibility(deps: ListVisibilityDeps) {
  /** Whether the agent may see anything of a server's list. */
  function isVisible(ask: ListAsk, serverId: string): boolean {
    const { caller, rules, method } = ask;
    if (!isListVisible(deps.door.permitsOf(caller), serverId, method, rules)) return false;
    const use = useOfList(method);
    // Tools are checked one by one.
    return (
      use === null || isDelegated(ask, { serverId, toolName: nameOfMethod(use), action: 'read' })
    );
  }

  function isDelegated({ caller: { tenantId }, rules, links }: ListAsk, tool: ToolUse): boolean {
    return links.every(({ delegation, delegator }) => {
      const permits = deps.door.permitsOf({ tenantId, agent: delegator });
      return isToolDelegated({ delegation, permits }, tool, rules);
    });
  }

  /** The items of a server's part that the agent may see. Learns the tools among them. */
  function shown(
    ask: ListAsk,
    { serverId, at }: ListPlace,
    { items, rest, leftOut }: ListPart,
  ): ListedItem[] {
    const { caller, rules, method } = ask;
    const { tenantId } = caller;
    const isWhole = at === LIST_START && rest === null;
    if (isWhole || leftOut !== null) deps.notes.put(tenantId, serverId, method, leftOut);
    if (method !== 'tools/list') return isVisible(ask, serverId) ? items : [];
    const tools = callableTools(items);
    deps.catalogue.learn(caller, serverId, tools, isWhole);
    noteWaiting(ask, serverId, tools);
    const permits = deps.door.permitsOf(caller);
    return tools.filter((tool) => {
      const hints = deps.catalogue.hintsOf(tenantId, serverId, tool, rules);
      const use = { serverId, toolName: tool.name, action: deriveAction(tool.name, hints) };
      return isToolVisible(permits, use, rules) && isDelegated(ask, use);
    });
  }

  /** Directly after the tools were learned: a later list may have other definitions. */
  function noteWaiting(ask: ListAsk, serverId: string, tools: readonly ListedTool[]): void {
    const { caller, rules, waiting } = ask;
    const { tenantId } = caller;
    for (const { name } of tools) {
      if (!deps.pins.isWaiting({ tenantId, serverId, toolName: name }, rules.settings)) continue;
      waiting.add(caller.serverId === null ? unifiedName(serverId, name) : name);
    }
  }

  return { isVisible, shown };
}
