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

/**
 * @param definitions tell whether a tool still has the definition for which its action was set
 * @param look at the tool's present definition; undefined where that is unknown
 */
export function overrideOf(
  definitions: Pick<ToolDefinitions, 'isUnchanged'>,
  place: { tenantId: string; serverId: string; toolName: string },
  { action, set_id }: ToolActionSetting,
  look: Look | undefined,
): ActionOverride {
  const digest = look?.setId === set_id ? look.digest : null;
  return { action, isInForce: definitions.isUnchanged(place, set_id, digest) };
}

/** Looks at a server's tools before its list is there: no definition is known. */
export function unknownLooks(actions: ToolActions | undefined): Map<string, Look> {
  const looks = Object.entries(actions ?? {}).map(([name, { set_id }]): [string, Look] => [
    name,
    { setId: set_id, digest: null },
  ]);
  return new Map(looks);
}
