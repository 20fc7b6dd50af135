/**
 * The actions that an administrator set for tools. Each counts for the definition that was seen
 * first after it was set; where the present one is unknown, it is not in force.
 */
import type { McpServerSetting, ToolActionSetting } from '@governance/shared/bundle-format';
import type { ActionOverride } from './tool-action.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

export type ToolActions = NonNullable<McpServerSetting['tool_actions']>;

/** A tool's definition when an administrator set its action. */
export interface Look {
  /** The setting's id: a definition seen before it does not count for it. */
  setId: string;
  /** Null where it is unknown, or the tool did not exist. */
  digest: string | null;
}

export interface ActionOverridesDeps {
  /** Whether tools still have the definitions for which an administrator set their actions. */
  definitions: Pick<ToolDefinitions, 'isUnchanged'>;
  /** The actions that an administrator set for a server's tools, as in force now. */
  findActions(tenantId: string, serverId: string): ToolActions | undefined;
}

export function createActionOverrides({ definitions, findActions }: ActionOverridesDeps) {
  return {
    find: (tenantId: string, serverId: string, toolName: string) =>
      settingOf(findActions(tenantId, serverId), toolName),

    /** @param look at the tool's present definition; undefined where that is unknown */
    of(
      tenantId: string,
      serverId: string,
      toolName: string,
      { action, set_id }: ToolActionSetting,
      look: Look | undefined,
    ): ActionOverride {
      const digest = look?.setId === set_id ? look.digest : null;
      const place = { tenantId, serverId, toolName };
      return { action, isInForce: definitions.isUnchanged(place, set_id, digest) };
    },
  };
}

/** What an administrator set for a tool, if anything. */
export function settingOf(
  actions: ToolActions | undefined,
  toolName: string,
): ToolActionSetting | undefined {
  return actions && Object.hasOwn(actions, toolName) ? actions[toolName] : undefined;
}

/** Looks at a server's tools before its list is there: no definition is known. */
export function unknownLooks(actions: ToolActions | undefined): Map<string, Look> {
  const looks = Object.entries(actions ?? {}).map(([name, { set_id }]): [string, Look] => [
    name,
    { setId: set_id, digest: null },
  ]);
  return new Map(looks);
}
