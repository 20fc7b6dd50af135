import { randomBytes } from 'node:crypto';
import { StartError } from '@governance/shared/process/start-error';
import { Secret } from '@governance/shared/settings';
import { beforeEach, expect, it } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { SERVICE_KEY_PURPOSES } from './key-kinds.ts';
import { createServiceKeys } from './keys.ts';
import { createMasterKey } from './master-key.ts';
import { prepareServiceKeys } from './prepare-keys.ts';

const { db, superuser } = await testDatabase();
const masterKey = createMasterKey(new Secret(randomBytes(32)));
let told: unknown[];
const log = { error: (fields: object) => void told.push(fields) };

async function prepare(key = masterKey) {
  const serviceKeys = createServiceKeys({ db, masterKey: key });
  await prepareServiceKeys(serviceKeys, SERVICE_KEY_PURPOSES, log);
  return serviceKeys;
}

async function countRows(): Promise<number> {
  const { rows } = await superuser.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM service_keys',
  );
  return rows[0]?.n ?? 0;
}

beforeEach(async () => {
  told = [];
  await superuser.query('DELETE FROM service_keys');
  await prepare();
});

it('makes a key of each purpose once', async () => {
  await prepare();
  expect(await countRows()).toBe(SERVICE_KEY_PURPOSES.length);
  expect(told).toEqual([]);
});

it.each(
  SERVICE_KEY_PURPOSES,
)('goes on where the only key of %s is damaged, which alone is refused then', async (damaged) => {
  for (const set of [
    'private_ciphertext = set_byte(private_ciphertext, 40, get_byte(private_ciphertext, 40) # 1)',
    `private_ciphertext = '\\x00'`,
    `public_jwk = '{"kty":"\\ud800"}'`,
    `revoked_at = now()`,
  ]) {
    told = [];
    await superuser.query(`UPDATE service_keys SET ${set} WHERE purpose = $1`, [damaged]);
    const serviceKeys = await prepare();
    expect(told).toMatchObject([{ purpose: damaged, err: { code: 'UNAVAILABLE' } }]);
    for (const purpose of SERVICE_KEY_PURPOSES) {
      const asked = serviceKeys.signingKey(purpose).then(
        () => 'signs',
        ({ code }) => code,
      );
      expect(await asked).toBe(purpose === damaged ? 'UNAVAILABLE' : 'signs');
    }
  }
});

it('under another master key ends the start, saying so, and makes no key', async () => {
  await superuser.query(`DELETE FROM service_keys WHERE purpose = 'bundle-signing'`);
  const other = createMasterKey(new Secret(randomBytes(32)));
  const failure = prepare(other);
  await expect(failure).rejects.toThrow(StartError);
  await expect(failure).rejects.toThrow(
    `another SERVICE_MASTER_KEY (its id is ${masterKey.keyId}) than the one given`,
  );
  expect(await countRows()).toBe(SERVICE_KEY_PURPOSES.length - 1);
});
