/**
 * Encrypts what must not be in the database in clear: signing keys and upstream credentials.
 * AES-256-GCM with the purpose (and the tenant, if any) as associated data, so that a ciphertext
 * moved to another row or tenant does not decrypt.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { canonicalize } from '@governance/shared/canonical-json';
import type { Secret } from '@governance/shared/settings';

/** What a ciphertext belongs to; the same is needed to open it. */
export interface CipherContext {
  purpose: string;
  tenant_id?: string;
  /** The row: a key id, a server's id. */
  key: string;
}

export interface MasterKey {
  /** Identifies the key without revealing it; part of every ciphertext. */
  keyId: string;
  encrypt(plaintext: Uint8Array, context: CipherContext): Uint8Array<ArrayBuffer>;
  /** @throws Error with another key, or when the bytes or the context were changed */
  decrypt(ciphertext: Uint8Array, context: CipherContext): Buffer;
}

const FORMAT = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;

/** @param key 32 bytes */
export function createMasterKey(key: Secret<Buffer>): MasterKey {
  const keyId = createHash('sha256')
    .update('governance master key id\0')
    .update(key.reveal())
    .digest()
    .subarray(0, KEY_ID_BYTES);
  const header = Buffer.concat([Buffer.from([FORMAT]), keyId]);
  const associated = (context: CipherContext) =>
    Buffer.concat([header, Buffer.from(canonicalize(context))]);
  return {
    keyId: keyId.toString('hex'),
    encrypt: (plaintext, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key.reveal(), nonce);
      cipher.setAAD(associated(context));
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return new Uint8Array(Buffer.concat([header, nonce, cipher.getAuthTag(), body]));
    },
    decrypt: (ciphertext, context) => {
      const bytes = Buffer.from(ciphertext);
      if (!bytes.subarray(0, HEADER_BYTES).equals(header)) {
        throw new Error('encrypted under another SERVICE_MASTER_KEY than the one given');
      }
      const nonceEnd = HEADER_BYTES + NONCE_BYTES;
      const decipher = createDecipheriv(
        'aes-256-gcm',
        key.reveal(),
        bytes.subarray(HEADER_BYTES, nonceEnd),
        { authTagLength: TAG_BYTES },
      );
      decipher.setAAD(associated(context));
      decipher.setAuthTag(bytes.subarray(nonceEnd, nonceEnd + TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(nonceEnd + TAG_BYTES)),
        decipher.final(),
      ]);
    },
  };
}
