import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createMasterKey } from '../platform/master-key.ts';
import { createDataKeys, decryptUnder, encryptUnder } from './data-keys.ts';
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
});
