/**
 * Registers remote data planes. A data plane registers with the token that an administrator issued,
 * and gets a token of its own, which it renews. Proven by registration-routes.pg.test.ts and
 * token-life.pg.test.ts.
 */

import { isRegistrationProven } from '@governance/shared/channel/channel-routes';
import {
  type DeploymentToken,
  type ProvenRegistration,
  RegistrationReply,
} from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { createRateLimiter } from '@governance/shared/http/rate-limiter';
import { uuidv7 } from '@governance/shared/ids';
import { isWithin, MINUTE_MS } from '@governance/shared/time/durations';
import { raiseAlert } from '../alerts/raise-alert.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { DataPlaneIdentity } from '../platform/http/route-table.ts';
import type { Attest } from '../platform/keys/row-attestations.ts';
import { createSlots } from '../platform/slots.ts';
import type { AttestedPlanes } from './attested-planes.ts';
import { readKeys } from './data-plane-keys.ts';
import type { DataPlaneService } from './data-plane-service.ts';
import { dataPlaneStore } from './data-plane-store.ts';
import {
  childExpiry,
  createDataPlaneSecret,
  type DataPlaneToken,
  isLive,
  TOKEN_OVERLAP_MS,
} from './data-plane-token.ts';
import { dataPlaneTokenStore } from './data-plane-token-store.ts';
import { tokenDetails, tokenStatement, tokenTarget } from './plane-statements.ts';

/**
 * Attempts per minute, counted by each process: registrations per root (all data planes of a site
 * start at once after a power cut), and renewals per deployment (two a year are enough).
 */
const LIMITS = { registrations: 600, renewals: 10 } as const;

/**
 * Only one request per tenant reaches the database at a time. More would wait for the registration
 * lock, each holding a connection, and a site that recovers from a power cut would take all
 * connections. Clients give up after 10 s (data-plane/src/sync/link/control-plane-client.ts).
 */
const SLOTS = {
  busy: 'Too many data planes are registering: try again.',
  total: 4,
  perTenant: 1,
  waiting: 2_000,
  waitMs: 8_000,
} as const;

export interface RegistrationServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  dataPlanes: Pick<DataPlaneService, 'register' | 'trustKeys'>;
  attestedPlanes: Pick<AttestedPlanes, 'prepare' | 'isGenuineRoot'>;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export interface RegistrationService {
  /**
   * Registers a data plane, or the same one again (identified by its signing key), with a new
   * token. Its older tokens end after the overlap.
   *
   * @param identity and secret the request's token, from its guard
   * @param given caller-controlled
   * @throws AppError FORBIDDEN with a deployment's token; VALIDATION_FAILED naming the wrong key or
   * proof; DATA_PLANE_REVOKED, DATA_PLANE_FORKED; DATA_PLANE_LIMIT_REACHED;
   * DATA_PLANE_TOKEN_INVALID when the token was revoked meanwhile; RATE_LIMITED; UNAVAILABLE when
   * too many register at the same time
   */
  register(
    scope: TenantScope,
    shown: { identity: DataPlaneIdentity; secret: string },
    given: ProvenRegistration,
  ): Promise<RegistrationReply>;
  /**
   * Issues the deployment a new token; its others stay valid for the overlap.
   *
   * @throws AppError DATA_PLANE_NOT_FOUND when the token is not that deployment's;
   *   DATA_PLANE_FORKED; DATA_PLANE_TOKEN_INVALID when it was revoked meanwhile; RATE_LIMITED;
   *   UNAVAILABLE
   */
  renew(
    scope: TenantScope,
    identity: DataPlaneIdentity,
    deploymentId: string,
  ): Promise<DeploymentToken>;
}

