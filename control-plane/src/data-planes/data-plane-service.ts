/** Registration and state of data planes. */

import type {
  AdminHeadReport,
  LogWatchReport,
  RegistrationAnswer,
  RegistrationRequest,
} from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { KeyHistory } from '@governance/shared/evidence/key-history';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { ToolPinReport } from '@governance/shared/mcp/tool-pins';
import { raiseAlert } from '../alerts/raise-alert.ts';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import type { Page } from '../platform/database/page.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { FeatureList } from '../platform/feature-list.ts';
import type { PublicJwk } from '../platform/keys/keys.ts';
import type { AttestedPlanes } from './attested-planes.ts';
import {
  bundleRevisionOf,
  type DataPlane,
  type DataPlaneStatus,
  type ListedDataPlane,
  statusOf,
} from './data-plane.ts';
import { type RegisteredKeys, readKeys, toPublicMembers } from './data-plane-keys.ts';
import { type DataPlaneDescription, dataPlaneStore } from './data-plane-store.ts';
import { dataPlaneTokenStore } from './data-plane-token-store.ts';
import { createHeartbeatReceiver, type ReceiveHeartbeat } from './heartbeat-receiver.ts';
import type { Attester } from './plane-adoption.ts';
import { findPlaneFaults, hasMissedSecrets, type RowFault } from './plane-records.ts';
import { type PlaneRow, planeDetails, planeStatement, planeTarget } from './plane-statements.ts';
import { type UnregisteredPlane, unregisteredPlaneStore } from './unregistered-plane-store.ts';

/**
 * Limit per tenant, since every credential is sealed for each. Revoked and forked ones do not
 * count, nor those that lost their tokens: for these nothing is sealed.
 */
const MAX_DATA_PLANES = 2_000;

export interface DataPlaneServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  /** The keys that may sign bundles. */
  bundleKeys(): Promise<PublicJwk[]>;
  /** The keys that may sign statements about feed and bundle. */
  feedKeys(): Promise<PublicJwk[]>;
  /** The history of the keys of both kinds, with the statements that link them. */
  keyHistory(): Promise<KeyHistory>;
  facts: Pick<FeatureList, 'addFactsForDataPlane' | 'takeBackFacts'>;
  attestedPlanes: Pick<AttestedPlanes, 'prepare'>;
  changes: Pick<ChangeBus, 'publish'>;
  /** Called when a data plane uses rules newer than any stored here. */
  onNewerRules?(tenantId: string, revision: number): void;
  /** Called with the admin-chain heads that a data plane remembers. */
  onAdminHeads?(tenantId: string, deploymentId: string, report: AdminHeadReport): Promise<void>;
  /** Called with the checkpoints of the log that a data plane keeps. */
  onLogWatch?(tenantId: string, deploymentId: string, report: LogWatchReport): Promise<void>;
  /** Called with the tools' pins. */
  onToolPins?(tenantId: string, pins: readonly ToolPinReport[]): Promise<void>;
  now: () => Date;
  /** Monotonic milliseconds, by which limits count. */
  limitClock: () => number;
}

export interface DataPlaneReport extends ListedDataPlane {
  status: DataPlaneStatus;
  bundleRevision: number | null;
  /** The number of bundles newer than the one it uses; null when it has not reported its own. */
  bundlesBehind: number | null;
  /** Feed entries that it has not asked for yet; null before its first read. */
  feedLag: number | null;
}

export interface DataPlanePage {
  planes: DataPlaneReport[];
  unregistered: UnregisteredPlane[];
  total: number;
}

export interface Registered {
  deploymentId: string;
  /** Whether its signing key was not known before. */
  isNew: boolean;
}

