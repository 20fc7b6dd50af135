/** What starts with just the settings that production asks for, and what does not start at all. */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigurationError } from '@governance/shared/settings';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type RunningService, startStandalone } from '../service.ts';
import { adminApi } from './support/admin-api.ts';
import { freePort } from './support/service-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'production-'));

beforeAll(() => {
  // As root, PostgreSQL's own user has to pass through.
  chmodSync(folder, 0o711);
  vi.spyOn(console, 'log').mockImplementation(() => undefined);
});
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

it('production starts with a password alone, keeps the keys that it makes, and shows no metrics', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const dataDir = join(folder, 'data');
  const password = 'the password of the administrator';
  const env = {
    SERVICE_ENV: 'production',
    SERVICE_ADMIN_PASSWORD: password,
    SERVICE_PORT: String(port),
    SERVICE_PUBLIC_URL: url,
    SERVICE_DATA_DIR: dataDir,
    SERVICE_WEBHOOK_URL: 'http://127.0.0.1:9/alerts',
  };
  const files = ['master-key', 'webhook-secret'].map((name) => join(dataDir, name));
  const read = () => files.map((file) => readFileSync(file, 'utf8'));
  const start = () => startStandalone(env, { onFatal: () => undefined });
  let service: RunningService = await start();
  try {
    const { token } = await adminApi(url, 'admin', password);
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
    const kept = read();
    const metrics = await fetch(`${url}/metrics`);
    expect([metrics.status, await metrics.json()]).toEqual([
      403,
      { detail: expect.stringContaining('SERVICE_METRICS_TOKEN') },
    ]);
    await service.stop();
    service = await start();
    expect(read()).toEqual(kept);
    const agents = await fetch(`${url}/api/v1/agents`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(agents.status).toBe(200);
  } finally {
    await service.stop();
  }
}, 120_000);

it('names what is wrong with either plane, and between settings, at once', async () => {
  const given = startStandalone(
    {
      SERVICE_ENV: 'production',
      SERVICE_PORT: 'x',
      SERVICE_WORKERS: '2',
      SERVICE_DB_POOL_SIZE: 'many',
      SERVICE_OPA_FAIL_CLOSED: 'false',
      SERVICE_MCP_SERVERS_FILE: join(folder, 'missing.json'),
      SERVICE_TRUSTED_PROXIES: 'somewhere',
      DATABASE_URL: 'postgresql://127.0.0.1:1/x',
    },
    { onFatal: () => undefined },
  );
  const error = await given.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigurationError);
  const names = (error as ConfigurationError).problems.map(({ name }) => name);
  expect(names.sort()).toEqual([
    'SERVICE_ADMIN_PASSWORD',
    'SERVICE_DB_POOL_SIZE',
    'SERVICE_MASTER_KEY',
    'SERVICE_MCP_SERVERS_FILE',
    'SERVICE_OPA_FAIL_CLOSED',
    'SERVICE_PORT',
    'SERVICE_TRUSTED_PROXIES',
    'SERVICE_WORKERS',
  ]);
});
