/**
 * What an agent's roles permit. A permission counts only within the `resource_scopes` of its own
 * role, so policies see only the permissions that apply to the call at hand.
 */
import type { BundleSettings, McpServerSetting } from '@governance/shared/bundle/bundle-format';
import {
  LOCAL_MODELS,
  type NeededPermission,
  neededByPolicies,
} from '@governance/shared/mcp/local-models';
import { coversTool, type DelegationScope } from '@governance/shared/tokens/delegation-scope';
import {
  coversCall,
  isMisread,
  mayCoverServer,
  type Servers,
} from '@governance/shared/tokens/permission';
import {
  coverReach,
  coverServer,
  coverTool,
  type Reach,
} from '@governance/shared/tokens/resource-scopes';
import type { Permit, ReplicaAgent } from '../../contracts.ts';
import { nameOfMethod, useOfList } from '../call/call-kinds.ts';
import { readingsOfCall } from '../call/call-targets.ts';
import type { Action, Ask, ClassifiedCall } from '../call/calls.ts';
import { perSettings } from './per-settings.ts';

/** Matching steps that one check may cost. Beyond them, a scope covers nothing. */
const EFFORT = 1_000_000;

function newEffort() {
  return { left: EFFORT };
}

/**
 * The permissions of roles whose scopes cover a call. They may be for other tools or actions, but
 * none is one for another server that a policy would take for the call's tool.
 */
export function permissionsFor(permits: readonly Permit[], ask: Ask, registry: Registry): string[] {
  const servers = serversOf(registry);
  const isRead = (one: string) => !isMisread(one, ask.serverId, ask.name, servers);
  const held = heldFor(permits, ask);
  return held.every(isRead) ? held : held.filter(isRead);
}

function heldFor(permits: readonly Permit[], ask: Ask): string[] {
  const [first] = permits;
  if (first === undefined) return [];
  if (permits.length === 1 && first.scopes === null) return first.permissions;
  const reach = reachOf(ask, permits);
  const effort = newEffort();
  const holding = permits.filter(
    ({ scopes }) => scopes === null || coverReach(scopes, reach, effort),
  );
  return [...new Set(holding.flatMap(({ permissions }) => permissions))];
}

function reachOf(ask: Ask, permits: readonly Permit[]): Reach {
  const resource = `${ask.serverId}/${ask.name}`;
  const effort = newEffort();
  const asksTargets = permits.some(
    ({ scopes }) =>
      scopes !== null && scopes.targets !== null && coverTool(scopes, resource, effort),
  );
  return { resource, targets: asksTargets ? readingsOfCall(ask) : [] };
}

/**
 * The first permission that an agent lacks for a call, and whether one of its roles has it but
 * excludes the call by `resource_scopes`.
 *
 * @returns undefined where its permissions cover it
 */
export function findLackingPermission(
  { permits }: Pick<ReplicaAgent, 'permits'>,
  { ask, action, rules }: Pick<ClassifiedCall, 'ask' | 'action' | 'rules'>,
) {
  const servers = serversOf(rules);
  const held = heldFor(permits, ask);
  const covers = (one: string, need: NeededPermission) =>
    coversCall(one, need.serverId, ask.name, need.action, servers);
  const lacking = neededFor(ask, action, rules).find(
    (need) => !held.some((one) => covers(one, need)),
  );
  if (lacking === undefined) return undefined;
  const isOutOfScope = permits.some(({ permissions }) =>
    permissions.some((one) => covers(one, lacking)),
  );
  return { permission: lacking.permission, isOutOfScope };
}

function neededFor(
  { serverId, name }: Ask,
  action: Action,
  rules: ClassifiedCall['rules'],
): readonly NeededPermission[] {
  if (serverId === LOCAL_MODELS.serverId) {
    // Without rules no call is allowed, and the policies may be taken for those of a new tenant.
    return neededByPolicies(action, rules ? rules.settings.local_models_policy : true);
  }
  return [{ serverId, action, permission: `${serverId}/${name}:${action}` }];
}

/** What an agent wants of a tool, or of a method that stands for one. */
export interface ToolUse {
  readonly serverId: string;
  readonly toolName: string;
  readonly action: Action;
}

/**
 * Whether a permission of the agent covers a tool for some target, by the rule of the baseline
 * policy. Used to leave tools out of lists, which is a convenience and not a control: policy
 * decides about calls.
 */
export function isToolVisible(
  permits: readonly Permit[],
  { serverId, toolName, action }: ToolUse,
  registry: Registry,
): boolean {
  const effort = newEffort();
  const servers = serversOf(registry);
  return permits.some(
    ({ permissions, scopes }) =>
      permissions.some((one) => coversCall(one, serverId, toolName, action, servers)) &&
      (scopes === null || coverTool(scopes, `${serverId}/${toolName}`, effort)),
  );
}

/**
 * Whether a delegation, and its delegator's roles, cover a tool for some target. Used for lists,
 * like `isToolVisible`.
 *
 * @param link the delegation, and the permits of its delegator
 */
export function isToolDelegated(
  link: { readonly delegation: DelegationScope; readonly permits: readonly Permit[] },
  tool: ToolUse,
  registry: Registry,
): boolean {
  return (
    coversTool(link.delegation, tool.serverId, tool.toolName, serversOf(registry)) &&
    isToolVisible(link.permits, tool, registry)
  );
}

/** The tenant's registry of servers; null where no bundle is active. */
export type Registry = { readonly settings: ServerSettings } | null;
type ServerSettings = Pick<BundleSettings, 'mcp_servers' | 'other_server_ids'>;

const NO_SERVERS: Servers = {};

/**
 * The setting of a registered server that is enabled.
 *
 * @param serverId may be caller-controlled: inherited properties are no servers
 */
export function findServer(registry: Registry, serverId: string): McpServerSetting | undefined {
  const servers = registry?.settings.mcp_servers;
  return servers && Object.hasOwn(servers, serverId) ? servers[serverId] : undefined;
}

/** All registered servers by id, for the meaning of permissions: also those that are disabled. */
export function serversOf(registry: Registry): Servers {
  return registry ? serversIn(registry.settings) : NO_SERVERS;
}

const serversIn = perSettings(
  ({ mcp_servers, other_server_ids = [] }: ServerSettings): Servers =>
    other_server_ids.length === 0
      ? mcp_servers
      : { ...Object.fromEntries(other_server_ids.map((id) => [id, true])), ...mcp_servers },
);

/** Whether a permission could cover anything of a server. */
export function isServerVisible(
  permits: readonly Permit[],
  serverId: string,
  registry: Registry,
): boolean {
  const effort = newEffort();
  const servers = serversOf(registry);
  return permits.some(
    ({ permissions, scopes }) =>
      permissions.some((permission) => mayCoverServer(permission, serverId, servers)) &&
      (scopes === null || coverServer(scopes, serverId, effort)),
  );
}

/**
 * Whether an agent may see anything of a server's list.
 *
 * @param method of the list
 */
export function isListVisible(
  permits: readonly Permit[],
  serverId: string,
  method: string,
  registry: Registry,
): boolean {
  const use = useOfList(method);
  if (use === null) return isServerVisible(permits, serverId, registry);
  const tool: ToolUse = { serverId, toolName: nameOfMethod(use), action: 'read' };
  return isToolVisible(permits, tool, registry);
}