export interface DataPlaneService {
  /**
   * One list: the data planes, then senders of heartbeats with a root's token that never
   * registered.
   */
  list(scope: TenantScope, page: Page): Promise<DataPlanePage>;
  receiveHeartbeat: ReceiveHeartbeat;
  /**
   * Registers the data plane of this process. With the same signing key it returns the same
   * deployment_id and stores the other changes. A forked one is not refused here, since the process
   * has to start: it learns of the fork from the answer to its batches, and remembers it.
   *
   * @throws AppError VALIDATION_FAILED for an invalid key
   */
  registerLocalDataPlane(
    scope: TenantScope,
    request: RegistrationRequest,
  ): Promise<RegistrationAnswer>;
  /**
   * Registers a data plane, in a transaction that holds `lockRegistrations`. The caller has
   * verified the proof. Registering again is the remedy where a hand wrote into the row.
   *
   * @throws AppError VALIDATION_FAILED, DATA_PLANE_REVOKED, DATA_PLANE_FORKED,
   *   DATA_PLANE_LIMIT_REACHED
   */
  register(tx: TenantTransaction, request: RegistrationRequest, by: Attester): Promise<Registered>;
  /** The keys that a data plane may trust, as registration returns them. */
  trustKeys(): Promise<Pick<RegistrationAnswer, 'bundle_keys' | 'feed_keys' | 'key_history'>>;
  /**
   * Records, once, that two writers used a data plane's key, and raises an alert. Its tokens end
   * and its key cannot register again, so both writers stop.
   */
  markForked(tenantId: string, deploymentId: string): Promise<void>;
}

export function createDataPlaneService(deps: DataPlaneServiceDeps): DataPlaneService {
  const { db, now } = deps;

  async function register(
    tx: TenantTransaction,
    request: RegistrationRequest,
    { isLocal, ...by }: Attester & { isLocal: boolean },
  ): Promise<Registered> {
    const store = dataPlaneStore(tx);
    const description = describe(request, readKeys(request));
    const signingKey = JSON.parse(description.signingKey) as { x: string };
    const known = await store.findBySigningKey(signingKey.x);
    const at = now();
    const deploymentId = known?.deploymentId ?? uuidv7(at.getTime());
    const hasTokens = !isLocal || (await dataPlaneTokenStore(tx).hasAny(deploymentId));
    const fault = known && (await findFault(tx, { ...known, hasTokens }, by));
    if (!isLocal) requireActive(known, fault);
    const registered = { deploymentId, isNew: known === undefined };
    // The local one goes on when it forked; its row stays as it is then.
    const isAttested =
      known?.standing !== 'active' || (fault === undefined && !(await hasMissedSecrets(tx, known)));
    const isUnchanged = known !== undefined && isSame(known, description) && isAttested;
    // Its sealed credentials were removed when its last token was revoked, and are added again.
    const hasLostItsTokens =
      known !== undefined &&
      (await dataPlaneTokenStore(tx).findWithoutToken([deploymentId])).has(deploymentId);
    if (isUnchanged && !hasLostItsTokens) return registered;

    const counts = known !== undefined && !hasLostItsTokens;
    if (!counts && (await store.countActive()) >= MAX_DATA_PLANES) {
      throw new AppError('DATA_PLANE_LIMIT_REACHED');
    }
    const { label, region, version, sealingKey } = description;
    if (!isUnchanged) {
      const recordId = uuidv7();
      const plane = { ...description, deploymentId, hasTokens };
      const attested = by.attest(planeStatement(tx.scope.tenantId, plane, recordId));
      if (known) await store.update(deploymentId, { ...description, ...attested }, at);
      else await store.create(deploymentId, { ...description, ...attested }, at);
      tx.audit.append({
        id: recordId,
        action: known ? 'data_plane_updated' : 'data_plane_registered',
        target: planeTarget(deploymentId),
        details: { label, region, version, ...planeDetails(plane) },
      });
    }
    if (known?.sealingKey !== sealingKey || hasLostItsTokens || !isAttested) {
      const target = { deploymentId, sealingKey: JSON.parse(sealingKey) };
      await deps.facts.addFactsForDataPlane(tx, target);
    }
    return registered;
  }

  const trustKeys = async () => {
    const [bundle_keys, feed_keys, key_history] = await Promise.all([
      deps.bundleKeys(),
      deps.feedKeys(),
      deps.keyHistory(),
    ]);
    return { bundle_keys, feed_keys, key_history };
  };

  return {
    trustKeys,
    register: (tx, request, by) => register(tx, request, { ...by, isLocal: false }),

    list: (scope, page) =>
      db.inTenant(scope, async (tx) => {
        const planes = await listReports(tx, page, now());
        const registered = await dataPlaneStore(tx).count();
        const others = await unregisteredPlaneStore(tx).list(now());
        const from = Math.max(0, page.offset - registered);
        const room = page.limit - planes.length;
        return {
          planes,
          unregistered: others.slice(from, from + room),
          total: registered + others.length,
        };
      }),

    receiveHeartbeat: createHeartbeatReceiver(deps),

    registerLocalDataPlane: async (scope, request) => {
      const by = await deps.attestedPlanes.prepare();
      const { deploymentId } = await db.inTenant(scope, async (tx) => {
        await dataPlaneStore(tx).lockRegistrations();
        return register(tx, request, { ...by, isLocal: true });
      });
      const tenant_id = scope.tenantId;
      const { region } = request;
      return { tenant_id, deployment_id: deploymentId, region, ...(await trustKeys()) };
    },

    markForked: async (tenantId, deploymentId) => {
      await db.inTenant(systemScope(tenantId), async (tx) => {
        await dataPlaneStore(tx).lockRegistrations();
        const at = now();
        const isNew = await dataPlaneStore(tx).setStanding(deploymentId, 'forked', {
          from: ['active'],
          now: at,
        });
        if (!isNew) return;
        // Nobody knows which of the two is genuine, so neither continues. Their backlog is accepted
        // as long as that of a revoked one.
        await dataPlaneTokenStore(tx).revokeAll({ deploymentId }, at);
        tx.audit.append({ action: 'data_plane_forked', target: `data_plane/${deploymentId}` });
        await raiseAlert(tx, {
          alertType: 'DATA_PLANE_FORKED',
          severity: 'critical',
          agentId: null,
          title: 'Two data planes wrote with one key, as happens when a data folder is copied',
          details: { deployment_id: deploymentId },
          dedupeKey: `data-plane-forked/${deploymentId}`,
          now: at,
        });
      });
      // Open polls are answered; a new registration is refused with the reason.
      deps.changes.publish({ tenantId, tokensRevoked: true });
      await deps.facts.takeBackFacts(tenantId);
    },
  };
}

