import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { PolicySource } from '@governance/policies/contract';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import { Secret } from '@governance/shared/settings';
import { afterAll, describe, expect, it } from 'vitest';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createBundleBuilder } from '../bundles/bundle-builder.ts';
import { readServerSettings } from '../mcp-servers/mcp-server-service.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { createFeatureList } from '../platform/feature-list.ts';
import { createServiceKeys } from '../platform/keys/keys.ts';
import { createMasterKey } from '../platform/keys/master-key.ts';
import { createRowAttestations } from '../platform/keys/row-attestations.ts';
import { completeBaselinePacks, insertBaselinePack } from './baseline-pack.ts';
import { createPolicyRecords } from './policy-records.ts';
import { createPolicyService, type PolicyServiceDeps } from './policy-service.ts';
import { readActivePolicies } from './policy-store.ts';

const test = await testDatabase();
const { db, superuser } = test;
const compiler = createRegoCompiler();
const keys = createServiceKeys({
  db,
  masterKey: createMasterKey(new Secret(Buffer.alloc(32, 7))),
});
const attestations = createRowAttestations(keys);
const attest = await attestations.prepare();
const policyRecords = createPolicyRecords({
  ...{ compiler, attestations },
  findBundleKeys: async () =>
    (await keys.bundleVerificationKeys()).map((jwk) => ({ kid: jwk.kid, jwk })),
  elapsed: () => Number.MAX_SAFE_INTEGER,
});
const ends: (() => Promise<void>)[] = [() => compiler.close()];
afterAll(async () => {
  for (const end of ends.reverse()) await end();
});

const features = createFeatureList();
features.add({ settings: { mcp_servers: readServerSettings } });
const { readSettings } = features;

/** The policies of one replica, with what it compiled together, built and waited for. */
function aReplica(given: Partial<PolicyServiceDeps> = {}) {
  const seen = { compiled: [] as string[], builds: 0, applied: [] as number[] };
  const counting = {
    ...compiler,
    compile: (policies: PolicySource[]) => {
      seen.compiled.push(compiler.sourcesDigest(policies));
      return compiler.compile(policies);
    },
  };
  const bundles = createBundleBuilder({
    db,
    compiler,
    readPolicies: readActivePolicies,
    prepareCheck: policyRecords.prepareBuild,
    readSettings,
    signer: keys.bundleSigningKey,
    now: () => new Date(),
    observer: {
      built: () => {
        seen.builds++;
      },
      doubted: async () => {},
      settled: async () => {},
      failed: async (_tenant, error) => {
        throw error;
      },
    },
  });
  ends.push(bundles.close);
  const policies = createPolicyService({
    db,
    compiler: counting,
    bundles,
    applied: {
      wait: async (_tenant, target) => void seen.applied.push(target.bundleRevision ?? 0),
    },
    readSettings,
    maxActive: 300,
    ...{ attestations, policyRecords },
    now: () => new Date(),
    ...given,
  });
  return { policies, seen };
}

const aBody = (name: string, status: 'draft' | 'active' = 'active') => ({
  name,
  description: '',
  rego_content: `package p\n\ndeny contains "${name}" if input.request.tool_name == "${name}"\n`,
  status,
});

