/** The guards: each authenticates the caller by a header, or throws. */

import { AppError } from '@governance/shared/errors';
import { bearerToken } from '@governance/shared/http/http-requests';
import { isUuid } from '@governance/shared/ids';
import { equalSecrets } from '@governance/shared/keys/equal-secrets';
import type { FastifyRequest } from 'fastify';
import type { AdminRole } from '../admin-role.ts';
import type { DataPlaneTokenOwner, Lookups } from '../database/lookups.ts';
import type { Actor, TenantDatabase } from '../database/tenant-scope.ts';
import { hashSecret } from '../random-secret.ts';
import { requireUse } from './role-table.ts';
import { type Guards, setCaller } from './route-table.ts';

/** An administrator whose token was verified and not revoked. */
export type AdminIdentity =
  | { role: AdminRole; id: string; username: string; tenantId: string }
  | { role: 'super_admin'; id: string; username: string };

export interface GuardDeps {
  /** @throws AppError UNAUTHENTICATED */
  authenticateAdmin(token: string): Promise<AdminIdentity>;
  lookups: Pick<Lookups, 'findDataPlaneToken'>;
  /** Whether this service issued a token that stands in the database. */
  isGenuineToken(token: DataPlaneTokenOwner, tokenHash: string): Promise<boolean>;
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  metricsToken: string | undefined;
  isProduction: boolean;
  now: () => Date;
}

/** The token of an `Authorization: Bearer` header, if there is one. */
export function bearerOf(request: FastifyRequest): string | undefined {
  return bearerToken(request.headers.authorization);
}

export function createGuards(deps: GuardDeps): Guards {
  const authenticate = async (request: FastifyRequest): Promise<AdminIdentity> => {
    const token = bearerOf(request);
    if (!token) throw new AppError('UNAUTHENTICATED');
    return deps.authenticateAdmin(token);
  };

  const enterOwnTenant = (
    request: FastifyRequest,
    identity: AdminIdentity & { role: AdminRole },
  ): void => {
    requireUse(identity.role, request.routeOptions.config.use ?? 'manage');
    const named = readTenantHeader(request);
    if (named !== undefined && named !== identity.tenantId) throw new AppError('FORBIDDEN');
    const actor = toActor(identity);
    setCaller(request, {
      actor,
      scope: { tenantId: identity.tenantId, actor, requestId: request.id },
    });
  };

  return {
    public: async () => {},

    admin: async (request) => {
      const identity = await authenticate(request);
      if (identity.role !== 'super_admin') enterOwnTenant(request, identity);
      else await enterByBreakingGlass(deps, request, identity);
    },

    'admin-or-platform': async (request) => {
      const identity = await authenticate(request);
      if (identity.role !== 'super_admin') enterOwnTenant(request, identity);
      else if (readTenantHeader(request) === undefined) {
        setCaller(request, { actor: toActor(identity) });
      } else await enterByBreakingGlass(deps, request, identity);
    },

    'tenant-admin': async (request) => {
      const identity = await authenticate(request);
      if (identity.role === 'super_admin') throw new AppError('TENANT_ADMIN_REQUIRED');
      enterOwnTenant(request, identity);
    },

    'super-admin': async (request) => {
      const identity = await authenticate(request);
      if (identity.role !== 'super_admin') throw new AppError('SUPER_ADMIN_REQUIRED');
      setCaller(request, { actor: toActor(identity) });
    },

    'data-plane': (request) => enterAsDataPlane(deps, request, 0),

    'data-plane-backlog': (request) => enterAsDataPlane(deps, request, BACKLOG_MS),

    metrics: async (request) => {
      if (!deps.metricsToken) {
        if (deps.isProduction) throw new AppError('METRICS_CLOSED');
        return;
      }
      const token = bearerOf(request);
      if (!token || !equalSecrets(token, deps.metricsToken)) {
        throw new AppError('METRICS_TOKEN_INVALID');
      }
    },
  };
}

/** How long after its token's end a data plane may ship its backlog. */
const BACKLOG_MS = 7 * 24 * 60 * 60 * 1000;

/** @param graceMs how long ago the token may have expired or been revoked */
async function enterAsDataPlane(
  deps: GuardDeps,
  request: FastifyRequest,
  graceMs: number,
): Promise<void> {
  const token = bearerOf(request);
  if (!token) throw new AppError('DATA_PLANE_TOKEN_INVALID');
  const tokenHash = hashSecret(token);
  const owner = await deps.lookups.findDataPlaneToken(tokenHash);
  const now = deps.now();
  if (!owner || !isGoodFor(owner, graceMs, now)) {
    throw new AppError('DATA_PLANE_TOKEN_INVALID');
  }
  if (!(await deps.isGenuineToken(owner, tokenHash))) {
    throw new AppError('DATA_PLANE_TOKEN_INVALID');
  }
  const actor: Actor = {
    id: owner.id,
    username: `data-plane-token:${owner.id}`,
    role: 'data_plane',
  };
  setCaller(request, {
    actor,
    scope: { tenantId: owner.tenantId, actor, requestId: request.id },
    dataPlane: {
      tenantId: owner.tenantId,
      tokenId: owner.id,
      deploymentId: owner.deploymentId,
      region: owner.region,
      hasEnded: !isGoodFor(owner, 0, now),
    },
  });
}

function isGoodFor(
  { expiresAt, revokedAt }: Pick<DataPlaneTokenOwner, 'expiresAt' | 'revokedAt'>,
  graceMs: number,
  now: Date,
): boolean {
  // A revocation counts at once, also when another replica's clock is ahead.
  if (revokedAt && graceMs === 0) return false;
  const end = Math.min(expiresAt?.getTime() ?? Infinity, revokedAt?.getTime() ?? Infinity);
  return now.getTime() < end + graceMs;
}

/** Lets a super-admin into a tenant, after recording it in the tenant's audit chain. */
async function enterByBreakingGlass(
  deps: GuardDeps,
  request: FastifyRequest,
  identity: AdminIdentity,
): Promise<void> {
  const tenantId = readTenantHeader(request);
  if (tenantId === undefined) throw new AppError('NO_TENANT_CONTEXT');
  if (!isUuid(tenantId)) throw new AppError('TENANT_NOT_FOUND');
  const actor = toActor(identity);
  const scope = { tenantId, actor, requestId: request.id, breakGlass: true };
  await deps.db.inTenant(scope, async (tx) => {
    if (!(await tx.db.tenant.findUnique({ where: { id: tenantId } }))) {
      throw new AppError('TENANT_NOT_FOUND');
    }
    tx.audit.append({
      action: 'break_glass_access',
      target: `${request.method} ${request.routeOptions.url ?? ''}`,
    });
  });
  setCaller(request, { actor, scope });
}

/**
 * The header X-Tenant-Id, caller-controlled.
 *
 * @throws AppError VALIDATION_FAILED when it is present but empty: an unset variable in a caller's
 *   script must not make a super-admin's request one for all tenants
 */
function readTenantHeader(request: FastifyRequest): string | undefined {
  const given = request.headers['x-tenant-id'];
  const tenantId = Array.isArray(given) ? given.join(', ') : given;
  if (tenantId?.trim() !== '') return tenantId?.toLowerCase();
  const msg = 'must not be empty';
  throw new AppError('VALIDATION_FAILED', `header.x-tenant-id: ${msg}`, {
    errors: [{ loc: ['header', 'x-tenant-id'], msg, type: 'too_small' }],
  });
}

function toActor({ id, username, role }: AdminIdentity): Actor {
  return { id, username, role };
}
