import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Secret } from '@governance/shared/settings';
import { describe, expect, it, vi } from 'vitest';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createAwsProvider } from './aws-provider.ts';
import { createAzureProvider } from './azure-provider.ts';
import { crc32c } from './crc32c.ts';
import { createGcpProvider } from './gcp-provider.ts';
import { type KeyProvider, KeyProviderError } from './key-provider.ts';
import { createKeyProviders } from './key-providers.ts';
import { createLocalProvider } from './local-provider.ts';
import { listen } from './testing/listen.ts';
import {
  AWS_KEY,
  AZURE_CLIENT,
  GCP_KEY,
  providerDoubles,
  stranger,
} from './testing/provider-doubles.ts';
import { createVaultProvider } from './vault-provider.ts';

const masterKey = createMasterKey(new Secret(randomBytes(32)));
const context = { tenant_id: '0190aaaa-0000-7000-8000-000000000001', purpose: 'payload' };
const other = { ...context, tenant_id: '0190aaaa-0000-7000-8000-000000000002' };

const doubles = await providerDoubles();
const { account, serviceAccount, vaultUrl, vaultDouble, gcpDouble, azureDouble } = doubles;
const { aws, vault, gcp, azure } = doubles;
const wrong = doubles.wrong();
// A managed identity, as in an App Service: the SDK's DefaultAzureCredential finds it.
vi.stubEnv('IDENTITY_ENDPOINT', `${vaultUrl}/identity`);
vi.stubEnv('IDENTITY_HEADER', azureDouble.identitySecret);

const providers: [string, KeyProvider, string][] = [
  ['local', createLocalProvider(masterKey), ''],
  ['aws', aws(), AWS_KEY],
  ['aws by an alias', aws(), 'alias/payloads'],
  ['vault', vault(), 'payloads'],
  ['gcp', gcp(), GCP_KEY],
  ['azure', azure(), 'payloads'],
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
    const changed = Buffer.from(wrapped);
    changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1;
    await expect(provider.unwrap(keyId, changed, context)).rejects.toThrow(KeyProviderError);
  });
});

it.each([
  ['aws', wrong.aws, AWS_KEY, 'InvalidSignatureException'],
  ['aws, an unknown key', aws(), AWS_KEY.replace('1234abcd', '9999abcd'), 'NotFoundException'],
  ['vault', wrong.vault, 'payloads', '403'],
  ['vault, an unknown key', vault(), 'others', '404'],
  ['gcp', wrong.gcp, GCP_KEY, '401'],
  ['gcp, an unknown key', gcp(), GCP_KEY.replace('payloads', 'others'), '404'],
  ['azure', wrong.azure, 'payloads', 'Unauthorized'],
  ['azure, an unknown key', azure(), 'strange', 'KeyNotFound'],
  ['azure, an unknown version', azure(), `payloads/${'0'.repeat(32)}`, 'KeyNotFound'],
])('says why a trial fails: %s', async (_name, provider, keyId, text) => {
  const tried = createKeyProviders(masterKey, { aws: provider }).tryOut('aws', keyId, context);
  await expect(tried).rejects.toThrow(text);
});

it.each([
  ['aws', aws(), ['', 'https://kms.example', 'arn:aws:s3:::bucket', '../key']],
  ['vault', vault(), ['', '../../sys/seal', 'a/b', 'key?x=1', '.']],
  [
    'gcp',
    gcp(),
    ['', 'payloads', `${GCP_KEY}/cryptoKeyVersions/1`, GCP_KEY.replace('europe', '..')],
  ],
  [
    'azure',
    azure(),
    ['', 'https://evil.example/keys/payloads', '../secrets/x', 'payloads/1', 'a?b'],
  ],
])('%s takes no key id that is none', async (_name, provider, keyIds) => {
  for (const keyId of keyIds) {
    expect(provider.findKeyIdFault(keyId)).not.toBeNull();
    await expect(provider.wrap(keyId, randomBytes(32), context)).rejects.toThrow('kms_key_id');
  }
  expect(provider.findKeyIdFault(null)).not.toBeNull();
});

it('a key of Azure goes on as its newest version, and opens what older ones wrapped', async () => {
  const [first, second] = [randomBytes(32), randomBytes(32)];
  const before = await azure().wrap('others', first, context);
  azureDouble.rotate('others');
  const after = await azure().wrap('others', second, context);
  expect(await azure().unwrap('others', before, context)).toEqual(first);
  expect(await azure().unwrap('others', after, context)).toEqual(second);
});

const GARBAGE: [string, (answer: Record<string, unknown>) => unknown][] = [
  ['nothing', () => ({})],
  ['no JSON', () => 'a page'],
  ['another form', () => ({ ciphertext: [1], plaintext: {}, value: 7, key: 'x' })],
  ['something large', () => ({ ciphertext: 'A'.repeat(1e6), plaintext: 'A'.repeat(1e6) })],
];

