/**
 * A tenant's data protection. A change is published in the bundle's settings (the WebAssembly is
 * reused), and the request is answered once the change is enforced.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import type { DataProtectionSettings } from '@governance/shared/settings/data-protection-settings';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import type { AttestedPlanes, FindTargets } from '../data-planes/attested-planes.ts';
import {
  lockSealedFacts,
  type SealedFactTurns,
  takeBackFromAll,
  takeBackFromOthers,
} from '../data-planes/sealed-facts.ts';
import type { KeyProviders } from '../key-management/key-providers.ts';
import type { SealingKeyPair } from '../payloads/payload-sealing-key.ts';
import {
  lockProtectionPolicy,
  type ProtectionPolicy,
  readProtectionPolicy,
  storeProtectionPolicy,
} from '../payloads/protection-policy.ts';
import { formerValues } from '../platform/admin-details.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { SealingTarget } from '../platform/feature.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { changedPolicy, requireConnectivity, requireUsable } from './data-protection-policy.ts';
import { type DataProtectionPatch, toView } from './data-protection-schemas.ts';
import { appendIdentifierKey, newIdentifierKey } from './identifier-key.ts';

export interface DataProtectionServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  masterKey: MasterKey;
  keyProviders: KeyProviders;
  payloadSealingKey: () => Promise<SealingKeyPair>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
  sealedFactTurns: SealedFactTurns;
  prepareTargets: AttestedPlanes['prepareTargets'];
}

interface KeyChange {
  before: ProtectionPolicy;
  after: ProtectionPolicy;
  isNew: boolean;
  findTargets: FindTargets;
}

export type DataProtectionService = ReturnType<typeof createDataProtectionService>;

export function createDataProtectionService(deps: DataProtectionServiceDeps) {
  const { db, keyProviders, masterKey } = deps;

  const inTurn: TenantDatabase['inTenantWithHeads'] = (scope, work) =>
    deps.sealedFactTurns.run(scope.tenantId, () => db.inTenantWithHeads(scope, work));

  /** Creates the identifier key if one is needed, and sends it to the data planes. */
  async function withIdentifierKey(
    tx: TenantTransaction,
    { before, after, isNew, findTargets }: KeyChange,
  ): Promise<ProtectionPolicy> {
    if (!after.hashIdentifiers) {
      // A data plane of an earlier version, which does not know the fact, can then serve the tenant
      // again.
      if (before.hashIdentifiers) await takeBackFromAll(tx, 'identifier_key');
      return after;
    }
    if (before.hashIdentifiers && !isNew) return after;
    const { tenantId } = tx.scope;
    // Reuses the key from before the setting was off, so that the hashes stay the same.
    const known = isNew ? null : after.identifierKeyCiphertext;
    const identifierKeyCiphertext = known ?? newIdentifierKey(masterKey, tenantId);
    const targets = await findTargets(tx);
    await appendIdentifierKey(tx, masterKey, identifierKeyCiphertext, targets);
    return { ...after, identifierKeyCiphertext };
  }
  return {
    get: (scope: TenantScope): Promise<ProtectionPolicy> =>
      db.inTenant(scope, readProtectionPolicy),

    /**
     * @throws AppError BAD_REQUEST for a policy with which nothing could be encrypted; nothing is
     * stored then
     */
    change: async (scope: TenantScope, patch: DataProtectionPatch): Promise<ProtectionPolicy> => {
      const { tenantId } = scope;
      // Tested before the transaction, since a provider may take seconds and the row must not be
      // locked that long.
      const tried = changedPolicy(await db.inTenant(scope, readProtectionPolicy), patch);
      requireUsable(tried, keyProviders);
      if (patch.test_kms_connectivity) await requireConnectivity(tenantId, tried, keyProviders);
      const findTargets = await deps.prepareTargets();
      const { result, feedSeq } = await inTurn(scope, async (tx) => {
        // Locked before the row, in the same order as in registration.
        await lockSealedFacts(tx);
        const before = await lockProtectionPolicy(tx);
        const changed = changedPolicy(before, patch);
        requireUsable(changed, keyProviders);
        if (patch.test_kms_connectivity) requireSameKey(tried, changed);
        const isNew = patch.rotate_identifier_key === true;
        if (isNew) requireHashing(changed);
        const after = await withIdentifierKey(tx, { before, after: changed, isNew, findTargets });
        await storeProtectionPolicy(tx, after);
        tx.audit.append({
          action: 'data_protection_updated',
          target: 'data_protection',
          details: {
            ...toView(after),
            fields: changedFields(patch),
            before: formerValues(toView(before), toView(after)),
          },
        });
        return after;
      });
      const { revision } = await deps.bundles.requestBuild(tenantId);
      await deps.applied.wait(tenantId, {
        bundleRevision: revision,
        ...(feedSeq !== undefined && { feedSeq }),
      });
      return result;
    },

    /** Seals the identifier key for a data plane, in the transaction that registers it. */
    addForDataPlane: async (tx: TenantTransaction, target: SealingTarget): Promise<void> => {
      await lockSealedFacts(tx);
      const { hashIdentifiers, identifierKeyCiphertext: key } = await readProtectionPolicy(tx);
      if (hashIdentifiers && key) await appendIdentifierKey(tx, masterKey, key, [target]);
    },

    /** Removes the keys sealed for revoked and forked data planes. */
    takeBack: (tenantId: string): Promise<void> =>
      inTurn(systemScope(tenantId), async (tx) => {
        await lockSealedFacts(tx);
        await takeBackFromOthers(tx, 'identifier_key', MAX_TAKEN_BACK);
      }).then(() => undefined),

    /** The policy as data planes enforce it. */
    readSettings: async (tx: TenantTransaction): Promise<DataProtectionSettings> => {
      const policy = await readProtectionPolicy(tx);
      const keepsPayloads = policy.payloadMode !== 'metadata_only';
      return {
        payload_mode: policy.payloadMode,
        redact_dlp_matches: policy.redactDlpMatches,
        redact_fields: policy.redactFields,
        hash_identifiers: policy.hashIdentifiers,
        sealing_key: keepsPayloads ? (await deps.payloadSealingKey()).publicJwk : null,
      };
    },
  };
}

/**
 * More than the entries that can be left: one per data plane, and earlier revocations removed
 * theirs.
 */
const MAX_TAKEN_BACK = 5_000;

function requireHashing(policy: ProtectionPolicy): void {
  if (policy.hashIdentifiers) return;
  throw new AppError('BAD_REQUEST', 'rotate_identifier_key needs hash_identifiers');
}

/** Refuses if another administrator changed the key between the test and the transaction. */
function requireSameKey(tried: ProtectionPolicy, after: ProtectionPolicy): void {
  if (tried.kmsProvider === after.kmsProvider && tried.kmsKeyId === after.kmsKeyId) return;
  throw new AppError('BAD_REQUEST', 'The key was changed in the meantime: send the change again.');
}

function changedFields(patch: DataProtectionPatch): string[] {
  return Object.keys(patch)
    .filter((name) => name !== 'test_kms_connectivity')
    .sort();
}
