/** Credentials of MCP servers as they are stored: encrypted, bound to tenant and server. */
import { UpstreamCredential } from '@governance/shared/upstream-credential';
import { upstreamCredentialContext } from '../platform/ciphertext-kinds.ts';
import type { MasterKey } from '../platform/master-key.ts';

export function encryptCredential(
  masterKey: Pick<MasterKey, 'encrypt'>,
  row: { tenantId: string; serverId: string },
  credential: UpstreamCredential,
): Uint8Array<ArrayBuffer> {
  const plaintext = Buffer.from(JSON.stringify(credential));
  return masterKey.encrypt(plaintext, upstreamCredentialContext(row.tenantId, row.serverId));
}

/** @throws Error with another master key, or when the row was tampered with */
export function decryptCredential(
  masterKey: Pick<MasterKey, 'decrypt'>,
  row: { tenantId: string; serverId: string },
  ciphertext: Uint8Array,
): UpstreamCredential {
  const plaintext = masterKey.decrypt(
    ciphertext,
    upstreamCredentialContext(row.tenantId, row.serverId),
  );
  return UpstreamCredential.parse(JSON.parse(plaintext.toString('utf8')));
}
