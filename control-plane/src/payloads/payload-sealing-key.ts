/**
 * The X25519 key pair that data planes seal payloads to. It belongs to the whole service, is stored
 * with the signing keys and shared by all replicas; the private half is encrypted under the master
 * key.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { PayloadSealingKey } from '@governance/shared/settings/data-protection-settings';
import { calculateJwkThumbprint } from 'jose';
import {
  type PlatformTransaction,
  SYSTEM_ACTOR,
  type TenantDatabase,
} from '../platform/database/tenant-scope.ts';
import type { ServiceKey } from '../platform/generated/client.ts';
import { serviceKeyContext } from '../platform/keys/ciphertext-kinds.ts';
import { PAYLOAD_SEALING } from '../platform/keys/key-kinds.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';

const LOCK = 'governance.payload_sealing_key';
/** There is one, unless somebody put more there. */
const MAX_ROWS = 1_000;
const generate = promisify(generateKeyPair);

export interface SealingKeyPair {
  privateKey: KeyObject;
  publicJwk: PayloadSealingKey;
}

/** @returns the pair, made at the first call on a new database */
export function createPayloadSealingKey(deps: {
  db: Pick<TenantDatabase, 'inPlatform'>;
  masterKey: MasterKey;
}): () => Promise<SealingKeyPair> {
  let known: Promise<SealingKeyPair> | undefined;
  return () => {
    known ??= deps.db
      .inPlatform(SYSTEM_ACTOR, (tx) => findOrMake(tx, deps.masterKey))
      .catch((error: unknown) => {
        // The database may have been unreachable: the next call tries again.
        known = undefined;
        throw error;
      });
    return known;
  };
}

async function findOrMake({ db }: PlatformTransaction, masterKey: MasterKey) {
  // Replicas that start together must not create one each.
  await db.$queryRaw`SELECT pg_advisory_xact_lock(hashtext(${LOCK}))::text`;
  const rows = await db.serviceKey.findMany({
    where: { purpose: PAYLOAD_SEALING, retiredAt: null },
    select: { kid: true, privateCiphertext: true },
    orderBy: { createdAt: 'desc' },
    take: MAX_ROWS,
  });
  if (rows.length > 0) return openNewest(masterKey, rows);
  const { privateKey } = await generate('x25519', undefined);
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' });
  const pair = pairOf(privateKey, await calculateJwkThumbprint(jwk));
  const { kid } = pair.publicJwk;
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  await db.serviceKey.create({
    data: {
      kid,
      purpose: PAYLOAD_SEALING,
      publicJwk: JSON.stringify(pair.publicJwk),
      privateCiphertext: masterKey.encrypt(der, serviceKeyContext(PAYLOAD_SEALING, kid)),
    },
  });
  return pair;
}

type StoredKey = Pick<ServiceKey, 'kid' | 'privateCiphertext'>;

/**
 * The newest pair that opens: whoever can only write to the database may have put rows beside it.
 *
 * @throws where none opens. A new pair would lose what data planes have sealed to the old one.
 */
function openNewest(masterKey: MasterKey, rows: readonly StoredKey[]): SealingKeyPair {
  let fault: unknown;
  for (const { kid, privateCiphertext } of rows) {
    try {
      const der = masterKey.decrypt(privateCiphertext, serviceKeyContext(PAYLOAD_SEALING, kid));
      return pairOf(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }), kid);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

/**
 * The public half is computed, and that in the row only informs: data planes would seal payloads to
 * a key that somebody wrote there.
 *
 * @throws where it is no X25519 key
 */
function pairOf(privateKey: KeyObject, kid: string): SealingKeyPair {
  const { kty, crv, x } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, publicJwk: PayloadSealingKey.parse({ kty, crv, x, kid }) };
}