it.each(
  GARBAGE,
)('a provider that answers with %s is none, and its answer is not shown', async (_, change) => {
  const wrapped = {
    gcp: await gcp().wrap(GCP_KEY, randomBytes(32), context),
    azure: await azure().wrap('payloads', randomBytes(32), context),
  };
  gcpDouble.change = change;
  azureDouble.change = change;
  try {
    for (const [provider, keyId, known] of [
      [gcp(), GCP_KEY, wrapped.gcp],
      [azure(), 'payloads', wrapped.azure],
    ] as const) {
      await expect(provider.wrap(keyId, randomBytes(32), context)).rejects.toThrow(
        KeyProviderError,
      );
      await expect(provider.unwrap(keyId, known, context)).rejects.toThrow(KeyProviderError);
    }
  } finally {
    gcpDouble.change = null;
    azureDouble.change = null;
  }
});

it.each([
  ['a checksum that is not its own', { ciphertextCrc32c: '1' }],
  ['bytes that are not those of the checksum', { ciphertext: 'AAAA' }],
  ['a plaintext that it did not verify', { verifiedPlaintextCrc32c: false }],
  ['a context that it did not see', { verifiedAdditionalAuthenticatedDataCrc32c: false }],
])('Cloud KMS that answers with %s is not believed', async (_, changed) => {
  gcpDouble.change = (answer) => ({ ...answer, ...changed });
  await expect(gcp().wrap(GCP_KEY, randomBytes(32), context)).rejects.toThrow(
    /corrupted|other bytes/,
  );
  gcpDouble.change = null;
});

it('Cloud KMS whose credentials are missing is asked once they are there', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
  const file = join(folder, 'credentials.json');
  vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', file);
  const provider = gcp(null);
  // The SDK must leave no rejection behind: it would end the process.
  for (let n = 0; n < 2; n++) {
    await expect(provider.wrap(GCP_KEY, randomBytes(32), context)).rejects.toThrow('ENOENT');
  }
  writeFileSync(file, JSON.stringify({ type: 'service_account', ...serviceAccount }));
  const dataKey = randomBytes(32);
  const wrapped = await provider.wrap(GCP_KEY, dataKey, context);
  expect(await provider.unwrap(GCP_KEY, wrapped, context)).toEqual(dataKey);
  rmSync(folder, { recursive: true });
});

it('checksums are those of CRC-32C', () => {
  // RFC 3720, appendix B.4, and the usual check value.
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
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

it.each([
  ['nothing', () => undefined],
  ['a beginning', (response: ServerResponse) => void response.writeHead(200).write('{')],
])('AWS that answers with %s is not waited for', async (_what, answer) => {
  const silent = await listen((_request, response) => answer(response));
  const client = { endpoint: silent, credentials: account };
  const provider = createAwsProvider({ region: 'eu-west-1', client, timeoutMs: 200 });
  await expect(provider.wrap(AWS_KEY, randomBytes(32), context)).rejects.toThrow(
    'not answer in time',
  );
});

it.each<[string, (address: string) => KeyProvider, string]>([
  [
    'Vault',
    (address) => createVaultProvider({ address, token: new Secret('t'), mount: 'transit' }),
    'payloads',
  ],
  [
    'AWS KMS',
    (endpoint) =>
      createAwsProvider({ region: 'eu-west-1', client: { endpoint, credentials: account } }),
    AWS_KEY,
  ],
  [
    'Cloud KMS',
    (address) =>
      createGcpProvider({
        endpoint: new URL(address).host,
        client: { protocol: 'http', credentials: serviceAccount },
      }),
    GCP_KEY,
  ],
  [
    'Key Vault',
    (vaultUrl) => createAzureProvider({ vaultUrl, client: AZURE_CLIENT, credential: stranger }),
    'payloads',
  ],
])('an answer of %s is read no further than any of its answers goes', async (_what, make, keyId) => {
  let sent = 0;
  const endless = await listen((_request, response) => {
    const more = () => {
      if (response.destroyed) return;
      sent += 65_536;
      response.write('x'.repeat(65_536), () => setImmediate(more));
    };
    more();
  });
  const provider = make(endless);
  await expect(provider.wrap(keyId, randomBytes(32), context)).rejects.toThrow(KeyProviderError);
  expect(sent).toBeLessThan(64 * 1024 * 1024);
});

it('Key Vault that begins a compressed answer is not waited for', async () => {
  const silent = await listen((_request, response) => {
    response
      .writeHead(200, { 'content-encoding': 'gzip' })
      .write(gzipSync('{"key":').subarray(0, 9));
  });
  const provider = createAzureProvider({
    ...{ vaultUrl: silent, client: AZURE_CLIENT, credential: stranger, timeoutMs: 200 },
  });
  await expect(provider.wrap('payloads', randomBytes(32), context)).rejects.toThrow('not answer');
});
