import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { expect, it } from 'vitest';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createServiceKeys } from './keys.ts';
import { createMasterKey } from './master-key.ts';

const { db, superuser } = await testDatabase();
const masterKey = createMasterKey(new Secret(randomBytes(32)));

it('replicas that start together make one key, and a restart finds it', async () => {
  const replicas = [1, 2, 3].map(() => createServiceKeys({ db, masterKey }));
  const keys = await Promise.all(replicas.map((replica) => replica.bundleSigningKey()));
  expect(new Set(keys.map((key) => key.kid)).size).toBe(1);

  const restarted = createServiceKeys({ db, masterKey });
  const key = await restarted.bundleSigningKey();
  expect(key.kid).toBe(keys[0]?.kid);
  expect(key.key.equals(keys[0]?.key ?? key.key)).toBe(true);
  expect(await restarted.bundleVerificationKeys()).toEqual([
    { ...key.publicJwk, alg: 'ES256', use: 'sig', kty: 'EC', crv: 'P-256' },
  ]);
});

it('keeps the private half encrypted, and bound to its key id', async () => {
  const { rows } = await superuser.query<{ private_ciphertext: Buffer; public_jwk: string }>(
    'SELECT private_ciphertext, public_jwk FROM service_keys',
  );
  expect(JSON.parse(rows[0]?.public_jwk ?? '')).not.toHaveProperty('d');
  await superuser.query(`UPDATE service_keys SET kid = 'moved'`);
  await expect(createServiceKeys({ db, masterKey }).bundleSigningKey()).rejects.toThrow();
});

it('under another master key fails, saying so', async () => {
  const other = createMasterKey(new Secret(randomBytes(32)));
  await expect(createServiceKeys({ db, masterKey: other }).bundleSigningKey()).rejects.toThrow(
    /another SERVICE_MASTER_KEY/,
  );
});
