import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BundleData } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createPayloadPurge } from '../payloads/payload-purge.ts';
import { payloadStore } from '../payloads/payload-store.ts';
import { systemScope } from '../platform/database/tenant-scope.ts';

const GCP_KEY = 'projects/p/locations/europe/keyRings/r/cryptoKeys/k';
// Credentials as an operator gives them, for a Cloud KMS that is not there.
const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));
const credentials = join(folder, 'credentials.json');
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const private_key = privateKey.export({ format: 'pem', type: 'pkcs8' });
const account = { type: 'service_account', client_email: 'a@p.example', private_key };
writeFileSync(credentials, JSON.stringify(account));
vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', credentials);

const { call, aTenantAdmin, test, controlPlane } = await testControlPlane({
  env: { SERVICE_KMS_PROVIDERS: 'gcp', SERVICE_GCP_KMS_ENDPOINT: '127.0.0.1:1' },
});
const URL = '/api/v1/admin/data-protection';

let token: string;
let tenantId: string;
beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
});

const patch = (body: object) => call(URL, { token, method: 'PATCH', body });

const DEFAULTS = {
  payload_mode: 'metadata_only',
  redact_dlp_matches: false,
  redact_fields: [],
  hash_identifiers: false,
  encryption_enabled: false,
  kms_provider: null,
  kms_key_id_suffix: null,
  payload_retention_days: 30,
  strip_payload_from_stream: false,
};

async function bundledSettings() {
  const { rows } = await test.superuser.query(
    'SELECT bytes FROM bundles WHERE tenant_id = $1 ORDER BY revision DESC LIMIT 1',
    [tenantId],
  );
  const files = await unpackArchive(rows[0].bytes);
  const data = BundleData.parse(JSON.parse(String(files.get('data.json'))));
  return data.settings.data_protection;
}

it('has defaults, changes what is named, audits it and tells the data planes', async () => {
  expect((await call(URL, { token })).json()).toEqual(DEFAULTS);
  const answer = await patch({
    payload_mode: 'encrypted',
    encryption_enabled: true,
    kms_provider: 'local',
    kms_key_id: 'the-key-of-1234',
    redact_fields: ['password', 'password', 'iban'],
    test_kms_connectivity: true,
  });
  expect(answer.statusCode, answer.body).toBe(200);
  const changed = {
    ...DEFAULTS,
    payload_mode: 'encrypted',
    encryption_enabled: true,
    kms_provider: 'local',
    kms_key_id_suffix: '1234',
    redact_fields: ['password', 'iban'],
  };
  expect(answer.json()).toEqual(changed);
  expect((await patch({ payload_retention_days: 7 })).json()).toEqual({
    ...changed,
    payload_retention_days: 7,
  });
  expect((await call(URL, { token })).json()).toMatchObject({ payload_retention_days: 7 });
  expect(await bundledSettings()).toMatchObject({
    payload_mode: 'encrypted',
    redact_fields: ['password', 'iban'],
    sealing_key: { kty: 'OKP', crv: 'X25519' },
  });
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [tenantId],
  );
  const records = rows.map((row) => row.bytes.toString());
  expect(JSON.parse(records[0])).toMatchObject({
    action: 'data_protection_updated',
    details: {
      payload_mode: 'encrypted',
      kms_key_id_suffix: '1234',
      before: { payload_mode: 'metadata_only', kms_key_id_suffix: null },
    },
  });
  expect(records.join()).not.toContain('the-key-of');
  await patch({ payload_mode: 'metadata_only' });
  expect(await bundledSettings()).toMatchObject({ sealing_key: null });
});

it('a key belongs to its provider', async () => {
  await patch({ kms_provider: 'local', kms_key_id: 'the-key-of-1234' });
  const answer = await patch({ kms_provider: null });
  expect(answer.json()).toMatchObject({ kms_provider: null, kms_key_id_suffix: null });
});

it.each([
  ['encryption without a provider', { encryption_enabled: true }, 'kms_provider'],
  ['a key without a provider', { kms_key_id: 'a' }, 'kms_provider'],
  ['a trial without a provider', { test_kms_connectivity: true }, 'kms_provider'],
  ['a provider that is not set up', { kms_provider: 'vault', kms_key_id: 'k' }, 'not set up'],
  ['a key that is none', { kms_provider: 'gcp', kms_key_id: 'k' }, 'kms_key_id'],
  [
    'a provider that is away',
    { kms_provider: 'gcp', kms_key_id: GCP_KEY, test_kms_connectivity: true },
    'ECONNREFUSED',
  ],
])('400: %s, and nothing is stored', async (_, body, text) => {
  const answer = await patch({ payload_retention_days: 5, ...body });
  expect(answer.statusCode, answer.body).toBe(400);
  expect(answer.json().detail).toContain(text);
  expect((await call(URL, { token })).json()).toEqual(DEFAULTS);
});

it.each([
  ['an unknown mode', { payload_mode: 'all' }],
  ['an unknown provider', { kms_provider: 'paper' }],
  ['no retention', { payload_retention_days: 0 }],
  ['an unknown field', { kms_key: 'x' }],
  ['a hash that is no boolean', { hash_identifiers: 'yes' }],
])('422: %s', async (_, body) => {
  expect((await patch(body)).statusCode).toBe(422);
});

it('each tenant has its own', async () => {
  await patch({ payload_mode: 'full' });
  ({ token } = await aTenantAdmin());
  expect((await call(URL, { token })).json()).toEqual(DEFAULTS);
});

it('payloads end with the retention, and are counted', async () => {
  const at = Date.now();
  const insert = (eventId: string, part: 'input' | 'result', ageDays: number) =>
    controlPlane.db.inTenant(systemScope(tenantId), async (tx) => {
      const receivedAt = new Date(at - ageDays * 86_400_000);
      const row = { isEncrypted: true, dataKeyId: uuidv7(), ciphertext: new Uint8Array(1) };
      const store = payloadStore(tx);
      await store.insert({ eventId, part, deploymentId: uuidv7(), ...row, receivedAt });
      await store.count([eventId]);
    });
  const [old, young] = [uuidv7(), uuidv7()];
  await insert(old, 'input', 8);
  await insert(old, 'result', 6);
  await insert(young, 'input', 6);
  const status = async () => (await call('/api/v1/audit/retention-status', { token })).json();
  expect(await status()).toEqual({ events_with_payload: 2, purged_last_24h: 0 });
  const now = () => new Date(at);
  const purge = createPayloadPurge({ db: controlPlane.db, tokenNow: now, settledNow: now });
  await purge.run(new AbortController().signal);
  expect(await status()).toEqual({ events_with_payload: 2, purged_last_24h: 0 });
  await patch({ payload_retention_days: 7 });
  await purge.run(new AbortController().signal);
  expect(await status()).toEqual({ events_with_payload: 1, purged_last_24h: 1 });
  ({ token } = await aTenantAdmin());
  expect(await status()).toEqual({ events_with_payload: 0, purged_last_24h: 0 });
});
