import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@governance/shared/settings';
import { Registry } from 'prom-client';
import { beforeEach, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createDataKeys, type DataKey } from '../key-management/data-keys.ts';
import { createKeyProviders } from '../key-management/key-providers.ts';
import { SYSTEM_ACTOR, type TenantScope } from '../platform/database/tenant-scope.ts';
import {
  CIPHERTEXT_KINDS,
  dataKeyContext,
  identifierKeyContext,
  serviceKeyContext,
  upstreamCredentialContext,
} from '../platform/keys/ciphertext-kinds.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey, type MasterKey } from '../platform/keys/master-key.ts';
import { createRewrap, type RewrapDeps } from './rewrap.ts';

const test = await testDatabase();
const { db } = test;
const [oldBytes, newBytes] = [new Secret(randomBytes(32)), new Secret(randomBytes(32))];
const before = createMasterKey(oldBytes);
const both = createMasterKey(newBytes, new Secret([oldBytes.reveal()]));
const after = createMasterKey(newBytes);
const SERVERS = ['a', 'b', 'c', 'd', 'e'];

let tenants: TenantScope[] = [];
let dataKeys: DataKey[] = [];
let kids: string[] = [];

const keysOf = (masterKey: MasterKey) =>
  createDataKeys({ db, providers: createKeyProviders(masterKey), now: () => new Date() });

/** Everything that the master key encrypts, of the platform and of two tenants. */
beforeEach(async () => {
  for (const { table } of Object.values(CIPHERTEXT_KINDS)) {
    await test.superuser.query(`DELETE FROM ${table}`);
  }
  const serviceKeys = createServiceKeys({ db, masterKey: before });
  for (const purpose of ['feed-signing', 'batch-signing'] as const) {
    await serviceKeys.signingKey(purpose);
  }
  kids = (await serviceKeys.listKeys(['feed-signing', 'batch-signing'])).map(({ kid }) => kid);
  tenants = [await aTenant(test), await aTenant(test)];
  dataKeys = [];
  for (const scope of tenants) {
    const { tenantId } = scope;
    dataKeys.push(
      await keysOf(before).current(scope, { purpose: 'payload', provider: 'local', keyId: '' }),
    );
    await db.inTenant(scope, async (tx) => {
      for (const serverId of SERVERS) {
        const context = upstreamCredentialContext(tenantId, serverId);
        const credentialCiphertext = before.encrypt(Buffer.from(`of ${serverId}`), context);
        await tx.db.mcpServer.create({
          data: {
            tenantId,
            serverId,
            transport: 'streamable-http',
            url: 'https://a.example',
            credentialCiphertext,
          },
        });
      }
      const identifierKeyCiphertext = before.encrypt(
        Buffer.from(tenantId),
        identifierKeyContext(tenantId),
      );
      await tx.db.dataProtectionPolicy.upsert({
        where: { tenantId },
        create: { tenantId, identifierKeyCiphertext },
        update: { identifierKeyCiphertext },
      });
    });
  }
});

const readServer = (scope: TenantScope, serverId: string) =>
  db.inTenant(scope, (tx) =>
    tx.db.mcpServer.findFirstOrThrow({ where: { tenantId: scope.tenantId, serverId } }),
  );

/** @throws where something does not open under this key */
async function openEverything(masterKey: MasterKey): Promise<void> {
  const read = createServiceKeys({ db, masterKey });
  const purposes = ['feed-signing', 'batch-signing'] as const;
  expect((await read.listKeys(purposes)).map(({ kid }) => kid)).toEqual(kids);
  for (const purpose of purposes) expect(kids).toContain((await read.signingKey(purpose)).kid);
  for (const [i, scope] of tenants.entries()) {
    const { tenantId } = scope;
    expect(await keysOf(masterKey).find(scope, dataKeys[i]?.id ?? '', 'payload')).toEqual(
      dataKeys[i],
    );
    for (const serverId of SERVERS) {
      const { credentialCiphertext } = await readServer(scope, serverId);
      const context = upstreamCredentialContext(tenantId, serverId);
      const opened = masterKey.decrypt(credentialCiphertext ?? new Uint8Array(), context);
      expect(opened.toString()).toBe(`of ${serverId}`);
    }
    const row = await db.inTenant(scope, (tx) =>
      tx.db.dataProtectionPolicy.findUniqueOrThrow({ where: { tenantId } }),
    );
    const ciphertext = row.identifierKeyCiphertext ?? new Uint8Array();
    expect(masterKey.decrypt(ciphertext, identifierKeyContext(tenantId)).toString()).toBe(tenantId);
  }
}

