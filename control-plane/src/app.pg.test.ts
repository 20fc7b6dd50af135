import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createLog } from '@governance/shared/process/log';
import { Secret } from '@governance/shared/settings';
import { expect, it, vi } from 'vitest';
import { testDatabase } from '../../tests/support/test-database.ts';
import { buildControlPlane, FEATURES } from './app.ts';
import { createSuperAdmin } from './auth/admin-login.ts';
import { createAdminTokens } from './auth/admin-tokens.ts';
import { parseControlPlaneConfig } from './config.ts';
import { createServiceKeys } from './platform/keys/keys.ts';
import { createMasterKey } from './platform/keys/master-key.ts';
import { createTokenKeys } from './platform/keys/token-keys.ts';

// Each replica starts a compiler of its own.
vi.setConfig({ testTimeout: 60_000 });

const test = await testDatabase();
const masterKey = new Secret(randomBytes(32));

/** A replica on the one database. */
function aReplica(password: string) {
  return buildControlPlane(
    {
      config: parseControlPlaneConfig({ SERVICE_SUPER_ADMIN_PASSWORD: 'the super-admin’s' }),
      connections: test.connections,
      masterKey,
      adminPassword: new Secret(password),
      log: createLog({ debug: false }, { write: () => {} }),
    },
    FEATURES,
  );
}

it('replicas that start at once on an empty database make one default tenant', async () => {
  const replicas = await Promise.all([1, 2].map(() => aReplica('a password')));
  await Promise.all(replicas.map((replica) => replica.start()));
  await Promise.all(replicas.map((replica) => replica.stop()));
  const { rows } = await test.superuser.query('SELECT name FROM tenants');
  expect(rows).toEqual([{ name: 'default' }]);
  const { rows: keys } = await test.superuser.query('SELECT purpose FROM service_keys ORDER BY 1');
  const purposes = keys.map(({ purpose }) => purpose);
  expect(purposes).toEqual([
    'batch-signing',
    'bundle-signing',
    'checkpoint-signing',
    'delegation-token',
    'evidence-signing',
    'feed-signing',
    'payload-sealing',
    'token-signing',
    'workflow-token',
  ]);
});

it('a replica that starts with another password ends what the old one opened', async () => {
  const before = await test.lookups.findLogin('admin');
  const replica = await aReplica('another password');
  await replica.start();
  await replica.stop();
  const after = await test.lookups.findLogin('admin');
  expect(after?.tokenVersion).toBe((before?.tokenVersion ?? 0) + 1);
  expect(after?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

it('a super-admin’s token survives a restart, and ends with the password', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = await createTokenKeys({
    serviceKeys: createServiceKeys({ db: test.db, masterKey: createMasterKey(masterKey) }),
    configured: {
      privateKey: new Secret(privateKey),
      publicKey: new Secret(publicKey),
      others: [],
    },
    now: () => new Date(),
  });
  const tokensOf = async (password: string | undefined) => {
    const given = password === undefined ? undefined : new Secret(password);
    const superAdmin = (await createSuperAdmin(given, masterKey))?.account;
    const { lookups } = test;
    const tokens = createAdminTokens({
      keys,
      publicUrl: 'https://governance.example',
      lookups,
      superAdmin,
      now: () => new Date(),
    });
    return { tokens, superAdmin };
  };
  const first = await tokensOf('one');
  if (!first.superAdmin) throw new Error('no super-admin');
  const token = await first.tokens.issue(first.superAdmin);
  const same = await tokensOf('one');
  expect(await same.tokens.authenticate(token)).toMatchObject({ role: 'super_admin' });
  for (const other of ['two', undefined]) {
    const { tokens } = await tokensOf(other);
    await expect(tokens.authenticate(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  }
});
