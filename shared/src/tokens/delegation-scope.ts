/**
 * What a delegation passes on: tools and resources. Whether a scope lies within what its delegator
 * may do is checked when it is issued (by patterns), and again at every call (by what it does).
 * Proven by delegation-scope.test.ts (a scope within another covers nothing that the other does
 * not).
 */
import type { RoleFact } from '../channel/facts.ts';
import type { Effort } from '../glob.ts';
import { LOCAL_MODELS, MODEL_READ } from '../mcp/local-models.ts';
import {
  ACTIONS,
  coversCall,
  isToolName,
  type Servers,
  splitPermission,
  wildcardMatches,
} from './permission.ts';
import {
  coverPattern,
  coverTool,
  parseResourceScopes,
  type ResourceScopes,
} from './resource-scopes.ts';

/**
 * Why a call within a delegation's scope is denied all the same. It does not count as a scope probe:
 * the delegatee cannot know what its delegator has lost. Recorded as it is: it quotes nothing, and
 * no data protection changes it.
 */
export const DELEGATOR_LACKS = 'a delegator may not do this itself';

export interface DelegationScope {
  /**
   * Each a server, `server/tool` or a tool; `*` is any characters. An entry with a slash is
   * `server/tool`.
   */
  readonly tools: readonly string[];
  /** As in `target:` of a role's scopes; `*` alone is every resource, and calls without one. */
  readonly resources: readonly string[];
}

const EVERYTHING = '*';
/** Matching steps that one question may cost; beyond that, the answer is no. */
const EFFORT = 1_000_000;

/** The normalised scope: a missing or empty list covers everything of its kind. */
export function completeScope(scope: Partial<DelegationScope>): DelegationScope {
  const whole = (entries: readonly string[] | undefined) =>
    entries === undefined || entries.length === 0 ? [EVERYTHING] : [...new Set(entries)];
  return { tools: whole(scope.tools), resources: whole(scope.resources) };
}

/** Whether a scope's tools cover one. */
export function coversTool(
  { tools }: Pick<DelegationScope, 'tools'>,
  serverId: string,
  name: string,
  servers: Servers = {},
): boolean {
  return tools.some((entry) => {
    if (wildcardMatches(entry, `${serverId}/${name}`)) return true;
    if (entry.includes('/')) return false;
    if (wildcardMatches(entry, serverId)) return true;
    return wildcardMatches(entry, name) && isToolName(entry, servers);
  });
}

/** A scope's resources, read like the scopes of roles; `none` where one cannot be read. */
export function resourcesOf({ resources }: DelegationScope): ResourceScopes | null | 'none' {
  if (resources.includes(EVERYTHING) || resources.includes('**')) return null;
  return parseResourceScopes(resources.map((entry) => `target:${entry}`));
}

/**
 * The first entry of a scope that a delegator's roles do not cover; undefined where they cover all.
 *
 * @param hasModelsPolicy whether *Local models* is active: calls to models need other permissions
 */
export function findExceedingRoles(
  scope: DelegationScope,
  roles: readonly Pick<RoleFact, 'permissions' | 'resource_scopes'>[],
  hasModelsPolicy = true,
): string | undefined {
  const effort: Effort = { left: EFFORT };
  const grants = roles.flatMap(({ permissions, resource_scopes }) => {
    const scopes = parseResourceScopes(resource_scopes);
    if (scopes === 'none') return [];
    const resources = permissions.flatMap(resourceOf);
    return [{ resources, usesModels: permissions.some(coversModels), scopes }];
  });
  for (const tool of scope.tools) {
    const needsWeb = hasModelsPolicy && isOfModels(tool);
    const able = grants.filter(
      ({ resources, usesModels, scopes }) =>
        (needsWeb ? usesModels : resources.some((outer) => isToolWithin(tool, outer))) &&
        (scopes === null || coverTool(scopes, tool, effort)),
    );
    if (able.length === 0) return tool;
    for (const resource of scope.resources) {
      const isCovered = able.some(
        ({ scopes }) => scopes === null || coversResource(scopes, resource, effort),
      );
      if (!isCovered) return resource;
    }
  }
  return undefined;
}

/** Whether an entry names nothing but local models. */
function isOfModels(entry: string): boolean {
  const { serverId } = LOCAL_MODELS;
  return entry === serverId || entry.startsWith(`${serverId}/`);
}

/** Whether a permission covers what *Local models* asks of every call to a model. */
function coversModels(permission: string): boolean {
  return coversCall(permission, MODEL_READ.serverId, LOCAL_MODELS.toolName, MODEL_READ.action);
}

/** The server and action of a permission; undefined for an unknown action. */
function resourceOf(permission: string): string[] {
  const parts = splitPermission(permission);
  const isReal = parts && ACTIONS.some((one) => wildcardMatches(parts.action, one));
  return isReal ? [parts.resource] : [];
}

/** The first entry of a scope that another one does not cover; undefined where it covers all. */
export function findExceedingScope(
  scope: DelegationScope,
  outer: DelegationScope,
): string | undefined {
  const effort: Effort = { left: EFFORT };
  const tool = scope.tools.find((one) => !outer.tools.some((entry) => isToolWithin(one, entry)));
  if (tool !== undefined) return tool;
  const targets = resourcesOf(outer);
  if (targets === null) return undefined;
  return scope.resources.find((one) => targets === 'none' || !coversResource(targets, one, effort));
}

/**
 * Whether one pattern covers everything that another one matches. A star of the other counts as a
 * character that only a star matches.
 */
function isToolWithin(inner: string, outer: string): boolean {
  if (wildcardMatches(outer, inner)) return true;
  const slash = inner.indexOf('/');
  const server = inner.slice(0, Math.max(slash, 0));
  // Where a server's star ends is ambiguous: a tool may have a slash in its name.
  if (slash < 0 || server.includes('*') || outer.includes('/')) return false;
  // `files` is all of a server, and `read_file` is that tool of every server.
  if (wildcardMatches(outer, server)) return true;
  return wildcardMatches(outer, inner.slice(slash + 1)) && isToolName(outer, {});
}

function coversResource(scopes: ResourceScopes, resource: string, effort: Effort): boolean {
  if (scopes.targets === null) return true;
  if (resource === EVERYTHING || resource === '**') return false;
  return coverPattern(scopes, resource, effort);
}