async function newestBundle({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<{
    revision: string;
    sources_digest: string;
    bytes: Buffer;
  }>(
    'SELECT revision, sources_digest, bytes FROM bundles WHERE tenant_id = $1 ORDER BY revision DESC LIMIT 1',
    [tenantId],
  );
  const files = rows[0] ? await unpackArchive(rows[0].bytes) : new Map<string, Buffer>();
  return {
    revision: Number(rows[0]?.revision),
    sourcesDigest: rows[0]?.sources_digest,
    policies: [...files.keys()]
      .map((name) => /^policies\/(.+)\/policy\.rego$/.exec(name)?.[1])
      .filter((id) => id !== undefined),
  };
}

async function auditOf({ tenantId }: TenantScope): Promise<string[]> {
  const { rows } = await superuser.query<{ bytes: Buffer }>(
    'SELECT bytes FROM ledger_records WHERE tenant_id = $1 ORDER BY position',
    [tenantId],
  );
  return rows.flatMap(({ bytes }) => {
    const record = parseRecord(bytes);
    return record.type === 'admin_action' ? [record.action] : [];
  });
}

describe('an active policy', () => {
  it('is in the newest bundle when the answer comes, and that bundle was waited for', async () => {
    const scope = await aTenant(test);
    const { policies, seen } = aReplica();
    const policy = await policies.create(scope, aBody('one'));
    const bundle = await newestBundle(scope);
    expect(bundle.policies).toEqual([policy.id]);
    expect(seen.applied).toEqual([bundle.revision]);
    await policies.change(scope, policy.id, { status: 'archived' });
    expect((await newestBundle(scope)).policies).toEqual([]);
    await policies.change(scope, policy.id, { status: 'active', name: 'again' });
    expect((await newestBundle(scope)).policies).toEqual([policy.id]);
    await policies.change(scope, policy.id, { description: 'only words' });
    await policies.change(scope, policy.id, {});
    expect(seen.builds).toBe(3);
    expect(await auditOf(scope)).toEqual([
      'policy_created',
      'policy_archived',
      'policy_activated',
      'policy_updated',
    ]);
  });

  it('is reported as not in force when its bundle cannot be built, and a retry helps', async () => {
    const scope = await aTenant(test);
    let isBroken = true;
    const whole = aReplica();
    const { policies } = aReplica({
      bundles: {
        requestBuild: async () => {
          if (isBroken) throw new Error('no bundle');
          return { revision: 5, feedSeq: undefined };
        },
      },
    });
    await expect(policies.create(scope, aBody('one'))).rejects.toThrow('no bundle');
    const [policy] = await policies.list(scope, 'active');
    isBroken = false;
    const again = await policies.change(scope, policy?.id ?? '', { status: 'active' });
    expect(again).toEqual(policy);
    expect(await whole.policies.get(scope, again.id)).toEqual(policy);
  });
});

describe('drafts', () => {
  it('never reach a bundle, but have to compile', async () => {
    const scope = await aTenant(test);
    const { policies, seen } = aReplica();
    const draft = await policies.create(scope, aBody('one', 'draft'));
    expect(seen).toEqual({ compiled: [], builds: 0, applied: [] });
    await expect(
      policies.change(scope, draft.id, { regoContent: 'package p\n\nallow if {\n  broken(\n}\n' }),
    ).rejects.toMatchObject({
      code: 'POLICY_DOES_NOT_COMPILE',
      detail: expect.stringMatching(/line [45], column \d+/),
    });
    expect(await policies.get(scope, draft.id)).toEqual(draft);
  });
});

describe('the limit of active policies', () => {
  it('holds for those that join, not for those that are there', async () => {
    const scope = await aTenant(test);
    const { policies } = aReplica({ maxActive: 2 });
    const one = await policies.create(scope, aBody('one'));
    await policies.create(scope, aBody('two'));
    const limit = { code: 'POLICY_LIMIT_REACHED' };
    await expect(policies.create(scope, aBody('three'))).rejects.toMatchObject(limit);
    const draft = await policies.create(scope, aBody('three', 'draft'));
    await expect(policies.change(scope, draft.id, { status: 'active' })).rejects.toMatchObject(
      limit,
    );
    await policies.change(scope, one.id, { name: 'uno' });
    await policies.change(scope, one.id, { status: 'draft' });
    await policies.change(scope, draft.id, { status: 'active' });
    expect(await policies.list(scope, 'active')).toHaveLength(2);
  });
});

describe('active policies that are too large together', () => {
  it('are refused before they could stop the bundle', async () => {
    const scope = await aTenant(test);
    const { policies } = aReplica({
      compiler: {
        ...compiler,
        compile: async (sources) => {
          const result = await compiler.compile(sources);
          return { ...result, wasm: new Uint8Array(25 * 1024 * 1024) };
        },
      },
    });
    await expect(policies.create(scope, aBody('one'))).rejects.toMatchObject({
      code: 'POLICY_LIMIT_REACHED',
    });
    expect(await policies.list(scope, undefined)).toEqual([]);
  });
});

describe('a storm of activations', () => {
  it('ends in one consistent bundle, with no more builds than changes', async () => {
    const scope = await aTenant(test);
    const { policies, seen } = aReplica();
    const drafts = await Promise.all(
      Array.from({ length: 20 }, (_, i) => policies.create(scope, aBody(`p${i}`, 'draft'))),
    );
    await Promise.all(drafts.map(({ id }) => policies.change(scope, id, { status: 'active' })));
    const bundle = await newestBundle(scope);
    expect(new Set(bundle.policies)).toEqual(new Set(drafts.map(({ id }) => id)));
    // What was committed last was compiled together before.
    expect(seen.compiled).toContain(bundle.sourcesDigest);
    expect(seen.compiled).toHaveLength(20);
    expect(seen.builds).toBeLessThanOrEqual(20);
  });

  it('over two replicas commits only sets that were compiled together', async () => {
    const scope = await aTenant(test);
    const [one, two] = [aReplica(), aReplica()];
    const drafts = await Promise.all(
      Array.from({ length: 6 }, (_, i) => one.policies.create(scope, aBody(`p${i}`, 'draft'))),
    );
    await Promise.all(
      drafts.map(({ id }, i) =>
        (i % 2 ? one : two).policies.change(scope, id, { status: 'active' }),
      ),
    );
    const bundle = await newestBundle(scope);
    expect(new Set(bundle.policies)).toEqual(new Set(drafts.map(({ id }) => id)));
    expect([...one.seen.compiled, ...two.seen.compiled]).toContain(bundle.sourcesDigest);
  });

  it('of one policy loses no change', async () => {
    const scope = await aTenant(test);
    const [one, two] = [aReplica(), aReplica()];
    const draft = await one.policies.create(scope, aBody('one', 'draft'));
    await Promise.all([
      one.policies.change(scope, draft.id, { name: 'uno' }),
      two.policies.change(scope, draft.id, { description: 'said' }),
      one.policies.change(scope, draft.id, { status: 'active' }),
    ]);
    expect(await one.policies.get(scope, draft.id)).toMatchObject({
      name: 'uno',
      description: 'said',
      status: 'active',
    });
  });
});

describe('the baseline pack', () => {
  it('is completed for tenants that were there before a part of it, as drafts, once', async () => {
    const pack = baselinePack();
    const older = await aTenant(test);
    const renamed = await aTenant(test);
    const whole = await aTenant(test);
    const without = await aTenant(test);
    const before = pack.filter(({ name }) => name !== 'Local models');
    await db.inTenant(older, (tx) => insertBaselinePack(tx, before, new Date(), attest));
    await db.inTenant(whole, (tx) => insertBaselinePack(tx, pack, new Date(), attest));
    const otherwise = pack.map((one) =>
      one.name === 'Local models' ? { ...one, name: 'Our models' } : one,
    );
    await db.inTenant(renamed, (tx) => insertBaselinePack(tx, otherwise, new Date(), attest));
    const { policies } = aReplica();
    const complete = () => completeBaselinePacks(db, pack, new Date(), attest);
    await Promise.all([complete(), complete()]);
    await complete();
    const said = async (scope: TenantScope) =>
      (await policies.list(scope, undefined))
        .map(({ name, status, origin }) => [name, status, origin].join(', '))
        .sort();
    const active = (given: typeof pack) =>
      given.map(({ name }) => `${name}, active, baseline`).sort();
    const completed = [...active(before), 'Local models, draft, baseline'].sort();
    expect(await said(older)).toEqual(completed);
    expect(await said(without)).toEqual([]);
    expect(await said(renamed)).toEqual(active(otherwise));
    expect(await said(whole)).toEqual(active(pack));
    const draft = (await policies.list(older, 'draft'))[0]?.id ?? '';
    await policies.change(older, draft, { status: 'active' });
    expect(await said(older)).toEqual(active(pack));
  });

  it('is looked for in one query: a start opens a transaction where something is missing', async () => {
    const pack = baselinePack();
    const given = await Promise.all(Array.from({ length: 30 }, () => aTenant(test)));
    for (const [index, scope] of given.entries()) {
      const own = index === 7 || index === 21 ? pack.slice(1) : pack;
      await db.inTenant(scope, (tx) => insertBaselinePack(tx, own, new Date(), attest));
    }
    const opened: string[] = [];
    const counting: Pick<typeof db, 'inTenant' | 'inPlatform'> = {
      inPlatform: (actor, work) => {
        opened.push('platform');
        return db.inPlatform(actor, work);
      },
      inTenant: (scope, work) => {
        opened.push(scope.tenantId);
        return db.inTenant(scope, work);
      },
    };
    await completeBaselinePacks(counting, pack, new Date(), attest);
    const missing = [given[7]?.tenantId ?? '', given[21]?.tenantId ?? ''].sort();
    expect(opened).toEqual(['platform', ...missing]);
    opened.length = 0;
    await completeBaselinePacks(counting, pack, new Date(), attest);
    expect(opened).toEqual(['platform']);
  });

  it('compiles, and decides as its names say', async () => {
    const scope = await aTenant(test);
    const pack = baselinePack();
    expect(pack.map(({ name }) => name)).toEqual([
      'Permissions',
      'Destructive calls',
      'Critical risk',
      'Local models',
    ]);
    await db.inTenant(scope, (tx) => insertBaselinePack(tx, pack, new Date(), attest));
    const { policies } = aReplica();
    const active = await policies.list(scope, 'active');
    expect(active.map(({ origin }) => origin)).toEqual(pack.map(() => 'baseline'));
    const permissions = active.find(({ name }) => name === 'Permissions')?.id ?? '';
    const ask = (permission: string) =>
      policies.evaluate(scope, permissions, {
        trace: false,
        agent: {
          id: 'a',
          name: '',
          agent_type: '',
          owner: '',
          roles: [],
          permissions: [permission],
          risk_tier: 'low',
          risk_score: 0,
        },
        request: {
          tool_name: 'read_file',
          action: 'read',
          parameters: {},
          mcp_server: 'files',
          method: 'tools/call',
        },
        requester: { id: null, verified: false },
        workflow: null,
        delegation: null,
        dlp: { findings_count: 0, max_severity: null, patterns: [] },
        context: { data_plane: '', region: null, model: null, agent_role: null },
      });
    expect(await ask('files:read')).toMatchObject({ decision: 'allow' });
    expect(await ask('files:write')).toMatchObject({ decision: 'deny' });
    expect(await auditOf(scope)).toEqual(pack.map(() => 'policy_created'));
  });
});
