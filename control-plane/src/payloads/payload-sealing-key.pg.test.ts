import { createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { beforeEach, expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { serviceKeyContext } from '../platform/keys/ciphertext-kinds.ts';
import { PAYLOAD_SEALING } from '../platform/keys/key-kinds.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createPayloadSealingKey } from './payload-sealing-key.ts';

const { db, superuser } = await testDatabase();
const masterKey = createMasterKey(new Secret(randomBytes(32)));
/** As a replica has it that has just started. */
const sealingKey = createReplica(masterKey);

function createReplica(key: typeof masterKey) {
  return () => createPayloadSealingKey({ db, masterKey: key })();
}

beforeEach(async () => {
  await superuser.query('DELETE FROM service_keys');
});

/** A key pair of somebody who can write to the database alone. */
async function aStranger() {
  const { publicKey } = generateKeyPairSync('x25519');
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}

it('is one of all replicas', async () => {
  const [one, other] = await Promise.all([sealingKey(), sealingKey()]);
  expect(other.publicJwk).toEqual(one.publicJwk);
});

it('is shown as what its private half opens, whatever its row says', async () => {
  const { publicJwk } = await sealingKey();
  const stranger = await aStranger();
  for (const said of [
    JSON.stringify(stranger),
    JSON.stringify({ ...publicJwk, x: stranger.x }),
    'x',
  ]) {
    await superuser.query('UPDATE service_keys SET public_jwk = $1', [said]);
    const found = await sealingKey();
    expect(found.publicJwk).toEqual(publicJwk);
    const { x } = createPublicKey(found.privateKey).export({ format: 'jwk' });
    expect(x).toBe(publicJwk.x);
  }
});

it('is not another because of a row that somebody without the master key put beside it', async () => {
  const { publicJwk } = await sealingKey();
  const stranger = await aStranger();
  const insert = (kid: string, ciphertext: Uint8Array) =>
    superuser.query(
      `INSERT INTO service_keys (kid, purpose, public_jwk, private_ciphertext, created_at)
       VALUES ($1, $2, $3, $4, now() + interval '1 day')`,
      [kid, PAYLOAD_SEALING, JSON.stringify(stranger), Buffer.from(ciphertext)],
    );
  await insert(stranger.kid, randomBytes(80));
  expect((await sealingKey()).publicJwk).toEqual(publicJwk);
  // What opens and is no such key: a signing key of the service, say.
  const { privateKey } = generateKeyPairSync('ed25519');
  const der = privateKey.export({ format: 'der', type: 'pkcs8' });
  await insert('signs', masterKey.encrypt(der, serviceKeyContext(PAYLOAD_SEALING, 'signs')));
  expect((await sealingKey()).publicJwk).toEqual(publicJwk);
});

it('is not made anew where no row opens: what was sealed to it would be lost', async () => {
  await sealingKey();
  const other = createReplica(createMasterKey(new Secret(randomBytes(32))));
  await expect(other()).rejects.toThrow('SERVICE_MASTER_KEY');
  const { rows } = await superuser.query('SELECT kid FROM service_keys');
  expect(rows).toHaveLength(1);
});
