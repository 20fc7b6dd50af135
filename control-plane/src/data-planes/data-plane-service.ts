/** Data planes as the control plane knows them: who registered, and how each one is. */
import { createPublicKey } from 'node:crypto';
import { canonicalize } from '@governance/shared/canonical-json';
import type {
  Heartbeat,
  RegistrationAnswer,
  RegistrationRequest,
} from '@governance/shared/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { PublicJwk } from '../platform/keys.ts';
import type { TenantDatabase, TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import { bundleRevisionOf, type DataPlane, type DataPlaneStatus, statusOf } from './data-plane.ts';
import { type DataPlaneDescription, dataPlaneStore } from './data-plane-store.ts';

export interface DataPlaneServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  /** The keys that may sign bundles. */
  bundleKeys(): Promise<PublicJwk[]>;
  /** Seals the tenant's upstream credentials for a new data plane, in the transaction given. */
  sealCredentialsFor(
    tx: TenantTransaction,
    target: { deploymentId: string; sealingKey: { kty: string; [member: string]: unknown } },
  ): Promise<void>;
  now: () => Date;
}

export interface DataPlaneReport extends DataPlane {
  status: DataPlaneStatus;
  /** Newer bundles than the one it decides by; null when it has not told which that is. */
  bundlesBehind: number | null;
}

export interface DataPlaneService {
  list(scope: TenantScope): Promise<DataPlaneReport[]>;
  /**
   * Records that a data plane is alive, and how it is.
   *
   * @throws AppError DATA_PLANE_NOT_FOUND when the tenant has no such data plane
   */
  receiveHeartbeat(
    scope: TenantScope,
    heartbeat: Heartbeat,
  ): Promise<{ received: true; timestamp: string }>;
  /**
   * Registers the data plane of this process; called again with the same signing key, it answers
   * the same deployment_id, and keeps what else has changed.
   *
   * @throws AppError VALIDATION_FAILED when a key is none
   */
  registerLocalDataPlane(
    scope: TenantScope,
    request: RegistrationRequest,
  ): Promise<RegistrationAnswer>;
}

export function createDataPlaneService(deps: DataPlaneServiceDeps): DataPlaneService {
  const { db, now } = deps;

  /** @returns its deployment_id */
  async function register(tx: TenantTransaction, request: RegistrationRequest): Promise<string> {
    const store = dataPlaneStore(tx);
    await store.lockRegistrations();
    const known = await store.findBySigningKey(request.signing_key.x);
    const description = describe(request);
    const at = now();
    const deploymentId = known?.deploymentId ?? uuidv7(at.getTime());
    if (known && isSame(known, description)) return deploymentId;

    if (known) await store.update(deploymentId, description, at);
    else await store.create(deploymentId, description, at);
    const { label, region, version, sealingKey } = description;
    if (known?.sealingKey !== sealingKey) {
      const target = { deploymentId, sealingKey: request.sealing_key };
      await deps.sealCredentialsFor(tx, target);
    }
    tx.audit.append({
      action: known ? 'data_plane_updated' : 'data_plane_registered',
      target: `data_plane/${deploymentId}`,
      details: { label, region, version, signing_key: request.signing_key.x },
    });
    return deploymentId;
  }

  return {
    list: (scope) =>
      db.inTenant(scope, async (tx) => {
        const store = dataPlaneStore(tx);
        const revisions = await store.bundleRevisions();
        const at = now();
        return (await store.list()).map((plane) => {
          const revision = bundleRevisionOf(plane);
          const bundlesBehind =
            revision === undefined ? null : revisions.filter((newer) => newer > revision).length;
          return { ...plane, status: statusOf(plane, at), bundlesBehind };
        });
      }),

    receiveHeartbeat: (scope, heartbeat) =>
      db.inTenant(scope, async (tx) => {
        const at = now();
        const isKnown = await dataPlaneStore(tx).recordHeartbeat(heartbeat, at);
        if (!isKnown) throw new AppError('DATA_PLANE_NOT_FOUND');
        return { received: true, timestamp: at.toISOString() };
      }),

    registerLocalDataPlane: async (scope, request) => {
      requireKey('signing_key', request.signing_key);
      requireKey('sealing_key', request.sealing_key);
      const deploymentId = await db.inTenant(scope, (tx) => register(tx, request));
      return {
        tenant_id: scope.tenantId,
        deployment_id: deploymentId,
        bundle_keys: await deps.bundleKeys(),
      };
    },
  };
}

/** Only the public members are kept, whatever else came with them. */
function describe(request: RegistrationRequest): DataPlaneDescription {
  const { label, region, version, signing_key: signing, sealing_key: sealing } = request;
  return {
    label,
    region: region ?? '',
    version,
    signingKey: canonicalize({ kty: signing.kty, crv: signing.crv, x: signing.x }),
    sealingKey: canonicalize({ kty: sealing.kty, crv: sealing.crv, x: sealing.x }),
  };
}

function isSame(known: DataPlane, description: DataPlaneDescription): boolean {
  const { label, region, version, sealingKey } = known;
  return canonicalize({ label, region, version, sealingKey }) === canonicalize(pick(description));
}

function pick({ label, region, version, sealingKey }: DataPlaneDescription) {
  return { label, region, version, sealingKey };
}

/** caller-controlled: a key that is none would fail later, at the first batch or credential. */
function requireKey(
  name: 'signing_key' | 'sealing_key',
  { kty, crv, x }: { kty: string; crv: string; x: string },
): void {
  try {
    createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
  } catch (cause) {
    const msg = `is no ${crv} public key`;
    throw new AppError('VALIDATION_FAILED', `body.${name}: ${msg}`, {
      errors: [{ loc: ['body', name], msg, type: 'custom' }],
      cause,
    });
  }
}