export function createRegistrationService(deps: RegistrationServiceDeps): RegistrationService {
  const { db, dataPlanes, attestedPlanes, now, limitClock: elapsed } = deps;
  const windowMs = MINUTE_MS;
  const registrations = createRateLimiter({ limit: LIMITS.registrations, windowMs, elapsed });
  const renewals = createRateLimiter({ limit: LIMITS.renewals, windowMs, elapsed });
  const slots = createSlots(SLOTS);

  /** Runs `work` under the tenant's registration lock. */
  async function inTurn<T>(
    scope: TenantScope,
    work: (tx: TenantTransaction) => Promise<T>,
  ): Promise<T> {
    const release = await slots.take(scope.tenantId);
    try {
      return await db.inTenant(scope, async (tx) => {
        await dataPlaneStore(tx).lockRegistrations();
        return work(tx);
      });
    } finally {
      release();
    }
  }

  return {
    register: async (scope, { identity, secret }, { registration, proof }) => {
      if (identity.deploymentId !== null) {
        throw new AppError('FORBIDDEN', 'Register with an issued token.');
      }
      registrations.check(identity.tokenId);
      registrations.count(identity.tokenId);
      const { signing } = readKeys(registration);
      if (!isRegistrationProven(signing, registration, secret, proof)) throw unproven();

      const by = await attestedPlanes.prepare();
      const { deploymentId, region, token } = await inTurn(scope, async (tx) => {
        const root = await requireLive(tx, identity.tokenId, now());
        const described = { ...registration, region: registration.region ?? root.region };
        const { deploymentId, isNew } = await dataPlanes.register(tx, described, by);
        if (isNew) await alertOfLateRegistration(tx, root, { ...described, deploymentId }, now());
        const token = await makeChild(tx, root, deploymentId, {
          createdAt: now(),
          attest: by.attest,
        });
        return { deploymentId, region: described.region, token };
      });
      // Only the schema's members are returned.
      return RegistrationReply.parse({
        tenant_id: scope.tenantId,
        deployment_id: deploymentId,
        ...(await dataPlanes.trustKeys()),
        region: region || null,
        token,
      });
    },

    renew: async (scope, identity, deploymentId) => {
      if (identity.deploymentId !== deploymentId) throw new AppError('DATA_PLANE_NOT_FOUND');
      renewals.check(deploymentId);
      renewals.count(deploymentId);
      const { attest, judge } = await attestedPlanes.prepare();
      return inTurn(scope, async (tx) => {
        const shown = await requireLive(tx, identity.tokenId, now());
        const plane = await dataPlaneStore(tx).find(deploymentId);
        if (!plane) throw new AppError('DATA_PLANE_NOT_FOUND');
        if (plane.standing === 'forked') throw new AppError('DATA_PLANE_FORKED');
        // The root may have expired, but it must not be revoked (revoking it revokes its children
        // too).
        const root = shown.rootId ? await dataPlaneTokenStore(tx).find(shown.rootId) : shown;
        if (!root || root.revokedAt) throw new AppError('DATA_PLANE_TOKEN_INVALID');
        // The new one lives as long as its root did.
        if (!(await attestedPlanes.isGenuineRoot(tx, root.id, judge))) {
          throw new AppError('DATA_PLANE_TOKEN_INVALID');
        }
        return makeChild(tx, root, deploymentId, { createdAt: now(), attest });
      });
    },
  };
}

/** A root's data planes register in the days of its issue; later a new one is worth a look. */
const ROLL_OUT_MS = 24 * 60 * MINUTE_MS;

/**
 * Whoever steals a root registers a data plane of their own and is given the tenant's credentials.
 * One alert for each root, until it is resolved: a site that grows makes no flood of them.
 */
async function alertOfLateRegistration(
  tx: TenantTransaction,
  root: DataPlaneToken,
  { deploymentId, label, region }: { deploymentId: string; label: string; region: string },
  now: Date,
): Promise<void> {
  if (isWithin(root.createdAt.getTime(), ROLL_OUT_MS, now.getTime())) return;
  await raiseAlert(tx, {
    alertType: 'DATA_PLANE_REGISTERED',
    severity: 'medium',
    agentId: null,
    title: 'A new data plane registered with a token that was issued more than a day ago',
    details: {
      ...{ deployment_id: deploymentId, label, region },
      ...{ root_id: root.id, root_label: root.label },
    },
    dedupeKey: `data-plane-registered/${root.id}`,
    now,
  });
}

/** Checks again under the lock: the token may have been revoked since the guard checked it. */
async function requireLive(
  tx: TenantTransaction,
  tokenId: string,
  now: Date,
): Promise<DataPlaneToken> {
  const token = await dataPlaneTokenStore(tx).find(tokenId);
  if (!token || !isLive(token, now)) throw new AppError('DATA_PLANE_TOKEN_INVALID');
  return token;
}

/** The caller holds `lockRegistrations`. */
async function makeChild(
  tx: TenantTransaction,
  root: DataPlaneToken,
  deploymentId: string,
  { createdAt, attest }: { createdAt: Date; attest: Attest },
): Promise<DeploymentToken> {
  const { secret, hash } = createDataPlaneSecret();
  const id = uuidv7(createdAt.getTime());
  const expiresAt = childExpiry(root, createdAt);
  const { label, region } = root;
  const store = dataPlaneTokenStore(tx);
  const recordId = uuidv7();
  const child = { id, label, region, deploymentId, rootId: root.id, createdAt, expiresAt };
  const issued = { ...child, issuedUntil: expiresAt, tokenHash: hash };
  const attested = attest(tokenStatement(tx.scope.tenantId, issued, recordId));
  await store.create(child, { tokenHash: hash, ...attested });
  await store.shorten(deploymentId, new Date(createdAt.getTime() + TOKEN_OVERLAP_MS), id);
  const details = tokenDetails(issued);
  tx.audit.append({
    id: recordId,
    action: 'data_plane_token_renewed',
    target: tokenTarget(id),
    details,
  });
  return { token: secret, expires_at: details.expires_at };
}

function unproven(): AppError {
  const msg = "is not the signing key's signature over this registration and this token";
  return new AppError('VALIDATION_FAILED', `body.proof: ${msg}`, {
    errors: [{ loc: ['body', 'proof'], msg, type: 'custom' }],
  });
}
