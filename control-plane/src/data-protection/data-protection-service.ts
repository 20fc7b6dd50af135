/**
 * A tenant's data protection. A change goes into the bundle's settings (the WebAssembly is reused);
 * the answer comes when it is in force.
 */
import type { AppliedBarrier } from '@governance/shared/channels';
import type { DataProtectionSettings } from '@governance/shared/data-protection-settings';
import { AppError } from '@governance/shared/errors';
import type { BundleBuilder } from '../bundles/bundle-builder.ts';
import type { KeyProviders } from '../key-management/key-providers.ts';
import type { SealingKeyPair } from '../payloads/payload-sealing-key.ts';
import {
  lockProtectionPolicy,
  type ProtectionPolicy,
  readProtectionPolicy,
  storeProtectionPolicy,
} from '../payloads/protection-policy.ts';
import type { TenantDatabase, TenantScope, TenantTransaction } from '../platform/tenant-scope.ts';
import { changedPolicy, requireConnectivity, requireUsable } from './data-protection-policy.ts';
import { type DataProtectionPatch, toView } from './data-protection-schemas.ts';

export interface DataProtectionServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  keyProviders: KeyProviders;
  payloadSealingKey: () => Promise<SealingKeyPair>;
  bundles: Pick<BundleBuilder, 'requestBuild'>;
  applied: AppliedBarrier;
}

export type DataProtectionService = ReturnType<typeof createDataProtectionService>;

export function createDataProtectionService(deps: DataProtectionServiceDeps) {
  const { db, keyProviders } = deps;
  return {
    get: (scope: TenantScope): Promise<ProtectionPolicy> =>
      db.inTenant(scope, readProtectionPolicy),

    /** @throws AppError BAD_REQUEST for what could encrypt nothing; then nothing is stored */
    change: async (scope: TenantScope, patch: DataProtectionPatch): Promise<ProtectionPolicy> => {
      const { tenantId } = scope;
      // Before the transaction: a provider may take seconds, and the row must not be locked so long.
      const tried = changedPolicy(await db.inTenant(scope, readProtectionPolicy), patch);
      requireUsable(tried, keyProviders);
      if (patch.test_kms_connectivity) await requireConnectivity(tenantId, tried, keyProviders);
      const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
        const after = changedPolicy(await lockProtectionPolicy(tx), patch);
        requireUsable(after, keyProviders);
        if (patch.test_kms_connectivity) requireSameKey(tried, after);
        await storeProtectionPolicy(tx, after);
        tx.audit.append({
          action: 'data_protection_updated',
          target: 'data_protection',
          details: { ...toView(after), fields: changedFields(patch) },
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

    /** What data planes enforce of it. */
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

/** Another administrator changed the key between the trial and the transaction. */
function requireSameKey(tried: ProtectionPolicy, after: ProtectionPolicy): void {
  if (tried.kmsProvider === after.kmsProvider && tried.kmsKeyId === after.kmsKeyId) return;
  throw new AppError('BAD_REQUEST', 'The key was changed meanwhile: send the change again.');
}

function changedFields(patch: DataProtectionPatch): string[] {
  return Object.keys(patch)
    .filter((name) => name !== 'test_kms_connectivity')
    .sort();
}
