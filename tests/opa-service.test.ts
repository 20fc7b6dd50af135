/** The whole service with an OPA server beside it, set up as docs/operations/opa-server.md says. */
import { createPublicKey, randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startStandalone } from '../service.ts';
import { adminApi } from './support/admin-api.ts';
import {
  findNativeOpa,
  type NativeOpa,
  NO_NATIVE_OPA,
  startNativeOpa,
} from './support/native-opa.ts';
import { freePort } from './support/service-process.ts';

const opa = findNativeOpa();

describe('a service with an OPA server', () => {
  if (opa === undefined) {
    it('is not tried where there is no opa', () => {
      console.info(`opa-service: ${NO_NATIVE_OPA}`);
      expect(findNativeOpa()).toBeUndefined();
    });
    return;
  }

  it('is ready once OPA has its bundle, and serves one tenant by one address', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'governance-opa-service-'));
    // As root, PostgreSQL's own user has to pass through.
    chmodSync(folder, 0o711);
    const dataDir = join(folder, 'data');
    const port = await freePort();
    const opaPort = await freePort();
    const password = randomBytes(12).toString('hex');
    const url = `http://127.0.0.1:${port}`;
    const env = {
      SERVICE_PORT: String(port),
      SERVICE_PUBLIC_URL: url,
      SERVICE_DATA_DIR: dataDir,
      SERVICE_ADMIN_PASSWORD: password,
      SERVICE_SUPER_ADMIN_PASSWORD: password,
      SERVICE_OPA_URL: `http://127.0.0.1:${opaPort}`,
    };
    const service = await startStandalone(env, { onFatal: () => undefined });
    let native: NativeOpa | undefined;
    try {
      const status = async (path: string) => {
        const answer = await fetch(`${url}${path}`);
        return [answer.status, await answer.json()];
      };
      expect(await status('/ready')).toMatchObject([503, { checks: { 'data plane': 'failed' } }]);
      expect(await status('/health')).toMatchObject([200, { policy_engine: 'opa: unhealthy' }]);

      const admin = await adminApi(url, 'admin', password);
      const { token } = await admin.post<{ token: string }>('/api/v1/admin/data-plane-tokens', {
        label: 'opa',
      });
      const registrations = join(dataDir, 'identity/registrations');
      const [file] = readdirSync(registrations);
      const registration = JSON.parse(readFileSync(join(registrations, file ?? ''), 'utf8'));
      const [jwk] = registration.bundle_keys;
      const key = createPublicKey({ key: jwk, format: 'jwk' }).export({
        type: 'spki',
        format: 'pem',
      });
      const config = join(folder, 'opa.json');
      const scope = registration.tenant_id;
      writeFileSync(
        config,
        JSON.stringify({
          services: { governance: { url, credentials: { bearer: { token } } } },
          keys: { [jwk.kid]: { algorithm: 'ES256', key, scope } },
          bundles: {
            governance: {
              service: 'governance',
              resource: `/api/v1/opa/bundle/${scope}`,
              signing: { keyid: jwk.kid, scope },
              polling: { long_polling_timeout_seconds: 30 },
            },
          },
        }),
      );
      const args = ['--config-file', config, '--log-level', 'error'];
      native = await startNativeOpa(opa, args, opaPort);
      const ready = () => status('/ready').then(([code]) => code);
      await expect.poll(ready, { timeout: 20_000 }).toBe(200);
      expect(await status('/health')).toMatchObject([200, { policy_engine: 'opa' }]);

      const root = await adminApi(url, 'superadmin', password);
      const second = { name: 'second', admin: { username: 'second', password } };
      await expect(root.post('/api/v1/tenants', second)).rejects.toThrow('{tenant_id}');
    } finally {
      await service.stop();
      await native?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);
});
