import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BundleData } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, superAdminToken, test } = await testControlPlane();
const URL = '/api/v1/admin/blast-radius';

const DEFAULTS = {
  email_recipient_limit: 50,
  min_delete_depth: 2,
  bulk_action_threshold: 100,
  config_path_prefixes: ['/etc/', '/usr/local/etc/'],
  protected_file_patterns: ['*.pem', '*.key', '*.env'],
  is_custom: false,
};

async function bundledSettings(tenantId: string) {
  const { rows } = await test.superuser.query(
    'SELECT bytes FROM bundles WHERE tenant_id = $1 ORDER BY revision DESC LIMIT 1',
    [tenantId],
  );
  const files = await unpackArchive(rows[0].bytes);
  return BundleData.parse(JSON.parse(String(files.get('data.json')))).settings.blast_radius;
}

it('has defaults, changes what is named, audits it and tells the data planes', async () => {
  const { token, scope } = await aTenantAdmin();
  const other = await aTenantAdmin();
  const patch = (body: object) => call(URL, { token, method: 'PATCH', body });
  expect((await call(URL, { token })).json()).toEqual(DEFAULTS);
  const answer = await patch({ email_recipient_limit: 5, config_path_prefixes: ['~/.ssh/'] });
  expect(answer.statusCode, answer.body).toBe(200);
  const changed = {
    ...DEFAULTS,
    email_recipient_limit: 5,
    config_path_prefixes: ['~/.ssh/'],
    is_custom: true,
  };
  expect(answer.json()).toEqual(changed);
  expect((await patch({ protected_file_patterns: [] })).json()).toEqual({
    ...changed,
    protected_file_patterns: [],
  });
  const { is_custom: _, ...settings } = { ...changed, protected_file_patterns: [] };
  expect(await bundledSettings(scope.tenantId)).toEqual(settings);
  expect((await call(URL, { token: other.token })).json()).toEqual(DEFAULTS);
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [scope.tenantId],
  );
  expect(JSON.parse(rows[0].bytes.toString())).toMatchObject({
    action: 'blast_radius_updated',
    details: {
      email_recipient_limit: 5,
      fields: ['config_path_prefixes', 'email_recipient_limit'],
      before: {
        email_recipient_limit: DEFAULTS.email_recipient_limit,
        config_path_prefixes: DEFAULTS.config_path_prefixes,
      },
    },
  });
});

it('records a change that is larger than a record by its digest', async () => {
  const { token, scope } = await aTenantAdmin();
  const names = Array.from({ length: 200 }, (_, i) => `/${i}`.padEnd(1_024, '日'));
  const patch = (body: object) => call(URL, { token, method: 'PATCH', body });
  const large = await patch({ config_path_prefixes: names });
  expect(large.statusCode, large.body).toBe(200);
  expect((await patch({ config_path_prefixes: [] })).statusCode).toBe(200);
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [scope.tenantId],
  );
  const digest = { omitted_bytes: expect.any(Number), sha256: expect.any(String) };
  const [set, cleared] = rows.map(({ bytes }) => parseRecord(bytes));
  expect(set).toMatchObject({ details: { config_path_prefixes: digest, min_delete_depth: 2 } });
  expect(cleared).toMatchObject({ details: { before: { config_path_prefixes: digest } } });
});

it.each([
  { email_recipient_limit: -1 },
  { email_recipient_limit: 1.5 },
  { min_delete_depth: 65 },
  { bulk_action_threshold: 0 },
  { bulk_action_threshold: '100' },
  { config_path_prefixes: ['etc/'] },
  { config_path_prefixes: ['/etc/*'] },
  { config_path_prefixes: Array(201).fill('/etc/') },
  { protected_file_patterns: [''] },
  { protected_file_patterns: ['x'.repeat(257)] },
  { protected_file_patterns: ['*a'.repeat(17)] },
  { is_custom: true },
])('refuses %j', async (body) => {
  const { token } = await aTenantAdmin();
  const answer = await call(URL, { token, method: 'PATCH', body });
  expect(answer.statusCode).toBe(422);
  expect(answer.json().detail).toContain(`body`);
  expect((await call(URL, { token })).json().is_custom).toBe(false);
});

it('asks a super-admin for the tenant, and answers 404 for an unknown one', async () => {
  const { scope } = await aTenantAdmin();
  const token = await superAdminToken();
  for (const more of [{}, { method: 'PATCH', body: { min_delete_depth: 3 } } as const]) {
    expect((await call(URL, { token, ...more })).statusCode).toBe(400);
    const nowhere = { 'x-tenant-id': uuidv7() };
    expect((await call(URL, { token, headers: nowhere, ...more })).statusCode).toBe(404);
    const headers = { 'x-tenant-id': scope.tenantId };
    expect((await call(URL, { token, headers, ...more })).statusCode).toBe(200);
    expect((await call(URL, more)).statusCode).toBe(401);
  }
});

it('a change of nothing leaves the defaults in force', async () => {
  const { token } = await aTenantAdmin();
  const answer = await call(URL, { token, method: 'PATCH', body: {} });
  expect(answer.json()).toEqual(DEFAULTS);
  expect((await call(URL, { token })).json()).toEqual(DEFAULTS);
});