async function listReports(
  tx: TenantTransaction,
  page: Page,
  at: Date,
): Promise<DataPlaneReport[]> {
  const store = dataPlaneStore(tx);
  const planes = await store.list(page);
  const revisions = await store.bundleRevisions();
  const head = await store.feedHead();
  const ids = planes.map(({ deploymentId }) => deploymentId);
  const revoked = await dataPlaneTokenStore(tx).findWithoutToken(ids);
  return planes.map((plane) => {
    const revision = bundleRevisionOf(plane.lastHeartbeat);
    const hasLostItsTokens = revoked.has(plane.deploymentId);
    return {
      ...plane,
      status: statusOf(plane, { hasLostItsTokens, now: at }),
      bundleRevision: revision ?? null,
      bundlesBehind:
        revision === undefined ? null : revisions.filter((newer) => newer > revision).length,
      feedLag: plane.feedCursor === null ? null : Math.max(0, head - plane.feedCursor),
    };
  });
}

function requireActive(known: DataPlane | undefined, fault: RowFault | undefined): void {
  if (known?.standing === 'forked') throw new AppError('DATA_PLANE_FORKED');
  // Also where its row was put back from before its revocation.
  if (known?.standing === 'revoked' || fault === 'put_back') {
    throw new AppError('DATA_PLANE_REVOKED');
  }
}

/** Why a row is not what was registered last. */
async function findFault(
  tx: TenantTransaction,
  plane: PlaneRow,
  { judge }: Attester,
): Promise<RowFault | undefined> {
  return (await findPlaneFaults(tx, [plane], judge)).get(plane.deploymentId);
}

function describe(request: RegistrationRequest, keys: RegisteredKeys): DataPlaneDescription {
  const { label, region, version } = request;
  return {
    label,
    region: region ?? '',
    version,
    signingKey: canonicalize(toPublicMembers(keys.signing)),
    sealingKey: canonicalize(toPublicMembers(keys.sealing)),
    tokenKey: canonicalize(toPublicMembers(keys.token)),
  };
}

function isSame(known: DataPlane, description: DataPlaneDescription): boolean {
  return canonicalize(pick(known)) === canonicalize(pick(description));
}

function pick({ label, region, version, sealingKey, tokenKey }: DataPlaneDescription) {
  return { label, region, version, sealingKey, tokenKey };
}