function aRewrap(masterKey: MasterKey, deps: Partial<RewrapDeps> = {}) {
  const lines: string[] = [];
  const registry = new Registry();
  const log = {
    info: (message: string) => void lines.push(message),
    warn: (_: object, message: string) => void lines.push(message),
  };
  return { ...createRewrap({ db, masterKey, registry, log, batch: 2, ...deps }), lines, registry };
}

const signal = new AbortController().signal;
const TOTAL = 2 + 2 * (1 + SERVERS.length + 1);

async function countUnder(key: MasterKey): Promise<number> {
  const { ciphertexts } = await aRewrap(both).readUse();
  return ciphertexts.reduce(
    (sum, { keyId, count }) => (keyId === key.keyId ? sum + count : sum),
    0,
  );
}

it('a run that dies is continued, and afterwards the new key alone opens everything', async () => {
  expect(await countUnder(before)).toBe(TOTAL);
  let left = 4;
  const dying: RewrapDeps['db'] = {
    ...db,
    inTenant: (scope, work, options) => {
      left -= 1;
      // In the middle of a batch: nothing of it is committed.
      return db.inTenant(
        scope,
        async (tx) => {
          const result = await work(tx);
          if (left < 0) throw new Error('killed');
          return result;
        },
        options,
      );
    },
  };
  await expect(aRewrap(both, { db: dying }).task.run(signal)).rejects.toThrow('killed');
  const remaining = await countUnder(before);
  expect(remaining).toBeGreaterThan(0);
  expect(remaining).toBeLessThan(TOTAL);
  await openEverything(both);

  const next = aRewrap(both);
  await next.task.run(signal);
  expect(next.lines).toEqual([
    expect.stringContaining('SERVICE_MASTER_KEY_PREVIOUS is no longer needed'),
  ]);
  expect(await countUnder(before)).toBe(0);
  expect(await countUnder(after)).toBe(TOTAL);
  await openEverything(after);
  const metrics = await next.registry.metrics();
  expect(metrics).toContain(`governance_master_key_rewrapped_total ${remaining}`);
  expect(metrics).toContain('governance_master_key_ciphertexts{state="previous"} 0');

  // It is said once.
  await next.task.run(signal);
  expect(next.lines).toHaveLength(1);
});

it('two replicas at once do no harm to one another', async () => {
  await Promise.all([aRewrap(both).task.run(signal), aRewrap(both).task.run(signal)]);
  expect(await countUnder(after)).toBe(TOTAL);
  await openEverything(after);
});

