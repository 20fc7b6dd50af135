/** A tenant's data protection policy: its type, its defaults and its row. */
import type { PayloadMode } from '@governance/shared/settings/data-protection-settings';
import type { KeyProviderName } from '../key-management/key-provider.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface ProtectionPolicy {
  payloadMode: PayloadMode;
  redactDlpMatches: boolean;
  redactFields: string[];
  hashIdentifiers: boolean;
  /** Encrypted under the master key; null until `hashIdentifiers` is first switched on. */
  identifierKeyCiphertext: Uint8Array<ArrayBuffer> | null;
  encryptionEnabled: boolean;
  kmsProvider: KeyProviderName | null;
  kmsKeyId: string | null;
  payloadRetentionDays: number;
  stripPayloadFromStream: boolean;
}

const DEFAULT_PROTECTION: ProtectionPolicy = {
  payloadMode: 'metadata_only',
  redactDlpMatches: false,
  redactFields: [],
  hashIdentifiers: false,
  identifierKeyCiphertext: null,
  encryptionEnabled: false,
  kmsProvider: null,
  kmsKeyId: null,
  payloadRetentionDays: 30,
  stripPayloadFromStream: false,
};

/** The policy of the transaction's tenant; the defaults unless the tenant set its own. */
export async function readProtectionPolicy(tx: TenantTransaction): Promise<ProtectionPolicy> {
  const { tenantId } = tx.scope;
  const row = await tx.db.dataProtectionPolicy.findUnique({ where: { tenantId } });
  if (!row) return DEFAULT_PROTECTION;
  const { tenantId: _tenant, updatedAt: _at, ...policy } = row;
  // The table's CHECK constraints guarantee the two enumerations.
  return policy as ProtectionPolicy;
}

/** Reads the policy and locks it until the transaction ends; creates the row if there is none. */
export async function lockProtectionPolicy(tx: TenantTransaction): Promise<ProtectionPolicy> {
  const { tenantId } = tx.scope;
  await tx.db.$executeRaw`
    INSERT INTO data_protection_policies (tenant_id) VALUES (${tenantId}::uuid)
    ON CONFLICT (tenant_id) DO NOTHING`;
  await tx.db.$queryRaw`
    SELECT 1 FROM data_protection_policies WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
  return readProtectionPolicy(tx);
}

export async function storeProtectionPolicy(
  tx: TenantTransaction,
  policy: ProtectionPolicy,
): Promise<void> {
  await tx.db.dataProtectionPolicy.update({
    where: { tenantId: tx.scope.tenantId },
    data: policy,
  });
}
