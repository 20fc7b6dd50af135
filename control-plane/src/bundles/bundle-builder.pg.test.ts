import { hash } from 'node:crypto';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BundleManifest } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { Secret } from '@governance/shared/settings';
import { afterAll, describe, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { readServerSettings } from '../mcp-servers/mcp-server-service.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { createFeatureList } from '../platform/feature-list.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { policyStore, readActivePolicies } from '../policies/policy-store.ts';
import { type BundleBuilderDeps, createBundleBuilder } from './bundle-builder.ts';
import { createBundleSource } from './bundle-source.ts';

const test = await testDatabase();
const { db, superuser } = test;
const compiler = createRegoCompiler();
const masterKey = createMasterKey(new Secret(Buffer.alloc(32, 7)));
const keys = createServiceKeys({ db, masterKey });
const ends: (() => void | Promise<void>)[] = [() => compiler.close()];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const RULE = 'package p\n\nallow if input.request.action == "read"\n';

async function aPolicy(scope: TenantScope, name: string, rego = RULE): Promise<string> {
  const id = uuidv7();
  const times = { createdAt: new Date(), updatedAt: new Date() };
  const policy = { id, name, description: '', regoContent: rego, ...times };
  await db.inTenant(scope, (tx) =>
    policyStore(tx).insert(
      { ...policy, status: 'active', origin: 'custom' },
      { recordId: id, attestation: '' },
    ),
  );
  return id;
}

const aServer = (scope: TenantScope, serverId: string) =>
  db.inTenant(scope, (tx) =>
    tx.db.mcpServer.create({
      data: { tenantId: scope.tenantId, serverId, transport: 'stdio', localName: serverId },
    }),
  );

const features = createFeatureList();
features.add({ settings: { mcp_servers: readServerSettings } });
const { readSettings } = features;

/** A builder as the product makes it, that counts its compilations and tells what it did. */
function aBuilder(given: Partial<BundleBuilderDeps> = {}) {
  const log: string[] = [];
  const builder = createBundleBuilder({
    db,
    compiler: {
      sourcesDigest: compiler.sourcesDigest,
      compile: (policies) => {
        log.push('compile');
        return compiler.compile(policies);
      },
    },
    readPolicies: readActivePolicies,
    prepareCheck: async () => async () => async () => ({ unrecorded: [], savedUntil: undefined }),
    readSettings,
    signer: keys.bundleSigningKey,
    now: () => new Date(),
    observer: {
      built: () => void log.push('built'),
      doubted: async (_tenant, policies) =>
        void log.push(`doubted: ${policies.map(({ name }) => name)}`),
      settled: async () => {},
      failed: async (_tenant, error) => void log.push(`failed: ${(error as Error).message}`),
    },
    ...given,
  });
  ends.push(builder.close);
  return { builder, log };
}

async function stored({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<{ revision: string; bytes: Buffer; digest: string }>(
    'SELECT revision, bytes, digest FROM bundles WHERE tenant_id = $1 ORDER BY revision',
    [tenantId],
  );
  const { rows: heads } = await superuser.query<{ bundle_revision: string }>(
    'SELECT bundle_revision FROM tenant_heads WHERE tenant_id = $1',
    [tenantId],
  );
  const { rows: facts } = await superuser.query<{ value: string }>(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = 'bundle' ORDER BY seq`,
    [tenantId],
  );
  return {
    bundles: rows.map((row) => ({ ...row, revision: Number(row.revision) })),
    revision: Number(heads[0]?.bundle_revision),
    facts: facts.map((fact) => JSON.parse(fact.value) as { revision: number; digest: string }),
  };
}

async function membersOf(bytes: Uint8Array) {
  const files = await unpackArchive(bytes);
  const json = (name: string) => JSON.parse(files.get(name)?.toString() ?? 'null');
  return { files, manifest: BundleManifest.parse(json('.manifest')), data: json('data.json') };
}

describe('requestBuild', () => {
  it('stores the bundle, its feed entry and the revision together', async () => {
    const scope = await aTenant(test);
    const policy = await aPolicy(scope, 'one');
    const { builder, log } = aBuilder();
    const before = Date.now();
    const { revision, feedSeq } = await builder.requestBuild(scope.tenantId);
    expect(revision).toBeGreaterThanOrEqual(before);
    expect(feedSeq).toBe(1);
    expect(log).toEqual(['compile', 'built']);
    const state = await stored(scope);
    expect(state.revision).toBe(revision);
    expect(state.bundles.map((bundle) => bundle.revision)).toEqual([revision]);
    const [bundle] = state.bundles;
    expect(bundle?.digest).toBe(hash('sha256', bundle?.bytes ?? '', 'hex'));
    expect(state.facts).toEqual([{ revision, digest: bundle?.digest }]);
    const { files, manifest, data } = await membersOf(bundle?.bytes ?? Buffer.alloc(0));
    expect(manifest).toMatchObject({
      revision: String(revision),
      metadata: { tenant_id: scope.tenantId },
    });
    expect(data).toEqual({ settings: { tenant_id: scope.tenantId, mcp_servers: {} } });
    expect([...files.keys()]).toContain(`policies/${policy}/policy.rego`);
  });

  it('builds nothing when nothing has changed', async () => {
    const scope = await aTenant(test);
    await aPolicy(scope, 'one');
    const { builder, log } = aBuilder();
    const first = await builder.requestBuild(scope.tenantId);
    const again = await builder.requestBuild(scope.tenantId);
    expect(again).toEqual({ revision: first.revision, feedSeq: undefined });
    expect(log).toEqual(['compile', 'built']);
  });

  it('builds once for many requests', async () => {
    const scope = await aTenant(test);
    await aPolicy(scope, 'one');
    const { builder, log } = aBuilder();
    const built = await Promise.all(
      Array.from({ length: 50 }, () => builder.requestBuild(scope.tenantId)),
    );
    expect(new Set(built.map((one) => one.revision)).size).toBe(1);
    expect(log).toEqual(['compile', 'built']);
  });

  it('reuses the WebAssembly when only settings changed, after a restart too', async () => {
    const scope = await aTenant(test);
    await aPolicy(scope, 'one');
    await aBuilder().builder.requestBuild(scope.tenantId);
    await aServer(scope, 'files');
    const { builder, log } = aBuilder();
    await builder.requestBuild(scope.tenantId);
    expect(log).toEqual(['built']);
    const { bundles } = await stored(scope);
    const [before, after] = await Promise.all(bundles.map(({ bytes }) => membersOf(bytes)));
    expect(after?.data.settings.mcp_servers).toHaveProperty('files');
    for (const [name, bytes] of before?.files ?? []) {
      if (name.endsWith('.rego') || name.endsWith('.wasm')) {
        expect(after?.files.get(name)?.equals(bytes), name).toBe(true);
      }
    }
  });

  it('does not sign WebAssembly that somebody put into the database', async () => {
    const scope = await aTenant(test);
    await aPolicy(scope, 'one');
    await aBuilder().builder.requestBuild(scope.tenantId);
    const { bundles } = await stored(scope);
    const forged = Buffer.from(bundles[0]?.bytes ?? '');
    forged[forged.length >> 1] = (forged[forged.length >> 1] ?? 0) ^ 1;
    await superuser.query('UPDATE bundles SET bytes = $2 WHERE tenant_id = $1', [
      scope.tenantId,
      forged,
    ]);
    await aServer(scope, 'files');
    const { builder, log } = aBuilder();
    await builder.requestBuild(scope.tenantId);
    expect(log).toEqual(['compile', 'built']);
  });

  it('never lets a replica that read an older state have the last word', async () => {
    const scope = await aTenant(test);
    const names = Array.from({ length: 8 }, (_, i) => `policy ${i}`);
    const replicas = [aBuilder().builder, aBuilder().builder, aBuilder().builder];
    await Promise.all(
      names.map(async (name, i) => {
        await aPolicy(scope, name);
        await replicas[i % 3]?.requestBuild(scope.tenantId);
      }),
    );
    const { bundles, revision, facts } = await stored(scope);
    expect(bundles.at(-1)?.revision).toBe(revision);
    expect(facts.map((fact) => fact.revision)).toEqual(
      facts.map((fact) => fact.revision).sort((a, b) => a - b),
    );
    expect(facts.at(-1)?.revision).toBe(revision);
    const { files } = await membersOf(bundles.at(-1)?.bytes ?? Buffer.alloc(0));
    const own = [...files.keys()].filter((name) => name.startsWith('policies/'));
    expect(own).toHaveLength(names.length);
  });

  it('raises the revision when the clock runs back, and keeps the last five bundles', async () => {
    const scope = await aTenant(test);
    const { builder } = aBuilder({ now: () => new Date(1_000) });
    const revisions: number[] = [];
    for (let i = 0; i < 7; i++) {
      await aServer(scope, `server-${i}`);
      revisions.push((await builder.requestBuild(scope.tenantId)).revision);
    }
    expect(revisions).toEqual([1000, 1001, 1002, 1003, 1004, 1005, 1006]);
    expect((await stored(scope)).bundles.map((bundle) => bundle.revision)).toEqual(
      revisions.slice(-5),
    );
  });

  it('builds once more above a revision that a data plane has and this database lost', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    let time = 1_000_000;
    const { builder } = aBuilder({ now: () => new Date(time) });
    await aServer(scope, 'one');
    expect((await builder.requestBuild(tenantId)).revision).toBe(1_000_000);
    const revisionIs = (revision: number) =>
      expect.poll(async () => (await stored(scope)).revision).toBe(revision);
    // As after a restore: a data plane decides by rules of later.
    time += 5;
    builder.noteNewerRevision(tenantId, 1_000_003);
    await revisionIs(1_000_005);
    // One whose clock is behind, told of a revision of its future.
    const other = aBuilder({ now: () => new Date(time) }).builder;
    other.noteNewerRevision(tenantId, 1_500_000);
    await revisionIs(1_500_001);
    // Not again and again, nor for what is no time.
    other.noteNewerRevision(tenantId, 1_600_000);
    aBuilder({ now: () => new Date(time) }).builder.noteNewerRevision(tenantId, 2 ** 53 - 1);
    expect((await other.requestBuild(tenantId)).revision).toBe(1_500_001);
  });

  it('keeps the last bundle when a build fails, and reports it', async () => {
    const scope = await aTenant(test);
    const id = await aPolicy(scope, 'one');
    const { builder, log } = aBuilder();
    const { revision } = await builder.requestBuild(scope.tenantId);
    await superuser.query('UPDATE policies SET rego_content = $2 WHERE id = $1', [id, 'packag']);
    await expect(builder.requestBuild(scope.tenantId)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(log.at(-1)).toContain(`failed: the active policies do not compile: ${id} 1:1`);
    expect((await stored(scope)).revision).toBe(revision);
  });

  it('builds for every tenant that needs it, at start', async () => {
    const [one, two] = [await aTenant(test), await aTenant(test)];
    await aPolicy(one, 'one');
    const { builder } = aBuilder();
    await builder.buildAll();
    expect((await stored(one)).bundles).toHaveLength(1);
    expect((await stored(two)).bundles).toHaveLength(1);
    const before = await superuser.query('SELECT count(*) FROM bundles');
    await builder.buildAll();
    expect((await superuser.query('SELECT count(*) FROM bundles')).rows).toEqual(before.rows);
  });
});

describe('the bundle source', () => {
  const aSource = () => {
    let reads = 0;
    const source = createBundleSource({
      changes: test.changes,
      db: {
        inTenant: (...args) => {
          reads++;
          return db.inTenant(...args);
        },
      },
    });
    ends.push(source.close);
    return { source, reads: () => reads };
  };
  const aPull = (request: { tenantId: string; digest: string | null; waitMs: number }) => ({
    ...request,
    signal: new AbortController().signal,
  });

  it('reads once a change for a thousand data planes, and builds nothing for them', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    await aPolicy(scope, 'one');
    const { builder, log } = aBuilder();
    const first = await builder.requestBuild(tenantId);
    const { source, reads } = aSource();
    const planes = Array.from({ length: 1_000 }, () =>
      source.pullBundle(aPull({ tenantId, digest: null, waitMs: 0 })),
    );
    const [download] = await Promise.all(planes);
    expect(download?.revision).toBe(first.revision);
    expect(reads()).toBe(1);

    const digest = download?.digest ?? '';
    const waiting = Array.from({ length: 1_000 }, () =>
      source.pullBundle(aPull({ tenantId, digest, waitMs: 60_000 })),
    );
    await aPolicy(scope, 'two');
    const second = await builder.requestBuild(tenantId);
    const answers = await Promise.all(waiting);
    expect(new Set(answers.map((answer) => answer?.revision))).toEqual(new Set([second.revision]));
    expect(reads()).toBe(2);
    expect(log.filter((entry) => entry === 'built')).toHaveLength(2);
  });

  it('waits for the first bundle, and answers null when the time is up', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    const { source } = aSource();
    expect(await source.findCurrent(tenantId)).toBeUndefined();
    const pull = source.pullBundle(aPull({ tenantId, digest: null, waitMs: 60_000 }));
    const { revision } = await aBuilder().builder.requestBuild(tenantId);
    const download = await pull;
    expect(download?.revision).toBe(revision);
    const same = { tenantId, digest: download?.digest ?? null };
    expect(await source.pullBundle(aPull({ ...same, waitMs: 0 }))).toBeNull();
    expect(await source.pullBundle(aPull({ ...same, waitMs: 20 }))).toBeNull();
  });

  it('keeps the bytes when something else of the tenant changed', async () => {
    const scope = await aTenant(test);
    const { tenantId } = scope;
    await aBuilder().builder.requestBuild(tenantId);
    const { source } = aSource();
    const before = await source.findCurrent(tenantId);
    await db.inTenant(scope, async (tx) => {
      tx.feed.append({ kind: 'role', key: 'gone', value: null });
    });
    expect(await source.findCurrent(tenantId)).toBe(before);
  });
});
