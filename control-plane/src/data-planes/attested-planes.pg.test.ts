/**
 * Whoever owns the database writes a sealing key or a token of his own into it, or puts back what was
 * revoked: nothing is sealed for him, and no such token is believed. What an earlier version wrote is
 * taken at the first start, and while an upgrade is rolled out.
 */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { RegistrationReply } from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { SealedUpstreamCredential } from '@governance/shared/mcp/upstream-credential';
import { compactDecrypt } from 'jose';
import { Registry } from 'prom-client';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aRegistration, type TestRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { PLATFORM } from '../platform/database/change-bus.ts';
import { systemScope } from '../platform/database/tenant-scope.ts';
import { ROLL_OUT_MS } from '../platform/keys/row-attestations.ts';
import { hashSecret } from '../platform/random-secret.ts';
import { createAttestedPlanes } from './attested-planes.ts';
import { tokenStatement } from './plane-statements.ts';

const { call, aTenantAdmin, controlPlane, test, logged, superAdminToken } = await testControlPlane({
  env: { SERVICE_KEY_OVERLAP_SECONDS: '1' },
});
const TOKENS = '/api/v1/admin/data-plane-tokens';

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let tenantId: string;
let root: { id: string; token: string };
let plane: TestRegistration;
let deploymentId: string;
let child: string;

beforeEach(async () => {
  admin = await aTenantAdmin();
  ({ tenantId } = admin.scope);
  root = await issue();
  const body = {
    ...{ server_id: 'files', transport: 'streamable-http', url: 'https://mcp.example/mcp' },
    credential: { type: 'bearer', token: 'the first' },
  };
  expect((await call('/api/v1/mcp-servers', { token: admin.token, body })).statusCode).toBe(201);
  plane = aRegistration();
  ({ deploymentId, child } = await register(plane));
});

const issue = async (): Promise<{ id: string; token: string }> =>
  (await call(TOKENS, { token: admin.token, body: { label: 'x' } })).json();

async function register(one: TestRegistration, token = root.token, changes: object = {}) {
  const body = one.provenWith(token, changes);
  const answer = await call('/api/v1/data-planes/register', { token, body });
  expect(answer.statusCode, answer.body).toBe(200);
  const reply = RegistrationReply.parse(answer.json());
  return { deploymentId: reply.deployment_id, child: reply.token.token };
}

const revoke = async (id: string) =>
  expect((await call(`${TOKENS}/${id}`, { token: admin.token, method: 'DELETE' })).statusCode).toBe(
    204,
  );

const renew = (token: string, of = deploymentId) =>
  call(`/api/v1/data-planes/${of}/token`, { token, method: 'POST' });

/** @returns the answer to a request with a data plane's token */
async function asked(token: string): Promise<string> {
  const answer = await call(`/api/v1/opa/bundle/${tenantId}`, { token });
  return answer.statusCode === 401 ? answer.json().detail : `${answer.statusCode}`;
}
const REFUSED = 'The data-plane token is missing, invalid, revoked or expired.';
const LET_IN = '200';

async function rotate(token: string): Promise<void> {
  const body = { credential: { type: 'bearer', token } };
  const url = '/api/v1/mcp-servers/files';
  const answer = await call(url, { token: admin.token, method: 'PATCH', body });
  expect(answer.statusCode, answer.body).toBe(200);
}

const attack = (sql: string, values: unknown[] = []) =>
  test.superuser.query(
    sql.replaceAll('$tenant', `'${tenantId}'`).replaceAll('$plane', `'${deploymentId}'`),
    values,
  );

const THIEF = generateKeyPairSync('x25519');
const thiefsKey = JSON.stringify(THIEF.publicKey.export({ format: 'jwk' }));

async function entriesFor(of: string): Promise<(string | null)[]> {
  const { rows } = await attack(
    `SELECT value FROM feed_entries
     WHERE tenant_id = $tenant AND kind = 'upstream_credential' AND key = $1 ORDER BY seq`,
    [`${of}/files`],
  );
  return rows.map(({ value }) => value);
}

