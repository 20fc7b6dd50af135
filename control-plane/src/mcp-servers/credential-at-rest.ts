/** Credentials of MCP servers as they are stored: encrypted, bound to tenant and server. */
import { UpstreamCredential } from '@governance/shared/upstream-credential';
import { upstreamCredentialContext } from '../platform/ciphertext-kinds.ts';
import { damagedRow } from '../platform/damaged-rows.ts';
import type { MasterKey } from '../platform/master-key.ts';

export function encryptCredential(
  masterKey: Pick<MasterKey, 'encrypt'>,
  row: { tenantId: string; serverId: string },
  credential: UpstreamCredential,
): Uint8Array<ArrayBuffer> {
  const plaintext = Buffer.from(JSON.stringify(credential));
  return masterKey.encrypt(plaintext, upstreamCredentialContext(row.tenantId, row.serverId));
}

/** @throws AppError STORED_ROW_DAMAGED with another master key, or when the row was tampered with */
export function decryptCredential(
  masterKey: Pick<MasterKey, 'decrypt'>,
  row: { tenantId: string; serverId: string },
  ciphertext: Uint8Array,
): UpstreamCredential {
  const context = upstreamCredentialContext(row.tenantId, row.serverId);
  try {
    const plaintext = masterKey.decrypt(ciphertext, context);
    return UpstreamCredential.parse(JSON.parse(plaintext.toString('utf8')));
  } catch (cause) {
    throw damagedRow(`mcp_servers ${row.serverId}`, 'its credential does not decrypt', cause);
  }
}
