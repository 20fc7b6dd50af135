/**
 * Envelope encryption: data is encrypted (AES-256-GCM) under data keys, which the tenant's key
 * provider encrypts, bound to tenant and purpose. A data key is used for 30 days, and kept in
 * memory in clear for five minutes, so that the provider is not asked for each encryption.
 */

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { DAY_MS } from '@governance/shared/time/durations';
import { LRUCache } from 'lru-cache';
import type { TenantDatabase, TenantScope } from '../platform/database/tenant-scope.ts';
import { KeyProviderError, KeyProviderName } from './key-provider.ts';
import type { KeyProviders } from './key-providers.ts';

const DATA_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const USED_FOR_MS = 30 * DAY_MS;
const KEPT_MS = 5 * 60_000;
const KEPT_KEYS = 5_000;
const CHECK_BYTES = 8;

export interface DataKey {
  id: string;
  key: Buffer;
}

/** What a data key is for, and the provider and key that encrypt it. */
export interface KeyChoice {
  purpose: string;
  provider: KeyProviderName;
  /** Empty where the provider has a single key. */
  keyId: string;
}

export interface DataKeys {
  /**
   * The active data key; created if the tenant has none that its provider still decrypts.
   *
   * @throws KeyProviderError
   */
  current(scope: TenantScope, choice: KeyChoice): Promise<DataKey>;
  /** @throws KeyProviderError, also for a key that the tenant does not have for this purpose */
  find(scope: TenantScope, id: string, purpose: string): Promise<DataKey>;
}

export function createDataKeys(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  providers: KeyProviders;
  now: () => Date;
}): DataKeys {
  const { db, providers, now } = deps;
  /** In clear, by tenant and id. */
  const known = new LRUCache<string, Buffer>({ max: KEPT_KEYS, ttl: KEPT_MS });
  const placeOf = (tenantId: string, id: string) => `${tenantId}/${id}`;

  async function open(scope: TenantScope, row: WrappedKey): Promise<DataKey> {
    const place = placeOf(scope.tenantId, row.id);
    let key = known.get(place);
    if (!key) {
      const context = { tenant_id: scope.tenantId, purpose: row.purpose };
      const provider = providers.get(KeyProviderName.parse(row.provider));
      key = await provider.unwrap(row.kmsKeyId, row.wrapped, context);
      if (key.length !== DATA_KEY_BYTES)
        throw new KeyProviderError('the data key has the wrong length');
      // Nothing could ever be read again that was encrypted under another key.
      if (row.keyCheck && Buffer.compare(checkOf(key), row.keyCheck) !== 0)
        throw new KeyProviderError(WRONG_KEY);
      known.set(place, key);
    }
    return { id: row.id, key };
  }

  async function make(scope: TenantScope, choice: KeyChoice): Promise<DataKey> {
    const { tenantId } = scope;
    const { purpose, provider, keyId } = choice;
    const key = randomBytes(DATA_KEY_BYTES);
    const context = { tenant_id: tenantId, purpose };
    const held = providers.get(provider);
    const wrapped = new Uint8Array(await held.wrap(keyId, key, context));
    // A key that may encrypt and not decrypt would take what is encrypted under it with it.
    if (!key.equals(await held.unwrap(keyId, wrapped, context)))
      throw new KeyProviderError(WRONG_KEY);
    const id = uuidv7(now().getTime());
    // Two replicas may each create one; both are valid.
    await db.inTenant(scope, (tx) =>
      tx.db.dataKey.create({
        data: {
          ...{ tenantId, id, purpose, provider, kmsKeyId: keyId, createdAt: now() },
          ...{ wrapped, keyCheck: checkOf(key) },
        },
      }),
    );
    known.set(placeOf(tenantId, id), key);
    return { id, key };
  }

  return {
    current: async (scope, choice) => {
      const { tenantId } = scope;
      const { purpose, provider, keyId } = choice;
      const at = now().getTime();
      // What is further ahead was made before the clock was put back.
      const used = { gt: new Date(at - USED_FOR_MS), lt: new Date(at + USED_FOR_MS) };
      const row = await db.inTenant(scope, (tx) =>
        tx.db.dataKey.findFirst({
          where: { tenantId, purpose, provider, kmsKeyId: keyId, createdAt: used },
          orderBy: { createdAt: 'desc' },
        }),
      );
      if (!row) return make(scope, choice);
      return open(scope, row).catch((error: unknown) => {
        if (!(error instanceof KeyProviderError)) throw error;
        // The version that encrypted it may be disabled while the key itself works.
        return make(scope, choice).catch(() => {
          throw error;
        });
      });
    },

    find: async (scope, id, purpose) => {
      const { tenantId } = scope;
      const row = await db.inTenant(scope, (tx) =>
        tx.db.dataKey.findUnique({ where: { tenantId_id: { tenantId, id }, purpose } }),
      );
      if (!row) throw new KeyProviderError('the data key is gone');
      return open(scope, row);
    },
  };
}

interface WrappedKey {
  id: string;
  purpose: string;
  provider: string;
  kmsKeyId: string;
  wrapped: Uint8Array;
  keyCheck: Uint8Array | null;
}

const WRONG_KEY = 'the provider decrypted the data key to another one';

/** Of 256 random bits it says nothing. */
const checkOf = (key: Buffer) =>
  Uint8Array.from(createHmac('sha256', key).update('data key').digest().subarray(0, CHECK_BYTES));

/** @param context what the ciphertext belongs to; decryption needs the same */
export function encryptUnder(
  { key }: DataKey,
  plaintext: Uint8Array,
  context: Record<string, string>,
): Uint8Array<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(canonicalize(context)));
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return new Uint8Array(Buffer.concat([nonce, cipher.getAuthTag(), body]));
}

/** @throws Error under another key, or when the bytes or the context were changed */
export function decryptUnder(
  { key }: DataKey,
  ciphertext: Uint8Array,
  context: Record<string, string>,
): Buffer {
  const bytes = Buffer.from(ciphertext);
  const bodyAt = NONCE_BYTES + TAG_BYTES;
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), options);
  decipher.setAAD(Buffer.from(canonicalize(context)));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, bodyAt));
  return Buffer.concat([decipher.update(bytes.subarray(bodyAt)), decipher.final()]);
}
