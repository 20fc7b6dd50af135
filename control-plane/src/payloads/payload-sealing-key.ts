/**
 * The X25519 key pair that data planes seal payloads to. It belongs to the whole service, is stored
 * with the signing keys and shared by all replicas; the private half is encrypted under the master
 * key.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { PayloadSealingKey } from '@governance/shared/data-protection-settings';
import { calculateJwkThumbprint } from 'jose';
import { serviceKeyContext } from '../platform/ciphertext-kinds.ts';
import { PAYLOAD_SEALING } from '../platform/key-kinds.ts';
import type { MasterKey } from '../platform/master-key.ts';
import {
  type PlatformTransaction,
  SYSTEM_ACTOR,
  type TenantDatabase,
} from '../platform/tenant-scope.ts';

const LOCK = 'governance.payload_sealing_key';
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
  const row = await db.serviceKey.findFirst({
    where: { purpose: PAYLOAD_SEALING, retiredAt: null },
    orderBy: { createdAt: 'desc' },
  });
  if (row) {
    const key = masterKey.decrypt(
      row.privateCiphertext,
      serviceKeyContext(PAYLOAD_SEALING, row.kid),
    );
    const privateKey = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
    return { privateKey, publicJwk: PayloadSealingKey.parse(JSON.parse(row.publicJwk)) };
  }
  const { privateKey } = await generate('x25519', undefined);
  const jwk = createPublicKey(privateKey.export({ format: 'pem', type: 'pkcs8' })).export({
    format: 'jwk',
  });
  const kid = await calculateJwkThumbprint(jwk);
  const publicJwk = PayloadSealingKey.parse({ kty: jwk.kty, crv: jwk.crv, x: jwk.x, kid });
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  await db.serviceKey.create({
    data: {
      kid,
      purpose: PAYLOAD_SEALING,
      publicJwk: JSON.stringify(publicJwk),
      privateCiphertext: masterKey.encrypt(der, serviceKeyContext(PAYLOAD_SEALING, kid)),
    },
  });
  return { privateKey, publicJwk };
}
