import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { ConfigurationError } from '@governance/shared/settings';
import { describe, expect, it } from 'vitest';
import { parseControlPlaneConfig } from './config.ts';
import { findMissingPackages } from './key-management/key-provider.ts';

function rsaPair(modulusLength = 2048) {
  return generateKeyPairSync('rsa', {
    modulusLength,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}
const pair = rsaPair();
const production = {
  SERVICE_ENV: 'production',
  SERVICE_ADMIN_PASSWORD: 'a password',
  SERVICE_JWT_PRIVATE_KEY: pair.privateKey,
  SERVICE_JWT_PUBLIC_KEY: pair.publicKey,
  SERVICE_MASTER_KEY: randomBytes(32).toString('base64'),
};

function problemsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  try {
    parseControlPlaneConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return Object.fromEntries(error.problems.map(({ name, message }) => [name, message]));
  }
  return {};
}

describe('the control plane’s configuration', () => {
  it('starts in development from nothing', () => {
    expect(parseControlPlaneConfig({})).toMatchObject({
      env: 'development',
      deploymentMode: 'standalone',
      port: 8080,
      publicUrl: 'http://localhost:8080',
      dataDir: './.data',
      corsOrigins: [],
      debug: false,
      sseKeepaliveSeconds: 15,
    });
    expect(parseControlPlaneConfig({}).databaseUrl).toBeUndefined();
  });

  it('takes what the specification names', () => {
    const config = parseControlPlaneConfig({
      SERVICE_PORT: '9000',
      SERVICE_PUBLIC_URL: 'https://Gov.example:443/',
      SERVICE_CORS_ORIGINS_STR: 'https://A.example/, https://b.example,',
      SERVICE_SSE_KEEPALIVE_SECONDS: '3',
      SERVICE_DB_POOL_SIZE: '4',
      SERVICE_DB_MAX_OVERFLOW: '0',
      SERVICE_DEBUG: 'true',
      SERVICE_METRICS_TOKEN: '',
    });
    expect(config).toMatchObject({
      publicUrl: 'https://gov.example',
      corsOrigins: ['https://a.example', 'https://b.example'],
      sseKeepaliveSeconds: 3,
      dbPoolSize: 4,
      dbMaxOverflow: 0,
      debug: true,
    });
    expect(config.metricsToken).toBeUndefined();
  });

  it('names every variable that is wrong at once, and repeats no value', () => {
    const problems = problemsOf({
      SERVICE_ENV: 'prod',
      SERVICE_PORT: '70000',
      SERVICE_DEBUG: 'yes',
      SERVICE_DEPLOYMENT_MODE: 'cluster',
      SERVICE_MASTER_KEY: 'hunter2',
      SERVICE_JWT_PRIVATE_KEY: 'hunter2',
      DATABASE_URL: 'mysql://hunter2@db',
    });
    expect(Object.keys(problems).sort()).toEqual([
      'DATABASE_URL',
      'SERVICE_DEBUG',
      'SERVICE_DEPLOYMENT_MODE',
      'SERVICE_ENV',
      'SERVICE_JWT_PRIVATE_KEY',
      'SERVICE_MASTER_KEY',
      'SERVICE_PORT',
    ]);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  it('starts in production with what production needs', () => {
    expect(parseControlPlaneConfig(production).env).toBe('production');
  });

  it('starts in production with just the password', () => {
    expect(problemsOf({ SERVICE_ENV: 'production', SERVICE_ADMIN_PASSWORD: 'a password' })).toEqual(
      {},
    );
    expect(problemsOf({ SERVICE_ENV: 'production' })).toEqual({
      SERVICE_ADMIN_PASSWORD: 'is required in production',
    });
  });

  it('needs the master key in production with a database of its own', () => {
    const given = { ...production, SERVICE_MASTER_KEY: undefined };
    expect(problemsOf(given)).toEqual({});
    expect(problemsOf({ ...given, DATABASE_URL: 'postgresql://db/x' })).toEqual({
      SERVICE_MASTER_KEY: 'is required in production with DATABASE_URL',
    });
  });

  it('names what lies between settings beside what is wrong with one, each once', () => {
    expect(
      problemsOf({
        SERVICE_ENV: 'production',
        SERVICE_PORT: 'x',
        DATABASE_URL: 'postgresql://db/x',
        SERVICE_MASTER_KEY: 'x',
        SERVICE_JWT_PUBLIC_KEY: pair.publicKey,
      }),
    ).toEqual({
      SERVICE_PORT: expect.any(String),
      SERVICE_MASTER_KEY: expect.stringContaining('32 bytes'),
      SERVICE_ADMIN_PASSWORD: 'is required in production',
      SERVICE_JWT_PRIVATE_KEY: 'is needed with SERVICE_JWT_PUBLIC_KEY',
    });
  });

  it('does not start with a key provider that could never answer', () => {
    const problemOf = (list: string) => problemsOf({ SERVICE_KMS_PROVIDERS: list });
    expect(problemOf('aws,paper').SERVICE_KMS_PROVIDERS).toContain('local, aws, gcp, azure, vault');
    // The libraries are there, since tests run them; in a folder of its own they would be found too.
    expect(problemOf('aws,azure')).toEqual({
      SERVICE_AZURE_KEY_VAULT_URL: 'is needed with azure in SERVICE_KMS_PROVIDERS',
    });
    const missing = findMissingPackages('azure', (name) => {
      if (name === '@azure/identity') throw new Error('not there');
    });
    expect(missing).toEqual(['@azure/identity@~4.13']);
  });

  it('wants both halves of one key pair, in any mode', () => {
    const { SERVICE_JWT_PRIVATE_KEY, SERVICE_JWT_PUBLIC_KEY } = production;
    expect(problemsOf({ SERVICE_JWT_PRIVATE_KEY })).toHaveProperty('SERVICE_JWT_PUBLIC_KEY');
    expect(problemsOf({ SERVICE_JWT_PUBLIC_KEY })).toHaveProperty('SERVICE_JWT_PRIVATE_KEY');
    const other = rsaPair().publicKey;
    expect(problemsOf({ SERVICE_JWT_PRIVATE_KEY, SERVICE_JWT_PUBLIC_KEY: other })).toEqual({
      SERVICE_JWT_PUBLIC_KEY: 'is not the public half of SERVICE_JWT_PRIVATE_KEY',
    });
  });

  it('refuses RSA keys that are too short, and other kinds', () => {
    const short = rsaPair(1024);
    expect(problemsOf({ SERVICE_JWT_PRIVATE_KEY: short.privateKey })).toHaveProperty(
      'SERVICE_JWT_PRIVATE_KEY',
    );
    const { privateKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    expect(problemsOf({ SERVICE_JWT_PRIVATE_KEY: privateKey })).toHaveProperty(
      'SERVICE_JWT_PRIVATE_KEY',
    );
  });

  it('reads a PEM that an env file holds in one line', () => {
    const oneLine = (pem: string) => pem.replaceAll('\n', '\\n');
    expect(
      problemsOf({
        SERVICE_JWT_PRIVATE_KEY: oneLine(pair.privateKey),
        SERVICE_JWT_PUBLIC_KEY: oneLine(pair.publicKey),
      }),
    ).toEqual({});
  });

  it('shows no secret, however it is printed', async () => {
    const { inspect } = await import('node:util');
    const config = parseControlPlaneConfig({ ...production, DATABASE_URL: 'postgres://u:pw@db/x' });
    const shown = inspect(config, { depth: 9 }) + JSON.stringify(config) + String(config.masterKey);
    for (const secret of ['a password', 'pw@', production.SERVICE_MASTER_KEY, 'PRIVATE KEY']) {
      expect(shown).not.toContain(secret);
    }
    expect(config.adminPassword?.reveal()).toBe('a password');
  });
});
