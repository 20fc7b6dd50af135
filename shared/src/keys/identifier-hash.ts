/**
 * Keyed hashes in place of identifiers (`hash_identifiers` of a tenant's data protection). The key
 * is the tenant's own: whoever has it can test guesses, so it travels sealed to each data plane and
 * is in no bundle. An identifier has the same hash until the key is rotated.
 */
import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { Id } from '../text.ts';

export const IDENTIFIER_KEY_BYTES = 32;

/** The plaintext of the sealed key. It names its place, so that none can be used elsewhere. */
export const SealedIdentifierKey = z.strictObject({
  purpose: z.literal('identifier-key'),
  tenant_id: Id,
  deployment_id: Id,
  /** 32 bytes, base64url. */
  key: z.string().regex(/^[\w-]{43}$/),
});
export type SealedIdentifierKey = z.infer<typeof SealedIdentifierKey>;

export type IdentifierHash = (identifier: string) => string;

/** 128 bits. */
const HASH_CHARACTERS = 22;
const KEY_ID_CHARACTERS = 6;

/**
 * @param key IDENTIFIER_KEY_BYTES bytes
 * @returns makes `hid1:<key id>:<hash>` of an identifier; an e-mail address counts in lower case
 */
export function createIdentifierHash(tenantId: string, key: Uint8Array): IdentifierHash {
  if (key.length !== IDENTIFIER_KEY_BYTES) throw new TypeError('an identifier key has 32 bytes');
  const keyId = createHash('sha256')
    .update('governance.identifier-key-id.v1\n')
    .update(key)
    .digest('base64url')
    .slice(0, KEY_ID_CHARACTERS);
  return (identifier) => {
    const mac = createHmac('sha256', key)
      .update(`governance.identifier.v1\n${tenantId}\n`)
      .update(identifier.includes('@') ? identifier.toLowerCase() : identifier)
      .digest('base64url');
    return `hid1:${keyId}:${mac.slice(0, HASH_CHARACTERS)}`;
  };
}