/** What was sealed last for a data plane, opened with a key. */
async function sealedFor(of = deploymentId, key = plane.sealingKey): Promise<unknown> {
  const value = (await entriesFor(of)).at(-1);
  if (!value) return value;
  const { plaintext } = await compactDecrypt(JSON.parse(value).jwe, key);
  const { credential } = SealedUpstreamCredential.parse(
    JSON.parse(Buffer.from(plaintext).toString()),
  );
  return credential.type === 'bearer' ? credential.token : credential;
}

const alerts = async (of = admin) =>
  (await call('/api/v1/monitor/alerts', { token: of.token }))
    .json()
    .alerts.filter((one: { alert_type: string }) => one.alert_type === 'DATA_PLANE_NOT_RECORDED');

const toldOf = (row: string, fault: string) =>
  vi.waitFor(async () =>
    expect(await alerts()).toContainEqual(
      expect.objectContaining({
        severity: 'critical',
        status: 'open',
        details: expect.objectContaining({
          ...{ row, fault, remedy: expect.stringContaining('registers again') },
        }),
      }),
    ),
  );

/** Another process on the same database, which started this long ago. */
function aReplica(elapsedMs = 0) {
  const { db, lookups, attestations, changes, now } = controlPlane;
  const log = { error: () => undefined };
  const registry = new Registry();
  const elapsed = () => elapsedMs;
  const replica = createAttestedPlanes({
    ...{ db, lookups, attestations, changes, now, registry, log, elapsed },
  });
  return {
    ...replica,
    accepts: async (token: string) => {
      const found = await lookups.findDataPlaneToken(hashSecret(token));
      return found !== undefined && replica.isGenuine(found, hashSecret(token));
    },
    targets: async () => {
      const find = await replica.prepareTargets();
      const found = await db.inTenant(systemScope(tenantId), find);
      return found.map((one) => one.deploymentId);
    },
  };
}

/** As a version left it that attested nothing, and recorded less. */
const asOfEarlier = async () => {
  await attack(
    `UPDATE data_planes SET record_id = NULL, attestation = NULL WHERE tenant_id = $tenant`,
  );
  await attack(
    `UPDATE data_plane_tokens SET record_id = NULL, attestation = NULL, issued_until = NULL
     WHERE tenant_id = $tenant`,
  );
};

/** A registration by a replica of an earlier version: its records name less. */
async function registerAtOlder(sealingKey: string, own: string): Promise<string> {
  const id = uuidv7();
  const tokenId = uuidv7();
  await attack(
    `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
     VALUES ($tenant, $1, '{"x":"a"}', $2)`,
    [id, sealingKey],
  );
  await attack(
    `INSERT INTO data_plane_tokens (tenant_id, id, label, deployment_id, root_id, token_hash, expires_at)
     VALUES ($tenant, $1, '', $2, $3, $4, '2099-01-01T00:00:00Z')`,
    [tokenId, id, root.id, hashSecret(own)],
  );
  await controlPlane.db.inTenant(admin.scope, async ({ audit }) => {
    audit.append({
      ...{ action: 'data_plane_registered', target: `data_plane/${id}` },
      details: { signing_key: 'a' },
    });
    audit.append({
      ...{ action: 'data_plane_token_renewed', target: `data_plane_token/${tokenId}` },
      details: {
        ...{ deployment_id: id, root_id: root.id, expires_at: '2099-01-01T00:00:00.000Z' },
      },
    });
  });
  return id;
}

