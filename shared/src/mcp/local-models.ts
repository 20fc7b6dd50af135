/**
 * The names of calls to the local model runtime (specification 2, section 6), beside MCP servers
 * and their tools: no MCP server may have this id.
 */
export const LOCAL_MODELS = {
  serverId: 'localmodel-proxy',
  toolName: 'localmodel-api',
  /** The action in the record of such a call, whichever way its client sent it. */
  recordedAction: 'POST',
} as const;

/** The server of the permissions that calls to local models need. It need not be registered. */
export const WEB = 'web';

/** A permission that a call needs: it has to cover this action at this place. */
export interface NeededPermission {
  serverId: string;
  action: string;
  /** As it is named to people. */
  permission: string;
}

/** The permission that every call to a local model needs. */
export const MODEL_READ: NeededPermission = onWeb('read');
const MODEL_WRITE = onWeb('write');

/**
 * The permissions that a call to a local model needs by the policy *Local models* (specification 2,
 * section 5): those of `web`, as policies/rego/baseline/local_models.rego asks them of the caller.
 */
export function neededForModels(action: string): readonly NeededPermission[] {
  return action === 'read' ? [MODEL_READ] : [MODEL_READ, MODEL_WRITE];
}

/**
 * The permissions that a call to a local model needs by the tenant's active policies.
 *
 * @param hasPolicy whether *Local models* is active; else *Permissions* asks for those of the
 *   runtime, as for any server. Undefined where that is unknown: then both are needed.
 */
export function neededByPolicies(
  action: string,
  hasPolicy: boolean | undefined,
): readonly NeededPermission[] {
  const { serverId, toolName } = LOCAL_MODELS;
  const own = { serverId, action, permission: `${serverId}/${toolName}:${action}` };
  if (hasPolicy === false) return [own];
  const ofWeb = neededForModels(action);
  return hasPolicy ? ofWeb : [...ofWeb, own];
}

function onWeb(action: string): NeededPermission {
  return { serverId: WEB, action, permission: `${WEB}:${action}` };
}