it('a credential that changes between reading and writing stays changed', async () => {
  const [scope] = tenants as [TenantScope];
  const context = upstreamCredentialContext(scope.tenantId, 'b');
  const changed = before.encrypt(Buffer.from('another'), context);
  let isChanged = false;
  const racing: RewrapDeps['db'] = {
    ...db,
    inTenant: (of, work, options) =>
      db.inTenant(
        of,
        (tx) => {
          const executeRaw = tx.db.$executeRaw.bind(tx.db);
          const racingDb = new Proxy(tx.db, {
            get: (target, name) => {
              if (name !== '$executeRaw') return Reflect.get(target, name);
              return async (...query: Parameters<typeof executeRaw>) => {
                if (!isChanged && query.includes('b')) {
                  isChanged = true;
                  await test.superuser.query(
                    `UPDATE mcp_servers SET credential_ciphertext = $1
                     WHERE tenant_id = $2 AND server_id = 'b'`,
                    [changed, of.tenantId],
                  );
                }
                return executeRaw(...query);
              };
            },
          });
          return work({ ...tx, db: racingDb });
        },
        options,
      ),
  };
  const rewrap = aRewrap(both, { db: racing });
  await rewrap.task.run(signal);
  expect(isChanged).toBe(true);
  expect(rewrap.lines).toEqual([]);
  const rows = await test.superuser.query<{ ciphertext: Buffer }>(
    `SELECT credential_ciphertext AS ciphertext FROM mcp_servers WHERE credential_ciphertext = $1`,
    [changed],
  );
  expect(rows.rows).toHaveLength(1);
  // The next run takes it.
  await aRewrap(both).task.run(signal);
  expect(await countUnder(before)).toBe(0);
});

it('what was tampered with is left as it is, said, and holds up nothing else', async () => {
  const [scope] = tenants as [TenantScope];
  await test.superuser.query(
    `UPDATE mcp_servers SET credential_ciphertext = set_byte(credential_ciphertext, 40, 1 # get_byte(credential_ciphertext, 40))
     WHERE tenant_id = $1 AND server_id = 'a'`,
    [scope.tenantId],
  );
  const rewrap = aRewrap(both);
  await rewrap.task.run(signal);
  expect(rewrap.lines).toEqual([expect.stringContaining('does not decrypt')]);
  expect(await countUnder(before)).toBe(1);
  expect(await countUnder(after)).toBe(TOTAL - 1);
});

it('without a previous key nothing is done, and another’s ciphertexts are unknown', async () => {
  const rewrap = aRewrap(after);
  await rewrap.task.run(signal);
  const { ciphertexts } = await rewrap.readUse();
  expect(new Set(ciphertexts.map(({ state }) => state))).toEqual(new Set(['unknown']));
});

it('a run that is asked to stop stops, and does not report that all is done', async () => {
  const rewrap = aRewrap(both);
  await rewrap.task.run(AbortSignal.abort());
  expect(rewrap.lines).toEqual([]);
  expect(await countUnder(before)).toBe(TOTAL);
});

it('every source that encrypts under the master key is in the table', () => {
  const root = join(import.meta.dirname, '..');
  // These encrypt under other keys: a data plane's, and those of Google's service.
  const others = ['data-planes/sealed-facts.ts', 'key-management/gcp-provider.ts'];
  const own = ['master-key/rewrapping.ts'];
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .filter((file) => !file.includes('generated/') && !file.includes('testing/'))
    .filter((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return /\.encrypt\b\s*[(?]|\bencrypt\s*[,}:][^=;]*=\s*\w*[mM]asterKey\b/.test(text);
    });
  const listed = Object.values(CIPHERTEXT_KINDS).flatMap(({ filledBy }) => filledBy);
  expect(found.sort()).toEqual([...listed, ...others, ...own].sort());
});

it('the table and the count of the database name the same kinds', async () => {
  await db.inPlatform(SYSTEM_ACTOR, async (tx) => {
    const rows = await tx.db.$queryRaw<{ kind: string }[]>`
      SELECT DISTINCT kind FROM count_ciphertexts()`;
    expect(rows.map(({ kind }) => kind).sort()).toEqual(Object.keys(CIPHERTEXT_KINDS).sort());
  });
  const contexts = [
    serviceKeyContext('p', 'x'),
    upstreamCredentialContext('t', 'x'),
    identifierKeyContext('t'),
    dataKeyContext('t', 'p'),
  ];
  const row = { tenantId: 't', id: 'x', purpose: 'p' };
  expect(Object.values(CIPHERTEXT_KINDS).map(({ contextOf }) => contextOf(row))).toEqual(contexts);
});
