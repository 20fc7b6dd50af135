/**
 * The key for hashing identifiers: who gets it, sealed, and when it ends. No bundle and no table
 * has it in clear.
 */
import { RegistrationReply } from '@governance/shared/channel/channels';
import { SealedIdentifierKey } from '@governance/shared/keys/identifier-hash';
import { compactDecrypt } from 'jose';
import { beforeEach, expect, it } from 'vitest';
import { aRegistration, type TestRegistration } from '../../../tests/support/a-registration.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, controlPlane, test } = await testControlPlane();
const URL = '/api/v1/admin/data-protection';
const TOKENS = '/api/v1/admin/data-plane-tokens';

let admin: Awaited<ReturnType<typeof aTenantAdmin>>;
let root: { id: string; token: string };
beforeEach(async () => {
  admin = await aTenantAdmin();
  root = (await call(TOKENS, { token: admin.token, body: { label: 'x' } })).json();
});

const patch = (body: object) => call(URL, { token: admin.token, method: 'PATCH', body });
const set = async (body: object) => {
  const answer = await patch(body);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json();
};

async function register(plane: TestRegistration): Promise<string> {
  const body = plane.provenWith(root.token);
  const answer = await call('/api/v1/data-planes/register', { token: root.token, body });
  expect(answer.statusCode, answer.body).toBe(200);
  return RegistrationReply.parse(answer.json()).deployment_id;
}

/** All that was ever put into the feed for a deployment, in order; null is a tombstone. */
async function entriesFor(deploymentId: string): Promise<(string | null)[]> {
  const { rows } = await test.superuser.query<{ value: string | null }>(
    `SELECT value FROM feed_entries
     WHERE tenant_id = $1 AND kind = 'identifier_key' AND key = $2 ORDER BY seq`,
    [admin.scope.tenantId, deploymentId],
  );
  return rows.map(({ value }) => value);
}

/** What the newest entry holds, opened with the plane's key; null where there is none any more. */
async function keyOf(plane: TestRegistration, deploymentId: string): Promise<string | null> {
  const value = (await entriesFor(deploymentId)).at(-1);
  if (!value) return null;
  const { plaintext } = await compactDecrypt(JSON.parse(value).jwe, plane.sealingKey);
  const sealed = SealedIdentifierKey.parse(JSON.parse(Buffer.from(plaintext).toString()));
  expect(sealed).toMatchObject({
    tenant_id: admin.scope.tenantId,
    deployment_id: deploymentId,
  });
  return sealed.key;
}

it('goes to each data plane while the setting is on, and is the same when it is switched on again', async () => {
  const [one, later] = [aRegistration(), aRegistration()];
  const oneId = await register(one);
  expect(await keyOf(one, oneId)).toBeNull();
  expect(await set({ hash_identifiers: true })).toMatchObject({ hash_identifiers: true });
  const key = await keyOf(one, oneId);
  expect(key).not.toBeNull();
  const laterId = await register(later);
  expect(await keyOf(later, laterId)).toBe(key);
  // Nothing is sent anew by a change of something else, or by the same again.
  await set({ hash_identifiers: true, payload_retention_days: 7 });
  expect(await entriesFor(oneId)).toHaveLength(1);

  await set({ hash_identifiers: false });
  expect([await keyOf(one, oneId), await keyOf(later, laterId)]).toEqual([null, null]);
  await set({ hash_identifiers: true });
  expect([await keyOf(one, oneId), await keyOf(later, laterId)]).toEqual([key, key]);

  const { rows } = await test.superuser.query(
    `SELECT (SELECT string_agg(encode(bytes, 'hex'), '') FROM bundles WHERE tenant_id = $1) ||
       (SELECT encode(identifier_key_ciphertext, 'hex') FROM data_protection_policies
        WHERE tenant_id = $1) AS stored`,
    [admin.scope.tenantId],
  );
  const clear = Buffer.from(key ?? '', 'base64url');
  expect(rows[0].stored).not.toContain(clear.toString('hex'));
  expect(rows[0].stored).not.toContain(Buffer.from(key ?? '').toString('hex'));
});

it('changes with a rotation, for all at one time, and in no other tenant', async () => {
  const plane = aRegistration();
  const id = await register(plane);
  await set({ hash_identifiers: true });
  const first = await keyOf(plane, id);
  await Promise.all([
    set({ rotate_identifier_key: true }),
    set({ rotate_identifier_key: true }),
    register(aRegistration()),
  ]);
  const second = await keyOf(plane, id);
  expect(new Set([first, second, null]).size).toBe(3);
  // A data plane that registers now gets what the others have.
  const later = aRegistration();
  expect(await keyOf(later, await register(later))).toBe(second);
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [admin.scope.tenantId],
  );
  const told = rows.map((row) => JSON.parse(row.bytes.toString()).details.fields?.join());
  expect(told.filter((fields) => fields === 'rotate_identifier_key')).toHaveLength(2);

  admin = await aTenantAdmin();
  root = (await call(TOKENS, { token: admin.token, body: { label: 'x' } })).json();
  const other = aRegistration();
  const otherId = await register(other);
  await set({ hash_identifiers: true });
  expect(await keyOf(other, otherId)).not.toBe(second);
});

it('is withdrawn from revoked and forked data planes', async () => {
  const [revoked, forked] = [aRegistration(), aRegistration()];
  const [revokedId, forkedId] = [await register(revoked), await register(forked)];
  await set({ hash_identifiers: true });
  const { tokens } = (await call(TOKENS, { token: admin.token })).json();
  const { id } = tokens.find((one: { deployment_id: string }) => one.deployment_id === revokedId);
  await call(`${TOKENS}/${id}`, { token: admin.token, method: 'DELETE' });
  await controlPlane.dataPlanes.markForked(admin.scope.tenantId, forkedId);
  await set({ rotate_identifier_key: true });
  expect(await keyOf(revoked, revokedId)).toBeNull();
  expect(await keyOf(forked, forkedId)).toBeNull();
});

it.each([
  ['while nothing is hashed', { rotate_identifier_key: true }],
  ['with what switches it off', { hash_identifiers: false, rotate_identifier_key: true }],
])('400: a rotation %s, and nothing is stored', async (_, body) => {
  const answer = await patch({ ...body, payload_retention_days: 5 });
  expect(answer.statusCode).toBe(400);
  expect(answer.json().detail).toContain('hash_identifiers');
  expect((await call(URL, { token: admin.token })).json()).toMatchObject({
    payload_retention_days: 30,
  });
});
