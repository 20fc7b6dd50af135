/** The control plane as a process of its own, and the data plane's command line from the build. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureTokenKey } from '@governance/data-plane/identity/identity';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { adminApi } from './support/admin-api.ts';
import {
  builtService,
  freePort,
  type ServiceProcess,
  startService,
} from './support/service-process.ts';
import { testDatabase } from './support/test-database.ts';

const run = promisify(execFile);
const database = await testDatabase();
let service: ServiceProcess;

beforeAll(async () => {
  service = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      SERVICE_MCP_MAX_SESSIONS: '5',
    },
  });
}, 60_000);
afterAll(() => service?.dispose());

it('has management and no gateway, and says how to add a data plane', async () => {
  const admin = await adminApi(service.url, 'admin', service.adminPassword);
  const { total } = await admin.get<{ total: number }>('/api/v1/policies');
  expect(total).toBe(4);
  expect((await fetch(`${service.url}/mcp/v1`, { method: 'POST' })).status).toBe(404);
  expect(service.output()).toContain('npm run data-plane');
  // A setting of the other mode is named.
  expect(service.output()).toContain('SERVICE_MCP_MAX_SESSIONS');
  await service.stop();
  expect(service.child.exitCode).toBe(0);
});

it('is a command line of the data plane, too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'governance-cli-'));
  const port = String(await freePort());
  const command = async (...args: string[]) => {
    const script = join(await builtService(), 'service.js');
    const env = { PATH: process.env.PATH, SERVICE_DATA_DIR: folder, SERVICE_PORT: port };
    return (await run(process.execPath, [script, ...args], { env })).stdout;
  };
  try {
    // The folder of a data plane.
    ensureTokenKey(folder);
    expect(await command('kill-switch', 'engage', '--reason', 'test')).toContain('is engaged');
    expect(await command('kill-switch', 'status')).toContain('engaged for all tenants');
    expect(await command('kill-switch', 'lift')).toContain('is lifted');
    await expect(command('status')).rejects.toMatchObject({ code: 1 });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);
