/**
 * Every route declares who may call it. A route without a guard or a schema stops the service from
 * starting. The guard runs before the body is read, so that a refused caller learns nothing else.
 * route-table.pg.test.ts attacks every entry.
 */
import type { BodyHolder } from '@governance/shared/http/body-turns';
import type { FastifyInstance, FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { Actor, TenantScope } from '../database/tenant-scope.ts';
import type { RouteUse } from './role-table.ts';

/**
 * - `public`: no token (login, token, health, keys)
 * - `admin`: an administrator in their own tenant whose role permits the route's use
 *   (role-table.ts), or a super-admin in the tenant that X-Tenant-Id names
 * - `admin-or-platform`: as `admin`, and a super-admin without X-Tenant-Id, for routes that may
 *   concern all tenants; the handler calls `findScope`
 * - `tenant-admin`: as `admin`, but a super-admin gets 403
 * - `super-admin`: a super-admin only
 * - `data-plane`: a data-plane token
 * - `data-plane-backlog`: the same, also one that ended within the last 7 days
 * - `metrics`: SERVICE_METRICS_TOKEN, open when that is not set
 */
export type GuardName =
  | 'public'
  | 'admin'
  | 'admin-or-platform'
  | 'tenant-admin'
  | 'super-admin'
  | 'data-plane'
  | 'data-plane-backlog'
  | 'metrics';

export interface DataPlaneIdentity {
  tenantId: string;
  tokenId: string;
  /** Null for a root, the token that data planes register with. */
  deploymentId: string | null;
  region: string;
  /** Its token was revoked or has expired, and it may deliver only what was before. */
  hasEnded: boolean;
}

export interface RouteEntry {
  method: string;
  url: string;
  guard: GuardName;
  /** Only of a route of administrators: decides which roles may call it. */
  use: RouteUse | undefined;
  /** Whether it reads or writes one tenant's rows. */
  tenantScoped: boolean;
}

/** The guards that ask for a role. */
const ROLE_GUARDS: ReadonlySet<GuardName> = new Set(['admin', 'admin-or-platform', 'tenant-admin']);

/** What a route of administrators is used for; undefined where its guard asks for no role. */
export function findUse(
  guard: GuardName | undefined,
  use: RouteUse | undefined,
): RouteUse | undefined {
  return guard !== undefined && ROLE_GUARDS.has(guard) ? (use ?? 'manage') : undefined;
}

const TENANT_GUARDS: ReadonlySet<GuardName> = new Set([
  'admin',
  'admin-or-platform',
  'tenant-admin',
  'data-plane',
  'data-plane-backlog',
]);

export type Guards = Record<GuardName, onRequestAsyncHookHandler>;

declare module 'fastify' {
  interface FastifyContextConfig {
    guard?: GuardName;
    /** Only of a route of administrators; `manage` unless given. */
    use?: RouteUse;
  }
  interface FastifyRequest {
    /**
     * On routes guarded by `admin`, `tenant-admin` or the data-plane ones: the tenant whose rows
     * the request may use, and the actor.
     */
    readonly scope: TenantScope;
    /** On routes guarded by `admin-or-platform` and `super-admin`, too. */
    readonly actor: Actor;
    /** On routes guarded by the data-plane ones. */
    readonly dataPlane: DataPlaneIdentity;
  }
}

export interface Caller {
  actor: Actor;
  scope?: TenantScope;
  dataPlane?: DataPlaneIdentity;
}

const callers = new WeakMap<FastifyRequest, Caller>();

/** Called by a guard, once it knows who calls. */
export function setCaller(request: FastifyRequest, caller: Caller): void {
  callers.set(request, caller);
}

/** On routes guarded by `admin-or-platform`: undefined for a super-admin who named no tenant. */
export function findScope(request: FastifyRequest): TenantScope | undefined {
  return callers.get(request)?.scope;
}

/** Who is charged for a request's body: the caller, or the address of an unauthenticated one. */
export function findHolder(request: FastifyRequest): BodyHolder {
  const caller = callers.get(request);
  const callerId = caller?.actor.id ?? request.ip;
  return { tenantId: caller?.scope?.tenantId ?? callerId, callerId };
}

/** Applies the guards to all routes of a scope, and fills the table of routes. */
export function guardRoutes(app: FastifyInstance, guards: Guards): RouteEntry[] {
  const table: RouteEntry[] = [];
  app.decorateRequest('scope', { getter: requireCaller('scope') });
  app.decorateRequest('actor', { getter: requireCaller('actor') });
  app.decorateRequest('dataPlane', { getter: requireCaller('dataPlane') });
  app.addHook('onRoute', (route) => {
    const name = `${String(route.method)} ${route.url}`;
    const guard = isDocumentation(route.url) ? 'public' : route.config?.guard;
    if (!guard) throw new Error(`${name} declares no guard`);
    if (!isDocumentation(route.url) && !route.schema?.response) {
      throw new Error(`${name} declares no schema of its response`);
    }
    const use = findUse(guard, route.config?.use);
    if (route.config?.use && !use) {
      throw new Error(`${name} declares a use, but its guard (${guard}) asks for no role`);
    }
    const own = route.onRequest === undefined ? [] : [route.onRequest].flat();
    route.onRequest = [guards[guard], ...own];
    for (const method of [route.method].flat()) {
      // The HEAD of a GET has the same guard.
      if (method === 'HEAD') continue;
      table.push({
        method,
        url: route.url,
        guard,
        use,
        tenantScoped: TENANT_GUARDS.has(guard),
      });
    }
  });
  return table;
}

/** The documentation's pages, which a plugin adds. */
function isDocumentation(url: string): boolean {
  return url === '/docs' || url.startsWith('/docs/');
}

function requireCaller<K extends keyof Caller>(part: K) {
  return function get(this: FastifyRequest): NonNullable<Caller[K]> {
    const value = callers.get(this)?.[part];
    // A handler that reads what its guard did not set is a bug: fail closed.
    if (!value) throw new Error(`this route's guard gives no ${part}`);
    return value;
  };
}
