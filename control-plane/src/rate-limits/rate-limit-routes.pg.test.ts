import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BundleData } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_RATE_LIMITS } from '@governance/shared/settings/rate-limit-settings';
import { expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, superAdminToken, test } = await testControlPlane();
const URL = '/api/v1/admin/rate-limits';
const DEFAULTS = { ...DEFAULT_RATE_LIMITS, is_custom: false };

it('has defaults, changes what is named, audits it and tells the data planes', async () => {
  const { token, scope } = await aTenantAdmin();
  const other = await aTenantAdmin();
  expect((await call(URL, { token })).json()).toEqual(DEFAULTS);
  const body = {
    limits: { critical: { requests: 5 }, high: { requests: 40, window_seconds: 10 } },
  };
  const answer = await call(URL, { token, method: 'PATCH', body });
  expect(answer.statusCode, answer.body).toBe(200);
  const limits = {
    ...DEFAULTS.limits,
    critical: { requests: 5, window_seconds: 60 },
    high: { requests: 40, window_seconds: 10 },
  };
  expect(answer.json()).toEqual({ enabled: true, limits, is_custom: true });
  const off = await call(URL, { token, method: 'PATCH', body: { enabled: false } });
  expect(off.json()).toEqual({ enabled: false, limits, is_custom: true });
  expect((await call(URL, { token })).json()).toEqual(off.json());
  expect((await call(URL, { token: other.token })).json()).toEqual(DEFAULTS);

  const { rows: bundles } = await test.superuser.query(
    'SELECT bytes FROM bundles WHERE tenant_id = $1 ORDER BY revision DESC LIMIT 1',
    [scope.tenantId],
  );
  const files = await unpackArchive(bundles[0].bytes);
  const { settings } = BundleData.parse(JSON.parse(String(files.get('data.json'))));
  expect(settings.rate_limits).toEqual({ enabled: false, limits });
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [scope.tenantId],
  );
  expect(JSON.parse(rows[0].bytes.toString())).toMatchObject({
    action: 'rate_limits_updated',
    details: {
      enabled: true,
      limits: { critical: { requests: 5 } },
      before: { limits: { critical: { requests: expect.any(Number) } } },
    },
  });
});

it.each([
  { enabled: 'yes' },
  { limits: { low: { requests: 0 } } },
  { limits: { low: { requests: 1.5 } } },
  { limits: { low: { window_seconds: 3_601 } } },
  { limits: { none: { requests: 1 } } },
  // A higher tier may not be allowed more.
  { limits: { critical: { requests: 6_001 } } },
  { limits: { low: { window_seconds: 3_600, requests: 1 } } },
  // Nor more at once: as many a second, but in a longer window.
  { limits: { critical: { requests: 121, window_seconds: 600 } } },
  { is_custom: true },
])('refuses %j', async (body) => {
  const { token } = await aTenantAdmin();
  const answer = await call(URL, { token, method: 'PATCH', body });
  expect(answer.statusCode).toBe(422);
  expect(answer.json().detail).toContain('body');
  expect((await call(URL, { token })).json().is_custom).toBe(false);
});

it('tells more at once from more a second, and leaves limits of earlier versions until they change', async () => {
  const { token, scope } = await aTenantAdmin();
  const change = (body: object) => call(URL, { token, method: 'PATCH', body });
  const hour = { requests: 36_000, window_seconds: 3_600 };
  const refused = await change({ limits: { medium: hour } });
  expect(refused.statusCode).toBe(422);
  expect(refused.json().detail).toBe(
    'body.limits.medium: 36000 in 3600 s allows more requests in a window than low with 600 in 60 s; change both together',
  );
  expect((await change({ limits: { low: hour, medium: hour } })).statusCode).toBe(200);
  await test.superuser.query(
    `UPDATE rate_limit_settings SET limits = jsonb_set(limits, '{low}', $2) WHERE tenant_id = $1`,
    [scope.tenantId, JSON.stringify(DEFAULTS.limits.low)],
  );
  expect((await change({ enabled: false })).statusCode).toBe(200);
  expect((await change({ limits: { critical: { requests: 5 } } })).statusCode).toBe(422);
});

it('asks a super-admin for the tenant, and answers 404 for an unknown one', async () => {
  const { scope } = await aTenantAdmin();
  const token = await superAdminToken();
  for (const more of [{}, { method: 'PATCH', body: { enabled: false } } as const]) {
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
