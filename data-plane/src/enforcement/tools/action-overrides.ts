/**
 * The actions that an administrator set for tools. A setting applies to the definition that was
 * seen first after it was made. Where the present definition is unknown, the setting is not in
 * force.
 */
import type { McpServerSetting, ToolActionSetting } from '@governance/shared/bundle/bundle-format';
import type { ActionOverride } from '../call/tool-action.ts';
import type { ToolDefinitions } from './tool-definitions.ts';

export type ToolActions = NonNullable<McpServerSetting['tool_actions']>;

/** The definition that a setting of a tool's action applies to. */
export interface Look {
  /** The setting's id: a look of another setting does not count. */
  setId: string;
  /** Null where it is unknown, or the tool did not exist. */
  digest: string | null;
}

/**
 * The action that an administrator set for a tool, and whether it is in force.
 *
 * @param definitions tells whether the tool still has the definition that the setting applies to
 * @param look the definition that the setting applies to; undefined where unknown
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

/** The looks before a server's list has arrived: no definition is known. */
export function unknownLooks(actions: ToolActions | undefined): Map<string, Look> {
  const looks = Object.entries(actions ?? {}).map(([name, { set_id }]): [string, Look] => [
    name,
    { setId: set_id, digest: null },
  ]);
  return new Map(looks);
}
