/** An export, and its download, while the tenant's key provider gives no key. */
import { expect, it, vi } from 'vitest';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { createEvidenceExports, PACKAGES } from '../../../../tests/support/evidence-exports.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { listen } from '../../key-management/testing/listen.ts';
import { createVaultDouble } from '../../key-management/testing/vault-double.ts';

const vault = createVaultDouble('the-token', ['payloads']);
const plane = await testControlPlane({
  env: {
    SERVICE_CHECKPOINT_SECONDS: '1',
    SERVICE_KMS_PROVIDERS: 'vault',
    SERVICE_VAULT_ADDR: await listen(vault.listener),
    SERVICE_VAULT_TOKEN: 'the-token',
  },
});

const range = () => ({
  from: new Date(Date.now() - 3_600_000).toISOString(),
  to: new Date(Date.now() + 3_600_000).toISOString(),
});

it('says so as its reason', async () => {
  const admin = await plane.aTenantAdmin();
  const { token } = admin;
  const { decide, ship } = await aShippingPlane(plane, admin);
  decide();
  await ship();
  const protect = await plane.call('/api/v1/admin/data-protection', {
    token,
    method: 'PATCH',
    body: { encryption_enabled: true, kms_provider: 'vault', kms_key_id: 'payloads' },
  });
  expect(protect.statusCode, protect.body).toBe(200);
  vault.failure = 503;
  const body = { ...range(), include_payloads: true };
  const asked = await plane.call(PACKAGES, { token, body });
  expect(asked.statusCode, asked.body).toBe(202);
  const failure = await vi.waitFor(
    async () => {
      const made = (await plane.call(`${PACKAGES}/${asked.json().id}`, { token })).json();
      expect(made.status).toBe('failed');
      return made.failure;
    },
    { timeout: 30_000, interval: 100 },
  );
  expect(failure).toMatch(/^the package's key is not to be had: .*503/);
});

it('is not begun to be sent: a download is a 503 then', async () => {
  const admin = await plane.aTenantAdmin();
  const { token } = admin;
  const { decide, ship } = await aShippingPlane(plane, admin);
  decide();
  await ship();
  vault.failure = null;
  const protect = await plane.call('/api/v1/admin/data-protection', {
    token,
    method: 'PATCH',
    body: { encryption_enabled: true, kms_provider: 'vault', kms_key_id: 'payloads' },
  });
  expect(protect.statusCode, protect.body).toBe(200);
  const { exported } = createEvidenceExports(plane, range());
  const [volume] = await exported(token, { include_payloads: true });
  const { packages } = (await plane.call(PACKAGES, { token })).json();
  const url = packages[0].volumes[0].download;
  // As after five minutes, or at another replica: the key is asked for again.
  const { rows } = await plane.test.superuser.query(
    'UPDATE data_keys SET id = gen_random_uuid() WHERE tenant_id = $1 RETURNING id',
    [admin.scope.tenantId],
  );
  await plane.test.superuser.query(
    `UPDATE evidence_packages SET plan = jsonb_set(plan, '{data_key_id}', to_jsonb($2::text))
     WHERE tenant_id = $1`,
    [admin.scope.tenantId, rows[0].id],
  );
  vault.failure = 503;
  const refused = await plane.call(url, { token });
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '5']);
  expect(refused.json().detail).toMatch(/key .* not to be had: .*503/);
  expect(refused.headers['content-disposition']).toBeUndefined();
  vault.failure = null;
  expect((await plane.call(url, { token })).rawPayload.equals(volume as Buffer)).toBe(true);
  // A piece that is damaged or gone is named, and nobody waits for its bytes.
  for (const damage of [`UPDATE evidence_chunks SET bytes = ''`, 'DELETE FROM evidence_chunks']) {
    await plane.test.superuser.query(`${damage} WHERE tenant_id = $1`, [admin.scope.tenantId]);
    const damaged = await plane.call(url, { token });
    expect(damaged.statusCode).toBe(500);
    expect(damaged.json().detail).toMatch(/evidence_chunks of the package .* volume 1, piece 0/);
  }
});
