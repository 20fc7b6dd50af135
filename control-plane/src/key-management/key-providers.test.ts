import { randomBytes } from 'node:crypto';
import { Secret } from '@governance/shared/settings';
import { describe, expect, it } from 'vitest';
import { createMasterKey } from '../platform/master-key.ts';
import { createAwsProvider } from './aws-provider.ts';
import type { KeyProvider } from './key-provider.ts';
import { createKeyProviders } from './key-providers.ts';
import { createLocalProvider } from './local-provider.ts';
import { createAwsDouble } from './testing/aws-double.ts';
import { listen } from './testing/listen.ts';
import { createVaultDouble } from './testing/vault-double.ts';
import { createVaultProvider } from './vault-provider.ts';

const masterKey = createMasterKey(new Secret(randomBytes(32)));
const context = { tenant_id: '0190aaaa-0000-7000-8000-000000000001', purpose: 'payload' };
const other = { ...context, tenant_id: '0190aaaa-0000-7000-8000-000000000002' };

const account = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', region: 'eu-west-1' };
const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
const endpoint = await listen(createAwsDouble(account, [ARN, 'alias/payloads']));
const aws = (credentials = account) =>
  createAwsProvider({ region: 'eu-west-1', client: { endpoint, credentials } });

const vaultDouble = createVaultDouble('the-token', ['payloads']);
const address = await listen(vaultDouble.listener);
const vault = (token = 'the-token') =>
  createVaultProvider({ address, token: new Secret(token), mount: 'transit' });

const providers: [string, KeyProvider, string][] = [
  ['local', createLocalProvider(masterKey), ''],
  ['aws', aws(), ARN],
  ['aws by an alias', aws(), 'alias/payloads'],
  ['vault', vault(), 'payloads'],
];

describe.each(providers)('%s', (_name, provider, keyId) => {
  it('gives a data key back in its own context alone', async () => {
    const dataKey = randomBytes(32);
    const wrapped = await provider.wrap(keyId, dataKey, context);
    expect(Buffer.from(wrapped).includes(dataKey)).toBe(false);
    expect(await provider.unwrap(keyId, wrapped, context)).toEqual(dataKey);
    await expect(provider.unwrap(keyId, wrapped, other)).rejects.toThrow(/.+/);
    const purpose = { ...context, purpose: 'siem_credential' };
    await expect(provider.unwrap(keyId, wrapped, purpose)).rejects.toThrow(/.+/);
  });
});

it.each([
  ['aws', aws({ ...account, secretAccessKey: 'wrong' }), ARN, 'InvalidSignatureException'],
  ['aws, an unknown key', aws(), ARN.replace('1234abcd', '9999abcd'), 'NotFoundException'],
  ['vault', vault('wrong'), 'payloads', '403'],
  ['vault, an unknown key', vault(), 'others', '404'],
])('says why a trial fails: %s', async (_name, provider, keyId, text) => {
  const tried = createKeyProviders(masterKey, { aws: provider }).tryOut('aws', keyId, context);
  await expect(tried).rejects.toThrow(text);
});

it.each([
  ['aws', aws(), ['', 'https://kms.example', 'arn:aws:s3:::bucket', '../key']],
  ['vault', vault(), ['', '../../sys/seal', 'a/b', 'key?x=1', '.']],
])('%s takes no key id that is none', async (_name, provider, keyIds) => {
  for (const keyId of keyIds) {
    expect(provider.findKeyIdFault(keyId)).not.toBeNull();
    await expect(provider.wrap(keyId, randomBytes(32), context)).rejects.toThrow('kms_key_id');
  }
  expect(provider.findKeyIdFault(null)).not.toBeNull();
});

it('a provider that is not set up is none', () => {
  expect(() => createKeyProviders(masterKey).get('azure')).toThrow('not set up');
});

it('a Vault that is away or ill is said so, without its token', async () => {
  vaultDouble.failure = 503;
  await expect(vault().wrap('payloads', randomBytes(32), context)).rejects.toThrow('503');
  vaultDouble.failure = null;
  const gone = createVaultProvider({
    address: 'http://127.0.0.1:1',
    token: new Secret('the-token'),
    mount: 'transit',
  });
  await expect(gone.wrap('payloads', randomBytes(32), context)).rejects.toThrow('reached');
});