describe('a sealing key', () => {
  it('that a hand wrote into the row gets nothing, and the others go on', async () => {
    const other = aRegistration();
    const { deploymentId: otherId } = await register(other);
    const before = await entriesFor(deploymentId);
    await attack(
      'UPDATE data_planes SET sealing_key = $1 WHERE tenant_id = $tenant AND deployment_id = $plane',
      [thiefsKey],
    );
    await rotate('the second');
    expect(await entriesFor(deploymentId)).toEqual(before);
    expect(await sealedFor(otherId, other.sealingKey)).toBe('the second');
    await toldOf(`data_plane/${deploymentId}`, 'record_differs');
    expect(logged.join('\n')).toContain('is not what was recorded: it is refused');
    expect((await call('/metrics')).body).toMatch(/data_plane_rows_refused_total [1-9]/);

    // Registering again is the remedy.
    await register(plane);
    expect(await sealedFor()).toBe('the second');
    await rotate('the third');
    expect(await sealedFor()).toBe('the third');
  });

  it('gets no key of identifiers either', async () => {
    await attack('UPDATE data_planes SET sealing_key = $1 WHERE deployment_id = $plane', [
      thiefsKey,
    ]);
    const answer = await call('/api/v1/admin/data-protection', {
      ...{ token: admin.token, method: 'PATCH', body: { hash_identifiers: true } },
    });
    expect(answer.statusCode, answer.body).toBe(200);
    const { rows } = await attack(
      `SELECT 1 FROM feed_entries WHERE tenant_id = $tenant AND kind = 'identifier_key'`,
    );
    expect(rows).toEqual([]);
  });

  it('of a data plane that nobody registered gets nothing', async () => {
    const thief = uuidv7();
    await attack(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key, record_id, attestation)
       SELECT tenant_id, $1, signing_key, $2, record_id, attestation FROM data_planes
       WHERE tenant_id = $tenant`,
      [thief, thiefsKey],
    );
    await rotate('the second');
    expect(await entriesFor(thief)).toEqual([]);
    expect(await sealedFor()).toBe('the second');
    await toldOf(`data_plane/${thief}`, 'no_record');
  });

  it('of before a rotation, put back with its attestation, gets nothing', async () => {
    const { rows } = await attack('SELECT * FROM data_planes WHERE tenant_id = $tenant');
    const next = generateKeyPairSync('x25519');
    const changes = { sealing_key: next.publicKey.export({ format: 'jwk' }) };
    await register(plane, root.token, changes);
    await rotate('the second');
    expect(await sealedFor(deploymentId, next.privateKey)).toBe('the second');
    await attack(
      `UPDATE data_planes SET sealing_key = $1, record_id = $2, attestation = $3
       WHERE deployment_id = $plane`,
      [rows[0].sealing_key, rows[0].record_id, rows[0].attestation],
    );
    await rotate('the third');
    expect(await sealedFor(deploymentId, next.privateKey)).toBe('the second');
    await toldOf(`data_plane/${deploymentId}`, 'record_differs');
  });

  it('of a data plane whose tokens ended gets nothing, whatever is put back', async () => {
    await revoke(root.id);
    expect(await sealedFor()).toBeNull();
    const { rows } = await attack('SELECT id FROM data_plane_tokens WHERE deployment_id = $plane');
    await attack('UPDATE data_plane_tokens SET revoked_at = NULL WHERE tenant_id = $tenant');
    await rotate('the second');
    expect(await sealedFor()).toBeNull();
    await toldOf(`data_plane_token/${rows[0].id}`, 'put_back');
    // Without a token it would be the local one.
    await attack('DELETE FROM data_plane_tokens WHERE tenant_id = $tenant');
    expect(await aReplica(ROLL_OUT_MS).targets()).toEqual([]);
  });

  it('of a revoked data plane gets nothing, nor may it register, whatever is put back', async () => {
    const { rows } = await attack('SELECT id FROM data_plane_tokens WHERE deployment_id = $plane');
    await revoke(rows[0].id);
    await attack('UPDATE data_plane_tokens SET revoked_at = NULL WHERE tenant_id = $tenant');
    await attack(`UPDATE data_planes SET status = 'active' WHERE tenant_id = $tenant`);
    await rotate('the second');
    expect(await sealedFor()).toBeNull();
    await toldOf(`data_plane/${deploymentId}`, 'put_back');
    const body = plane.provenWith(root.token);
    const answer = await call('/api/v1/data-planes/register', { token: root.token, body });
    expect(answer.statusCode).toBe(409);
  });
});

describe('a token', () => {
  it('is believed from its issue, over renewals and a restart', async () => {
    const renewed = (await renew(child)).json().token;
    for (const token of [root.token, child, renewed]) {
      expect(await asked(token)).toBe(LET_IN);
      expect(await aReplica(ROLL_OUT_MS).accepts(token)).toBe(true);
    }
    expect(await aReplica(ROLL_OUT_MS).targets()).toEqual([deploymentId]);
    expect(await alerts()).toEqual([]);
  });

  it('that a hand wrote into the database is refused', async () => {
    const own = randomBytes(32).toString('base64url');
    const id = uuidv7();
    await attack(
      `INSERT INTO data_plane_tokens (tenant_id, id, label, deployment_id, root_id, token_hash, record_id, attestation)
       SELECT tenant_id, $1, label, deployment_id, root_id, $2, record_id, attestation
       FROM data_plane_tokens WHERE deployment_id = $plane`,
      [id, hashSecret(own)],
    );
    expect(await asked(own)).toBe(REFUSED);
    await toldOf(`data_plane_token/${id}`, 'attestation_wrong');
    expect(await asked(child)).toBe(LET_IN);
  });

  it.each([
    ['its hash', 'token_hash', hashSecret('of his own')],
    ['its deployment', 'deployment_id', uuidv7()],
    ['its root', 'root_id', uuidv7()],
    ['its region', 'region', 'elsewhere'],
    ['its end', 'expires_at', '2099-01-01T00:00:00Z'],
    ['that it has an end', 'expires_at', null],
    ['its record', 'record_id', uuidv7()],
  ])('is refused where a hand changed %s', async (_, column, value) => {
    expect(await asked(child)).toBe(LET_IN);
    await attack(
      `UPDATE data_plane_tokens SET ${column} = $1 WHERE tenant_id = $tenant AND deployment_id = $plane`,
      [value],
    );
    expect(await aReplica(ROLL_OUT_MS).accepts(child)).toBe(false);
    expect(await asked(column === 'token_hash' ? 'of his own' : child)).toBe(REFUSED);
    // Nor within an hour after a start.
    expect(await aReplica().accepts(column === 'token_hash' ? 'of his own' : child)).toBe(false);
  });

  it('that was revoked is refused, whatever is put back', async () => {
    expect(await asked(root.token)).toBe(LET_IN);
    await revoke(root.id);
    await attack('UPDATE data_plane_tokens SET revoked_at = NULL WHERE tenant_id = $tenant');
    for (const token of [root.token, child]) {
      expect(await asked(token)).toBe(REFUSED);
      expect(await aReplica().accepts(token)).toBe(false);
    }
    await toldOf(`data_plane_token/${root.id}`, 'put_back');
    // It comes back with another root.
    const second = await register(plane, (await issue()).token);
    expect(second.deploymentId).toBe(deploymentId);
    expect(await asked(second.child)).toBe(LET_IN);
  });

  it('is not renewed for longer because its root was changed', async () => {
    await attack(`UPDATE data_plane_tokens SET created_at = '2020-01-01' WHERE id = $1`, [root.id]);
    expect((await renew(child)).statusCode).toBe(401);
  });
});

describe('what an earlier version wrote', () => {
  it('is taken while an upgrade is rolled out, and refused an hour after the start', async () => {
    const own = randomBytes(32).toString('base64url');
    const id = await registerAtOlder(thiefsKey, own);
    const late = aReplica(ROLL_OUT_MS);
    expect(await late.accepts(own)).toBe(false);
    expect(await late.targets()).toEqual([deploymentId]);
    expect(await aReplica().targets()).toEqual([deploymentId, id].sort());
    expect(await aReplica().accepts(own)).toBe(true);
    // From here on it is attested.
    expect(await late.accepts(own)).toBe(true);
    expect(await late.targets()).toEqual([deploymentId, id].sort());
    await attack(
      `UPDATE data_planes SET sealing_key = $1, attestation = NULL, record_id = NULL
       WHERE tenant_id = $tenant`,
      ['{}'],
    );
    expect(await aReplica().targets()).toEqual([]);
  });

  it('is taken at the first start, and never again', async () => {
    await asOfEarlier();
    const first = aReplica();
    await first.adoptAll();
    expect(await alerts()).toEqual([]);
    const later = aReplica(ROLL_OUT_MS);
    for (const token of [root.token, child]) expect(await later.accepts(token)).toBe(true);
    expect(await later.targets()).toEqual([deploymentId]);

    await asOfEarlier();
    await attack('UPDATE data_planes SET sealing_key = $1 WHERE tenant_id = $tenant', [thiefsKey]);
    const own = randomBytes(32).toString('base64url');
    await attack('UPDATE data_plane_tokens SET token_hash = $1 WHERE deployment_id = $plane', [
      hashSecret(own),
    ]);
    const second = aReplica();
    await second.adoptAll();
    expect(await second.accepts(own)).toBe(false);
    expect(await second.targets()).toEqual([]);
  });

  it('is told where no record speaks of it', async () => {
    await asOfEarlier();
    const other = uuidv7();
    await attack(
      `INSERT INTO data_planes (tenant_id, deployment_id, signing_key, sealing_key)
       VALUES ($tenant, $1, '{"x":"a"}', $2)`,
      [other, thiefsKey],
    );
    const first = aReplica();
    await first.adoptAll();
    await vi.waitFor(async () =>
      expect(await alerts()).toMatchObject([
        {
          severity: 'high',
          details: { rows: [{ row: `data_plane/${other}`, fault: 'no_record' }] },
        },
      ]),
    );
  });

  it('is taken while an upgrade is rolled out, if its record agrees, and told', async () => {
    await controlPlane.db.inTenant(admin.scope, async (tx) =>
      controlPlane.attestedPlanes.begin(tx),
    );
    await attack(
      `UPDATE data_plane_tokens SET record_id = NULL, attestation = NULL, issued_until = NULL
       WHERE deployment_id = $plane`,
    );
    await attack(`UPDATE data_planes SET attestation = NULL WHERE tenant_id = $tenant`);
    const late = aReplica(ROLL_OUT_MS);
    expect(await late.accepts(child)).toBe(false);
    expect(await late.targets()).toEqual([]);
    const replica = aReplica();
    expect(await replica.targets()).toEqual([deploymentId]);
    expect(await replica.accepts(child)).toBe(true);
    expect(await late.accepts(child)).toBe(true);
    expect(await late.targets()).toEqual([deploymentId]);
    await vi.waitFor(async () =>
      expect((await alerts()).map((one: { severity: string }) => one.severity)).toContain('high'),
    );
  });
});

describe('after the revocation of the key that attested', () => {
  const revokeKey = async (): Promise<void> => {
    const body = { revoke: true, reason: 'stolen' };
    const token = await superAdminToken();
    // The key before it may not have begun to sign yet.
    await vi.waitFor(
      async () => {
        const answer = await call('/api/v1/admin/keys/batch/rotate', { token, body });
        expect(answer.statusCode, answer.body).toBe(200);
      },
      { timeout: 10_000, interval: 250 },
    );
  };

  it('rows are attested anew as they are used', async () => {
    expect(await asked(child)).toBe(LET_IN);
    await revokeKey();
    expect(await asked(child)).toBe(LET_IN);
    expect(await asked(root.token)).toBe(LET_IN);
    await rotate('the second');
    expect(await sealedFor()).toBe('the second');
    expect((await renew(child)).statusCode).toBe(200);
  });

  it('they are attested anew without being used, also long after a start', async () => {
    await revokeKey();
    const late = aReplica(ROLL_OUT_MS);
    expect(await late.targets()).toEqual([deploymentId]);
    await late.attestAnew.run(new AbortController().signal);
    const { rows } = await attack(
      `SELECT DISTINCT split_part(attestation, '.', 1) AS kid FROM data_plane_tokens
       WHERE tenant_id = $tenant
       UNION SELECT split_part(attestation, '.', 1) FROM data_planes WHERE tenant_id = $tenant`,
    );
    const { kid } = await controlPlane.serviceKeys.evidenceKey('batch');
    expect(rows).toEqual([{ kid }]);
    expect((await alerts()).map((one: { severity: string }) => one.severity)).not.toContain(
      'critical',
    );
  });

  it('nobody is refused, however many come at once', async () => {
    const { attest } = await controlPlane.attestedPlanes.prepare();
    const many = Array.from({ length: 450 }, () => ({
      ...{ id: uuidv7(), secret: randomBytes(32).toString('base64url'), recordId: uuidv7() },
      ...{ deploymentId: uuidv7(), createdAt: new Date() },
    }));
    const attested = many.map(({ id, secret, recordId, ...one }) => {
      const identity = { ...one, rootId: root.id, region: '', issuedUntil: null };
      const token = { id, ...identity, tokenHash: hashSecret(secret) };
      return attest(tokenStatement(tenantId, token, recordId)).attestation;
    });
    await attack(
      `INSERT INTO data_plane_tokens (tenant_id, id, label, deployment_id, root_id, token_hash, region,
         created_at, record_id, attestation)
       SELECT $tenant, id, '', deployment_id, $6, hash, '', created_at, record_id, attestation
       FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $7::timestamptz[])
         AS new (id, deployment_id, hash, record_id, attestation, created_at)`,
      [
        many.map(({ id }) => id),
        many.map((one) => one.deploymentId),
        many.map(({ secret }) => hashSecret(secret)),
        many.map(({ recordId }) => recordId),
        attested,
        root.id,
        many.map(({ createdAt }) => createdAt),
      ],
    );
    await revokeKey();
    const late = aReplica(ROLL_OUT_MS);
    const tokens = [...many.map(({ secret }) => secret), child, root.token];
    const answers = await Promise.all(tokens.map((token) => late.accepts(token)));
    expect(answers.filter((isAccepted) => !isAccepted)).toEqual([]);
  });

  it('what somebody wrote into the database is refused all the same', async () => {
    await revokeKey();
    const late = aReplica(ROLL_OUT_MS);
    await attack('UPDATE data_planes SET sealing_key = $1 WHERE tenant_id = $tenant', [thiefsKey]);
    await attack('UPDATE data_plane_tokens SET region = $1 WHERE deployment_id = $plane', ['else']);
    expect(await late.targets()).toEqual([]);
    expect(await late.accepts(child)).toBe(false);
  });
});

it('a message that keys changed has nothing taken', async () => {
  const late = aReplica(ROLL_OUT_MS);
  const own = randomBytes(32).toString('base64url');
  await registerAtOlder(thiefsKey, own);
  // Whoever may connect to the database can send it.
  controlPlane.changes.publish({ tenantId: PLATFORM });
  expect(await late.accepts(own)).toBe(false);
  expect(await late.targets()).toEqual([deploymentId]);
});

it('a token is attested as it is shown, whatever was attested just before', async () => {
  const replica = aReplica();
  for (const own of ['one', 'two', 'three'].map((name) => `${name}-${uuidv7()}`)) {
    await registerAtOlder(thiefsKey, own);
    expect(await replica.accepts(own)).toBe(true);
  }
  expect((await alerts()).map((one: { severity: string }) => one.severity)).not.toContain(
    'critical',
  );
});

it('a data plane that was taken again gets what it missed when it registers', async () => {
  await controlPlane.db.inTenant(admin.scope, async (tx) => controlPlane.attestedPlanes.begin(tx));
  await attack('UPDATE data_planes SET attestation = NULL WHERE tenant_id = $tenant');
  expect(await aReplica(ROLL_OUT_MS).targets()).toEqual([]);
  await attack(
    `DELETE FROM feed_entries WHERE tenant_id = $tenant AND kind = 'upstream_credential'`,
  );
  await aReplica().adoptAll();
  expect(await aReplica(ROLL_OUT_MS).targets()).toEqual([deploymentId]);
  await register(plane);
  expect(await sealedFor()).toBe('the first');
  const { length } = await entriesFor(deploymentId);
  // Once is enough.
  await register(plane);
  expect(await entriesFor(deploymentId)).toHaveLength(length);
});

it('a token whose times were damaged keeps no start and no other data plane from its secrets', async () => {
  const other = aRegistration();
  const { deploymentId: otherId } = await register(other);
  await asOfEarlier();
  await attack(
    `UPDATE data_plane_tokens SET created_at = '-infinity' WHERE deployment_id = $plane`,
  );
  await aReplica().adoptAll();
  expect(await aReplica(ROLL_OUT_MS).targets()).toEqual([otherId]);
  await rotate('the second');
  expect(await sealedFor(otherId, other.sealingKey)).toBe('the second');
});

it('replicas that start at once, and whoever registers or renews meanwhile, do not disturb each other', async () => {
  await asOfEarlier();
  const renewing = renew(child);
  await Promise.all([aReplica().adoptAll(), aReplica().adoptAll(), register(plane), rotate('x')]);
  expect((await renewing).statusCode).toBe(200);
  const count = async (action: string) =>
    (
      await attack(
        `SELECT FROM ledger_records WHERE tenant_id = $tenant
         AND position(convert_to($1, 'UTF8') IN bytes) = 1`,
        [`{"action":"${action}"`],
      )
    ).rowCount;
  expect(await count('data_planes_attested')).toBe(1);
  expect(await count('data_plane_attested')).toBeLessThanOrEqual(1);
  expect(await aReplica(ROLL_OUT_MS).targets()).toEqual([deploymentId]);
  await rotate('the second');
  expect(await sealedFor()).toBe('the second');
});
