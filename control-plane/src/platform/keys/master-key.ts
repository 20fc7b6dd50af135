/**
 * Encrypts what must not be stored in clear (ciphertext-kinds.ts lists it). AES-256-GCM with the
 * purpose, the tenant (if any) and the row as associated data, so that a ciphertext moved to
 * another row or tenant does not decrypt.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from 'node:crypto';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { equalSecrets } from '@governance/shared/keys/equal-secrets';
import { StartError } from '@governance/shared/process/start-error';
import { Secret } from '@governance/shared/settings';

/** What a ciphertext belongs to; decryption needs the same. */
export interface CipherContext {
  purpose: string;
  tenant_id?: string;
  /** The row: a key id, a server's id. */
  key: string;
}

export interface MasterKey {
  /** Identifies the key without revealing it; part of every ciphertext. */
  keyId: string;
  /** Ids of the other keys accepted for reading. */
  previousIds: readonly string[];
  /** Whether it is encrypted under the current key. */
  isCurrent(ciphertext: Uint8Array): boolean;
  encrypt(plaintext: Uint8Array, context: CipherContext): Uint8Array<ArrayBuffer>;
  /**
   * @throws StartError when it is under a key that was not given; Error when the bytes or the
   *   context were changed
   */
  decrypt(ciphertext: Uint8Array, context: CipherContext): Buffer;
  /** By it the service recognises a text that it handed out, in the same context only. */
  tag(text: string, context: CipherContext): string;
  /** Whether it is that text's tag, under any key that is accepted for reading. */
  isTag(tag: string, text: string, context: CipherContext): boolean;
}

const FORMAT = 1;
const KEY_ID_BYTES = 8;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES;

/**
 * @param key 32 bytes: it encrypts
 * @param previous other keys that some ciphertexts may still be under
 */
export function createMasterKey(
  key: Secret<Buffer>,
  previous: Secret<Buffer[]> = new Secret([]),
): MasterKey {
  const own = createNamedKey(key.reveal());
  const others = previous.reveal().map(createNamedKey);
  const all = [own, ...others.filter(({ keyId }) => keyId !== own.keyId)];
  return {
    keyId: own.keyId,
    previousIds: all.slice(1).map(({ keyId }) => keyId),
    encrypt: own.encrypt,
    decrypt: (ciphertext, context) => {
      const bytes = Buffer.from(ciphertext);
      const used = all.find(({ header }) => bytes.subarray(0, HEADER_BYTES).equals(header));
      if (!used) throw new StartError(sayMissing(bytes, own.keyId));
      return used.decrypt(bytes, context);
    },
    tag: own.tag,
    isTag: (tag, text, context) => all.some((key) => equalSecrets(tag, key.tag(text, context))),
    isCurrent: (ciphertext) => Buffer.from(ciphertext).subarray(0, HEADER_BYTES).equals(own.header),
  };
}

/** Names the key that the ciphertext needs, so that the operator can provide it. */
function sayMissing(bytes: Buffer, keyId: string): string {
  const needed = bytes.subarray(1, HEADER_BYTES).toString('hex');
  return (
    `encrypted under another SERVICE_MASTER_KEY (its id is ${needed}) than the one given (${keyId}): ` +
    'set that one, or name it in SERVICE_MASTER_KEY_PREVIOUS beside the new one'
  );
}

function createNamedKey(key: Buffer) {
  const keyId = createHash('sha256')
    .update('governance master key id\0')
    .update(key)
    .digest()
    .subarray(0, KEY_ID_BYTES);
  const header = Buffer.concat([Buffer.from([FORMAT]), keyId]);
  const associated = (context: CipherContext) =>
    Buffer.concat([header, Buffer.from(canonicalize(context))]);
  const tagKey = createHmac('sha256', key).update('tags of texts that are handed out\0').digest();
  return {
    keyId: keyId.toString('hex'),
    header,
    tag: (text: string, context: CipherContext): string =>
      createHmac('sha256', tagKey)
        .update(`${canonicalize(context)}\0`)
        .update(text)
        .digest('base64url'),
    encrypt: (plaintext: Uint8Array, context: CipherContext): Uint8Array<ArrayBuffer> => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      cipher.setAAD(associated(context));
      const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return new Uint8Array(Buffer.concat([header, nonce, cipher.getAuthTag(), body]));
    },
    decrypt: (bytes: Buffer, context: CipherContext): Buffer => {
      const nonceEnd = HEADER_BYTES + NONCE_BYTES;
      const nonce = bytes.subarray(HEADER_BYTES, nonceEnd);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(associated(context));
      decipher.setAuthTag(bytes.subarray(nonceEnd, nonceEnd + TAG_BYTES));
      return Buffer.concat([
        decipher.update(bytes.subarray(nonceEnd + TAG_BYTES)),
        decipher.final(),
      ]);
    },
  };
}
