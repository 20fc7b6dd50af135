/**
 * The tenant's key for hashing identifiers: made here, encrypted under the master key at rest, and
 * sealed for each data plane while `hash_identifiers` is on. The tenant's key provider is not used,
 * since a data plane that registers must not wait for one.
 */
import { randomBytes } from 'node:crypto';
import {
  IDENTIFIER_KEY_BYTES,
  type SealedIdentifierKey,
} from '@governance/shared/keys/identifier-hash';
import { sealFor } from '../data-planes/sealed-facts.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { SealingTarget } from '../platform/feature.ts';
import { identifierKeyContext } from '../platform/keys/ciphertext-kinds.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';

/** @returns a new key, encrypted */
export function newIdentifierKey(
  masterKey: Pick<MasterKey, 'encrypt'>,
  tenantId: string,
): Uint8Array<ArrayBuffer> {
  return masterKey.encrypt(randomBytes(IDENTIFIER_KEY_BYTES), identifierKeyContext(tenantId));
}

/**
 * Appends the key for each of these data planes to the feed.
 *
 * @throws Error under another master key, or when the row was tampered with
 */
export async function appendIdentifierKey(
  tx: TenantTransaction,
  masterKey: Pick<MasterKey, 'decrypt'>,
  ciphertext: Uint8Array,
  targets: readonly SealingTarget[],
): Promise<void> {
  const { tenantId } = tx.scope;
  const key = masterKey.decrypt(ciphertext, identifierKeyContext(tenantId)).toString('base64url');
  for (const { deploymentId, sealingKey } of targets) {
    const content = { tenant_id: tenantId, deployment_id: deploymentId, key };
    const sealed: SealedIdentifierKey = { purpose: 'identifier-key', ...content };
    const jwe = await sealFor(sealingKey, JSON.stringify(sealed));
    const value = { deployment_id: deploymentId, jwe };
    tx.feed.append({ kind: 'identifier_key', key: deploymentId, value });
  }
}
