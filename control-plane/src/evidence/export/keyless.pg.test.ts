/** An export while the tenant's key provider gives no key. */
import { expect, it, vi } from 'vitest';
import { aShippingPlane } from '../../../../tests/support/a-shipping-plane.ts';
import { PACKAGES } from '../../../../tests/support/evidence-exports.ts';
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
  const from = new Date(Date.now() - 3_600_000).toISOString();
  const to = new Date(Date.now() + 3_600_000).toISOString();
  const asked = await plane.call(PACKAGES, { token, body: { from, to, include_payloads: true } });
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
