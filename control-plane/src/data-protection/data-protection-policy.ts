/** Applies a change to a policy, and refuses unusable policies. */
import { AppError } from '@governance/shared/errors';
import { KeyProviderError } from '../key-management/key-provider.ts';
import type { KeyProviders } from '../key-management/key-providers.ts';
import type { ProtectionPolicy } from '../payloads/protection-policy.ts';
import type { DataProtectionPatch } from './data-protection-schemas.ts';

/** Applies a patch. A key id belongs to its provider, so changing only the provider removes it. */
export function changedPolicy(
  before: ProtectionPolicy,
  patch: DataProtectionPatch,
): ProtectionPolicy {
  const kmsProvider = patch.kms_provider === undefined ? before.kmsProvider : patch.kms_provider;
  const keptKeyId = kmsProvider === before.kmsProvider ? before.kmsKeyId : null;
  return {
    payloadMode: patch.payload_mode ?? before.payloadMode,
    redactDlpMatches: patch.redact_dlp_matches ?? before.redactDlpMatches,
    redactFields: patch.redact_fields ? [...new Set(patch.redact_fields)] : before.redactFields,
    hashIdentifiers: patch.hash_identifiers ?? before.hashIdentifiers,
    identifierKeyCiphertext: before.identifierKeyCiphertext,
    encryptionEnabled: patch.encryption_enabled ?? before.encryptionEnabled,
    kmsProvider,
    kmsKeyId: patch.kms_key_id === undefined ? keptKeyId : patch.kms_key_id,
    payloadRetentionDays: patch.payload_retention_days ?? before.payloadRetentionDays,
    stripPayloadFromStream: patch.strip_payload_from_stream ?? before.stripPayloadFromStream,
  };
}

/** @throws AppError BAD_REQUEST for a policy with which nothing could be encrypted */
export function requireUsable(policy: ProtectionPolicy, providers: KeyProviders): void {
  const { encryptionEnabled, kmsProvider, kmsKeyId } = policy;
  if (kmsProvider === null) {
    if (encryptionEnabled) throw refuse('encryption_enabled needs a kms_provider');
    if (kmsKeyId !== null) throw refuse('kms_key_id needs a kms_provider');
    return;
  }
  try {
    const fault = providers.get(kmsProvider).findKeyIdFault(kmsKeyId);
    if (fault !== null) throw refuse(`kms_key_id ${fault}`);
  } catch (error) {
    if (error instanceof KeyProviderError) throw refuse(`kms_provider: ${error.message}`, error);
    throw error;
  }
}

/**
 * Encrypts and decrypts once with the policy's provider.
 *
 * @throws AppError BAD_REQUEST with the reason when it does not work
 */
export async function requireConnectivity(
  tenantId: string,
  { kmsProvider, kmsKeyId }: ProtectionPolicy,
  providers: KeyProviders,
): Promise<void> {
  if (kmsProvider === null) throw refuse('test_kms_connectivity needs a kms_provider');
  const context = { tenant_id: tenantId, purpose: 'connectivity_test' };
  try {
    await providers.tryOut(kmsProvider, kmsKeyId ?? '', context);
  } catch (error) {
    const why = error instanceof KeyProviderError ? error.message : 'the provider failed';
    throw refuse(`The key provider ${kmsProvider} does not work: ${why}`, error);
  }
}

const refuse = (detail: string, cause?: unknown) => new AppError('BAD_REQUEST', detail, { cause });
