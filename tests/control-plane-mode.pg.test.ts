/** The control plane as a process of its own, what it loads, and the data plane's command line from the build. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureTokenKey } from '@governance/data-plane/identity/identity';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAwsDouble } from '../control-plane/src/key-management/testing/aws-double.ts';
import { listen } from '../control-plane/src/key-management/testing/listen.ts';
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
const AWS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', region: 'eu-west-1' };
const aws = await listen(createAwsDouble(AWS, ['alias/payloads']));
let service: ServiceProcess;

beforeAll(async () => {
  service = await startService({
    env: {
      SERVICE_DEPLOYMENT_MODE: 'control-plane',
      DATABASE_URL: database.url,
      SERVICE_MCP_MAX_SESSIONS: '5',
      ...KEY_SERVICES,
      NODE_OPTIONS: `--import=data:text/javascript;base64,${btoa(TELL_LIBRARIES)}`,
    },
  });
}, 60_000);
afterAll(() => service?.dispose());

/** Has the service write which packages of the key services' libraries it has loaded. */
const TELL_LIBRARIES = `
  import { createRequire } from 'node:module';
  const { cache } = createRequire(process.cwd() + '/');
  process.on('SIGUSR2', () => {
    const names = Object.keys(cache).map(
      (path) => /\\/node_modules\\/(@(?:aws-sdk|google-cloud|azure)\\/[^/]+)/.exec(path)?.[1],
    );
    console.log('libraries: ' + JSON.stringify([...new Set(names)].filter(Boolean)));
  });`;

/** All four are set up; only that of AWS is there, the others fail at once. */
const KEY_SERVICES = {
  SERVICE_KMS_PROVIDERS: 'aws,gcp,azure,vault',
  SERVICE_AWS_KMS_REGION: AWS.region,
  AWS_ENDPOINT_URL_KMS: aws,
  AWS_ACCESS_KEY_ID: AWS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: AWS.secretAccessKey,
  GOOGLE_APPLICATION_CREDENTIALS: '/nowhere/credentials.json',
  // The library sends its token over HTTPS alone.
  SERVICE_AZURE_KEY_VAULT_URL: 'http://127.0.0.1:1',
  SERVICE_VAULT_ADDR: 'http://127.0.0.1:1',
  SERVICE_VAULT_TOKEN: 'the-token',
};

async function loadedLibraries(): Promise<string[]> {
  const told = () => [...service.output().matchAll(/^libraries: (\[.*\])$/gm)];
  const before = told().length;
  service.child.kill('SIGUSR2');
  await expect.poll(() => told().length).toBe(before + 1);
  return JSON.parse(told().at(-1)?.[1] ?? '');
}

it('loads the library of a key service when that is first used, and no other', async () => {
  const admin = await adminApi(service.url, 'admin', service.adminPassword);
  const tryOut = (kms_provider: string, kms_key_id: string | null) =>
    admin.patch('/api/v1/admin/data-protection', {
      ...{ payload_mode: 'encrypted', encryption_enabled: true },
      ...{ kms_provider, kms_key_id, test_kms_connectivity: true },
    });
  await tryOut('local', null);
  await expect(tryOut('vault', 'payloads')).rejects.toThrow('vault does not work');
  expect(await loadedLibraries()).toEqual([]);

  expect(await tryOut('aws', 'alias/payloads')).toMatchObject({ kms_provider: 'aws' });
  const ofAws = await loadedLibraries();
  expect(ofAws).toContain('@aws-sdk/client-kms');
  expect(ofAws.filter((name) => !name.startsWith('@aws-sdk/'))).toEqual([]);

  const ring = 'projects/p/locations/europe/keyRings/r/cryptoKeys/k';
  await expect(tryOut('gcp', ring)).rejects.toThrow('gcp does not work');
  const ofGoogle = (await loadedLibraries()).filter((name) => !ofAws.includes(name));
  expect(ofGoogle).toContain('@google-cloud/kms');
  expect(ofGoogle.filter((name) => !name.startsWith('@google-cloud/'))).toEqual([]);

  await expect(tryOut('azure', 'payloads')).rejects.toThrow('azure does not work');
  expect(await loadedLibraries()).toEqual(
    expect.arrayContaining(['@azure/keyvault-keys', '@azure/identity']),
  );
});

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
});
