/**
 * Credentials of MCP servers as they are stored: encrypted, bound to tenant and server, with the
 * origin that they were given for. Whoever moves the server's address in the database alone does
 * not get its secret sent there.
 */
import { UpstreamCredential } from '@governance/shared/mcp/upstream-credential';
import { z } from 'zod';
import { damagedRow } from '../platform/database/damaged-rows.ts';
import { upstreamCredentialContext } from '../platform/keys/ciphertext-kinds.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { isSameOrigin, type McpServer } from './mcp-server.ts';

/** Versions before 0.27 stored the credential alone: it names its origin from its next change on. */
const StoredCredential = z.union([
  z.strictObject({ origin: z.url(), credential: UpstreamCredential }),
  UpstreamCredential.transform((credential) => ({ origin: undefined, credential })),
]);

type Place = Pick<McpServer, 'serverId' | 'url'> & { tenantId: string };

export function encryptCredential(
  masterKey: Pick<MasterKey, 'encrypt'>,
  { tenantId, serverId, url }: Place,
  credential: UpstreamCredential,
): Uint8Array<ArrayBuffer> {
  // Only servers with an address have credentials.
  const stored = url === null ? credential : { origin: new URL(url).origin, credential };
  const plaintext = Buffer.from(JSON.stringify(stored));
  return masterKey.encrypt(plaintext, upstreamCredentialContext(tenantId, serverId));
}

/** @throws AppError STORED_ROW_DAMAGED with another master key, or when the row was tampered with */
export function decryptCredential(
  masterKey: Pick<MasterKey, 'decrypt'>,
  { tenantId, serverId, url }: Place,
  ciphertext: Uint8Array,
): UpstreamCredential {
  const row = `mcp_servers ${serverId}`;
  let stored: z.infer<typeof StoredCredential>;
  try {
    const plaintext = masterKey.decrypt(ciphertext, upstreamCredentialContext(tenantId, serverId));
    stored = StoredCredential.parse(JSON.parse(plaintext.toString('utf8')));
  } catch (cause) {
    throw damagedRow(row, 'its credential does not decrypt', cause);
  }
  if (stored.origin !== undefined && !isSameOrigin(stored.origin, url)) {
    throw damagedRow(row, 'its address is not the one that its credential was given for');
  }
  return stored.credential;
}
