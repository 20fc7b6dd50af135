/**
 * Whoever owns the database writes policies by hand: the service signs none of them. Whatever was
 * saved through it goes into the next bundle, also after an upgrade, a lost bundle, rotated keys.
 */
import { randomUUID } from 'node:crypto';
import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import { beforeEach, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { policyDigest } from '../bundles/carried-policies.ts';
import { ROLL_OUT_MS } from '../platform/keys/row-attestations.ts';
import { createPolicyRecords } from './policy-records.ts';
import { readActivePolicies } from './policy-store.ts';

const service = await testControlPlane();
const { call, aTenantAdmin, controlPlane, test, superAdminToken } = service;
const superAdmin = await superAdminToken();

const ruleOf = (action: string) =>
  `package p\n\ndeny contains "no" if input.request.action == "${action}"\n`;
const RULE = ruleOf('write');
const EVIL = 'package p\n\nallow if true\n';

let token: string;
let tenantId: string;
let id: string;
/** What a replica finds that has run for longer than an upgrade takes. */
let inspect: (elapsed?: number) => Promise<string[]>;

beforeEach(async () => {
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
  id = await aPolicy('one');
  inspect = async (elapsed = ROLL_OUT_MS) => {
    const find = await createPolicyRecords({
      compiler: controlPlane.compiler,
      attestations: controlPlane.attestations,
      findBundleKeys: async () => (await controlPlane.evidenceKeys()).bundle,
      elapsed: () => elapsed,
    }).prepareBuild();
    return test.db.inTenant(admin.scope, async (tx) => {
      const check = await find(tx);
      const { unrecorded } = await check(await readActivePolicies(tx));
      return unrecorded.map(
        ({ name, fault, isDoubtful }) => `${name} ${fault}${isDoubtful ? '?' : ''}`,
      );
    });
  };
});

async function aPolicy(name: string, rego = RULE, status = 'active'): Promise<string> {
  const answer = await call('/api/v1/policies', {
    token,
    body: { name, rego_content: rego, status },
  });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json().id;
}

const patch = (body: object, of = id) =>
  call(`/api/v1/policies/${of}`, { method: 'PATCH', token, body });
const build = () => controlPlane.bundles.requestBuild(tenantId);
const attack = (sql: string, values: unknown[] = []) =>
  test.superuser.query(
    sql.replaceAll('$tenant', `'${tenantId}'`).replaceAll('$id', `'${id}'`),
    values,
  );
const alerts = async () =>
  (await call('/api/v1/monitor/alerts', { token }))
    .json()
    .alerts.filter((one: { alert_type: string }) => one.alert_type === 'POLICY_NOT_RECORDED');
const current = () => controlPlane.bundleSource.findCurrent(tenantId);

/** The ids of the policies that the current bundle has. */
async function carried(): Promise<string[]> {
  const bundle = await current();
  const files = await unpackArchive(bundle?.bytes ?? new Uint8Array());
  return [...files.keys()].flatMap((path) => /^policies\/([^/]+)\//.exec(path)?.[1] ?? []).sort();
}

const insertByHand = async (name = 'evil'): Promise<string> => {
  const evil = randomUUID();
  await attack(
    `INSERT INTO policies (tenant_id, id, name, rego_content, status, updated_at)
     VALUES ($tenant, $1, $2, $3, 'active', now())`,
    [evil, name, EVIL],
  );
  return evil;
};

/** Chains a record as the service does: it takes no key. */
async function forgeRecord(about: string, details: object): Promise<string> {
  const recordId = randomUUID();
  const { rows } = await attack(
    `SELECT convert_from(bytes, 'UTF8') AS text FROM ledger_records
     WHERE tenant_id = $tenant AND type = 'admin_action' ORDER BY position DESC LIMIT 1`,
  );
  const last = JSON.parse(rows[0].text);
  const { rows: heads } = await attack(
    'SELECT admin_head FROM tenant_heads WHERE tenant_id = $tenant',
  );
  const record = {
    ...last,
    ...{ action: 'policy_created', details, id: recordId, target: `policy/${about}` },
    ...{ seq: last.seq + 1, prev_hash: heads[0].admin_head },
  };
  const { canonicalize } = await import('@governance/shared/json/canonical-json');
  const bytes = Buffer.from(canonicalize(record));
  const hash = recordHash(bytes);
  await attack(
    `WITH placed AS (
       UPDATE tenant_positions SET position = position + 1 WHERE tenant_id = $tenant RETURNING position
     ), moved AS (
       UPDATE tenant_heads SET admin_seq = admin_seq + 1, admin_head = $4 WHERE tenant_id = $tenant
     )
     INSERT INTO ledger_records (tenant_id, received_at, position, stream, epoch, seq, type, id,
       event_time, hash, prev_hash, bytes)
     SELECT $tenant, now(), position, $1, $2, $3, 'admin_action', $5, now(), $4, $6, $7 FROM placed`,
    [record.stream, record.epoch, record.seq, hash, recordId, record.prev_hash, bytes],
  );
  return recordId;
}

const statesOf = async (of: string) => {
  const { rows } = await attack(
    `SELECT name, status, encode(sha256(convert_to(rego_content, 'UTF8')), 'hex') AS rego_sha256
     FROM policies WHERE tenant_id = $tenant AND id = $1`,
    [of],
  );
  return rows[0];
};

describe('a policy that a hand wrote into the database', () => {
  it('is in no bundle: the last one stays, and alert, metric, readiness and answer say what to do', async () => {
    const before = await current();
    const evil = await insertByHand();
    const body = { server_id: 'files', transport: 'stdio', local_name: 'files' };
    const answer = await call('/api/v1/mcp-servers', { token, body });
    expect(answer.statusCode).toBe(503);
    expect(answer.json().detail).toContain('"evil"');
    expect(answer.json().detail).toContain('the audit trail has no record of it');
    expect(answer.json().detail).toContain('PATCH /api/v1/policies/{id}');
    expect((await current())?.revision).toBe(before?.revision);
    await expect(build()).rejects.toThrow('not in force');
    expect(await alerts()).toMatchObject([
      {
        ...{ severity: 'critical', status: 'open' },
        details: {
          policies: [{ id: evil, name: 'evil', fault: 'no_record' }],
          remedy: expect.stringContaining('Save each of them again'),
        },
      },
    ]);
    expect((await call('/metrics')).body).toContain('bundle_unrecorded_tenants 1');
    const ready = await call('/ready');
    expect(ready.statusCode).toBe(200);
    expect(ready.json().warnings.policies).toContain('POLICY_NOT_RECORDED');

    // Saved again as it stands, which makes a record; archived, so that it decides nothing.
    expect((await patch({ status: 'archived' }, evil)).statusCode).toBe(200);
    await build();
    expect(await carried()).toEqual([id]);
    expect(await alerts()).toMatchObject([{ status: 'resolved' }]);
    expect((await call('/metrics')).body).toContain('bundle_unrecorded_tenants 0');
    expect((await call('/ready')).json().warnings?.policies).toBeUndefined();
  });

  it('goes in once an administrator saves it as it stands', async () => {
    const evil = await insertByHand();
    await expect(build()).rejects.toThrow('not in force');
    expect((await patch({ rego_content: EVIL }, evil)).statusCode).toBe(200);
    expect(await carried()).toEqual([id, evil].sort());
    expect(await inspect()).toEqual([]);
    // Saving it once more changes nothing and records nothing.
    const count = async () =>
      (await attack('SELECT admin_seq FROM tenant_heads WHERE tenant_id = $tenant')).rows[0]
        .admin_seq;
    const seq = await count();
    expect((await patch({ rego_content: EVIL }, evil)).statusCode).toBe(200);
    expect(await count()).toBe(seq);
  });

  it.each([
    ['its source', `rego_content = 'package p'`, 'one record_differs'],
    ['its name', `name = 'two'`, 'two record_differs'],
    ['that it is active', `status = 'archived'`, 'one record_differs'],
    ['its activation, of a draft', `status = 'active'`, 'draft record_differs'],
  ])('counts by %s', async (what, set, fault) => {
    const about = what.includes('draft') ? await aPolicy('draft', RULE, 'draft') : id;
    await attack(`UPDATE policies SET ${set} WHERE tenant_id = $tenant AND id = $1`, [about]);
    expect(await inspect()).toEqual([fault]);
    await expect(build()).rejects.toThrow('not in force');
    expect(await carried()).toEqual([id]);
    expect(
      (await patch({ rego_content: RULE, name: 'mended', status: 'active' }, about)).statusCode,
    ).toBe(200);
    expect(await inspect()).toEqual([]);
  });

  it('is activated by nobody who does not say its source', async () => {
    const draft = await aPolicy('draft', RULE, 'draft');
    await attack('UPDATE policies SET rego_content = $2 WHERE tenant_id = $tenant AND id = $1', [
      draft,
      EVIL,
    ]);
    const refused = await patch({ status: 'active' }, draft);
    expect(refused.statusCode).toBe(500);
    expect(refused.json().detail).toContain('Give rego_content');
    expect((await patch({ status: 'active', rego_content: RULE }, draft)).statusCode).toBe(200);
    expect(await carried()).toEqual([id, draft].sort());
    // Of an earlier version, and after a revocation, the record alone counts.
    await attack(`UPDATE policies SET attestation = NULL WHERE tenant_id = $tenant`);
    expect((await patch({ description: 'more' }, draft)).statusCode).toBe(200);
    expect(await inspect()).toEqual([]);
  });

  it('counts where its row was deleted, until one of its name is saved', async () => {
    const other = await aPolicy('other', ruleOf('read'));
    await attack('DELETE FROM policies WHERE tenant_id = $tenant AND id = $id');
    expect(await inspect()).toEqual(['one gone']);
    await expect(build()).rejects.toThrow('its row was deleted');
    expect(await carried()).toEqual([id, other].sort());
    const again = await aPolicy('one');
    expect(await carried()).toEqual([again, other].sort());
    expect(await inspect()).toEqual([]);
  });

  it('is not believed by a record that was chained for it', async () => {
    const evil = await insertByHand();
    const recordId = await forgeRecord(evil, await statesOf(evil));
    expect(await inspect()).toEqual(['evil not_attested']);
    await attack(
      `UPDATE policies e SET record_id = $1, attestation = o.attestation FROM policies o
       WHERE e.tenant_id = $tenant AND e.id = $2 AND o.tenant_id = $tenant AND o.id = $id`,
      [recordId, evil],
    );
    expect(await inspect()).toEqual(['evil attestation_wrong']);
  });

  it('is not believed by what it was before', async () => {
    const old = await attack('SELECT * FROM policies WHERE tenant_id = $tenant AND id = $id');
    expect((await patch({ rego_content: ruleOf('delete') })).statusCode).toBe(200);
    const { rego_content, record_id, attestation } = old.rows[0];
    await attack(
      `UPDATE policies SET rego_content = $1, record_id = $2, attestation = $3
       WHERE tenant_id = $tenant AND id = $id`,
      [rego_content, record_id, attestation],
    );
    expect(await inspect()).toEqual(['one record_differs']);
    // Nor by a record that was edited to say so.
    await attack(
      `UPDATE ledger_records SET bytes = convert_to(replace(convert_from(bytes, 'UTF8'),
         '"status":"active"', '"status":"draft"'), 'UTF8')
       WHERE tenant_id = $tenant AND bytes LIKE '{"action":"policy_updated"%'`,
    );
    expect(await inspect()).toEqual(['one record_damaged']);
  });

  it('gains nothing by what is stored of bundles', async () => {
    const evil = await insertByHand();
    const digest = policyDigest({ name: 'evil', rego: EVIL });
    await attack(
      `UPDATE bundle_manifests SET manifest = replace(manifest, '"policies":{', '"policies":{' || $1)
       WHERE tenant_id = $tenant`,
      [`"${evil}":"${digest}",`],
    );
    // The manifest is none of the service's: each policy is asked for its record.
    expect(await inspect()).toEqual(['evil no_record']);
    await attack('DELETE FROM bundle_manifests WHERE tenant_id = $tenant');
    expect(await inspect()).toEqual(['evil no_record']);
  });
});

describe('what was saved through the service', () => {
  it('goes into the bundle: created, changed, renamed, archived, restored, rolled back', async () => {
    const other = await aPolicy('other', ruleOf('read'), 'draft');
    for (const [body, of] of [
      [{ rego_content: ruleOf('execute') }, id],
      [{ rego_content: RULE }, id],
      [{ name: 'renamed' }, id],
      [{ status: 'active' }, other],
      [{ description: 'of no consequence' }, other],
      [{ status: 'archived' }, id],
      [{ status: 'active' }, id],
      [{ status: 'draft' }, other],
    ] as const) {
      const answer = await patch(body, of);
      expect(answer.statusCode, answer.body).toBe(200);
      expect(await inspect()).toEqual([]);
    }
    expect(await carried()).toEqual([id]);
    expect(await alerts()).toEqual([]);
  });

  it('is what a new tenant begins with', async () => {
    const made = await call('/api/v1/tenants', {
      token: superAdmin,
      body: {
        name: `t-${randomUUID()}`,
        admin: { username: `u-${randomUUID()}`, password: 'a password that is long' },
      },
    });
    expect(made.statusCode, made.body).toBe(201);
    tenantId = made.json().id;
    const { rows } = await attack(
      `SELECT count(*)::int AS count FROM policies WHERE tenant_id = $tenant AND status = 'active'`,
    );
    expect(rows[0].count).toBeGreaterThan(3);
    expect(await carried()).toHaveLength(rows[0].count);
  });

  it('stays in force after the keys of bundles and of batches were rotated and revoked', async () => {
    for (const purpose of ['bundle', 'batch']) {
      const rotated = await call(`/api/v1/admin/keys/${purpose}/rotate`, {
        ...{ method: 'POST', token: superAdmin, body: { revoke: true, reason: 'x' } },
      });
      expect(rotated.statusCode, rotated.body).toBe(200);
    }
    await build();
    expect(await inspect()).toEqual([]);
    expect((await patch({ rego_content: ruleOf('delete') })).statusCode).toBe(200);
    expect(await inspect()).toEqual([]);
  });

  it('is compiled again from its records where everything of bundles is gone', async () => {
    await attack('DELETE FROM bundles WHERE tenant_id = $tenant');
    await attack('DELETE FROM bundle_manifests WHERE tenant_id = $tenant');
    expect(await inspect()).toEqual([]);
    await build();
    expect(await carried()).toEqual([id]);
  });
});

describe('what earlier versions saved', () => {
  const asEarlier = () =>
    attack('UPDATE policies SET record_id = NULL, attestation = NULL WHERE tenant_id = $tenant');

  it('is carried on as the last bundle had it', async () => {
    await asEarlier();
    await aPolicy('new', ruleOf('read'));
    expect(await inspect()).toEqual([]);
  });

  it('is taken by its record while an upgrade may be rolled out, and not afterwards', async () => {
    expect((await patch({ rego_content: ruleOf('delete') })).statusCode).toBe(200);
    await asEarlier();
    await attack('DELETE FROM bundle_manifests WHERE tenant_id = $tenant');
    expect(await inspect(ROLL_OUT_MS - 1)).toEqual(['one not_attested?']);
    expect(await inspect()).toEqual(['one not_attested']);
    expect((await patch({ rego_content: ruleOf('delete') })).statusCode).toBe(200);
    expect(await inspect()).toEqual([]);
  });

  it('is compared with the whole of a bundle that did not list it, and told without a record', async () => {
    // A bundle as earlier versions sign it, of the same sources.
    const { composeBundle } = await import('../bundles/bundle-content.ts');
    const sources = await test.db.inTenant(
      { tenantId, actor: { id: 's', username: 's', role: 'system' } },
      readActivePolicies,
    );
    const compiled = await controlPlane.compiler.compile(sources);
    if (!compiled.ok) throw new Error('it does not compile');
    const signer = await controlPlane.serviceKeys.bundleSigningKey();
    const revision = Date.now() + 1000;
    const settings = { tenant_id: tenantId, mcp_servers: {} };
    const { signed, digest } = await composeBundle({
      tenantId,
      revision,
      compiled,
      settings,
      signer,
    });
    await attack(
      `INSERT INTO bundle_manifests (tenant_id, revision, digest, manifest, signatures)
       VALUES ($tenant, $1, $2, $3, $4)`,
      [revision, digest, signed.manifest, signed.signatures],
    );
    await attack('UPDATE tenant_heads SET bundle_revision = $1 WHERE tenant_id = $tenant', [
      revision,
    ]);
    await asEarlier();
    expect(await inspect()).toEqual([]);
    // Another policy joins: each is asked for its record, and one that has none is in doubt.
    await insertByHand('of old');
    expect(await inspect(0)).toEqual(['of old no_record?']);
    expect(await inspect()).toEqual(['of old no_record']);
    await attack(`UPDATE policies SET name = 'x' WHERE tenant_id = $tenant AND id = $id`);
    expect((await inspect(0)).sort()).toEqual(['of old no_record?', 'x record_differs']);
    await attack(`UPDATE policies SET name = 'one' WHERE tenant_id = $tenant AND id = $id`);
    await build();
    expect(await carried()).toHaveLength(2);
    expect(await alerts()).toMatchObject([{ severity: 'high', status: 'open' }]);
  });
});
