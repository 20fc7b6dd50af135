import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createDataKeys, decryptUnder, encryptUnder } from './data-keys.ts';
import { type KeyProvider, KeyProviderError } from './key-provider.ts';
import { createKeyProviders } from './key-providers.ts';

const test = await testDatabase();
const providers = createKeyProviders(createMasterKey(new Secret(randomBytes(32))));
let at = Date.parse('2026-03-01T00:00:00Z');
const dataKeys = () => createDataKeys({ db: test.db, providers, now: () => new Date(at) });
const choice = { purpose: 'payload', provider: 'local', keyId: '' } as const;

it('a data key is a tenant’s own, of one purpose, and renewed after 30 days', async () => {
  const [scope, others] = [await aTenant(test), await aTenant(test)];
  const first = await dataKeys().current(scope, choice);
  // Another replica finds it, and decrypts by it.
  expect(await dataKeys().current(scope, choice)).toEqual(first);
  const sealed = encryptUnder(first, Buffer.from('the text'), { event_id: 'a' });
  const found = await dataKeys().find(scope, first.id, 'payload');
  expect(decryptUnder(found, sealed, { event_id: 'a' }).toString()).toBe('the text');
  expect(() => decryptUnder(found, sealed, { event_id: 'b' })).toThrow();
  await expect(dataKeys().find(others, first.id, 'payload')).rejects.toThrow('gone');
  await expect(dataKeys().find(scope, first.id, 'siem_credential')).rejects.toThrow('gone');
  const siem = await dataKeys().current(scope, { ...choice, purpose: 'siem_credential' });
  expect(siem.id).not.toBe(first.id);
  at += 31 * 86_400_000;
  const second = await dataKeys().current(scope, choice);
  expect(second.id).not.toBe(first.id);
  expect(await dataKeys().find(scope, first.id, 'payload')).toEqual(first);
  // Nor is one used for years that was made while the clock showed them.
  at -= 400 * 86_400_000;
  const third = await dataKeys().current(scope, choice);
  expect([first.id, second.id]).not.toContain(third.id);
  at += 400 * 86_400_000;
});

it('goes on with a new one where the old version of the key is disabled, and makes none in an outage', async () => {
  let version = 1;
  let oldest = 1;
  let isAway = false;
  const vault: KeyProvider = {
    wrap: async (_keyId, key) => {
      if (isAway) throw new KeyProviderError('Vault cannot be reached');
      return Buffer.from([version, ...key]);
    },
    unwrap: async (_keyId, wrapped) => {
      if (isAway) throw new KeyProviderError('Vault cannot be reached');
      if ((wrapped[0] ?? 0) < oldest) throw new KeyProviderError('Vault answered with 400');
      return Buffer.from(wrapped.subarray(1));
    },
    findKeyIdFault: () => null,
  };
  const versioned = createKeyProviders(createMasterKey(new Secret(randomBytes(32))), { vault });
  const inVault = { purpose: 'payload', provider: 'vault', keyId: 'payloads' } as const;
  const scope = await aTenant(test);
  // Without a memory of keys in clear.
  const current = () =>
    createDataKeys({ db: test.db, providers: versioned, now: () => new Date(at) }).current(
      scope,
      inVault,
    );
  const first = await current();
  isAway = true;
  await expect(current()).rejects.toThrow('cannot be reached');
  isAway = false;
  expect(await current()).toEqual(first);
  [version, oldest] = [2, 2];
  at += 1_000;
  const second = await current();
  expect(second.id).not.toBe(first.id);
  expect(await current()).toEqual(second);
  // A key that can only encrypt is no help.
  oldest = 3;
  await expect(current()).rejects.toThrow('answered with 400');
});

it('uses no key that its provider cannot give back, or gives back as another one', async () => {
  let wrap = async (_keyId: string, key: Uint8Array) => Buffer.from(key);
  let unwrap = async (_keyId: string, wrapped: Uint8Array) => Buffer.from(wrapped);
  const vault: KeyProvider = {
    wrap: (keyId, key) => wrap(keyId, key),
    unwrap: (keyId, wrapped) => unwrap(keyId, wrapped),
    findKeyIdFault: () => null,
  };
  const lying = createKeyProviders(createMasterKey(new Secret(randomBytes(32))), { vault });
  const inVault = { purpose: 'payload', provider: 'vault', keyId: 'payloads' } as const;
  const scope = await aTenant(test);
  const afresh = () => createDataKeys({ db: test.db, providers: lying, now: () => new Date(at) });
  const [honestWrap, honestUnwrap] = [wrap, unwrap];
  const another = async () => randomBytes(32);

  wrap = another;
  await expect(afresh().current(scope, inVault)).rejects.toThrow(KeyProviderError);
  wrap = honestWrap;
  const key = await afresh().current(scope, inVault);

  unwrap = another;
  await expect(afresh().current(scope, inVault)).rejects.toThrow('to another one');
  await expect(afresh().find(scope, key.id, 'payload')).rejects.toThrow('to another one');
  unwrap = honestUnwrap;
  expect(await afresh().current(scope, inVault)).toEqual(key);
  expect(await afresh().find(scope, key.id, 'payload')).toEqual(key);
});
