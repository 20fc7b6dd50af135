import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let time = Date.parse('2026-03-01T12:00:00.000Z');
const now = () => new Date(time);
const { call, controlPlane, test, aTenantAdmin, superAdminToken } = await testControlPlane({ now });
const token = await superAdminToken();
const tenant = await aTenantAdmin();

const rotate = (purpose: string, body?: object) =>
  call(`/api/v1/admin/keys/${purpose}/rotate`, { method: 'POST', token, ...(body && { body }) });
const list = async () => (await call('/api/v1/admin/keys', { token })).json();
const keysOf = async (purpose: string) =>
  (await list()).keys.filter((key: { purpose: string }) => key.purpose === purpose);

async function actions(tenantId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows
    .map(({ bytes }) => JSON.parse(bytes.toString()))
    .filter(({ action }) => action.startsWith('service_key_'));
}

async function facts(tenantId: string, kind: string): Promise<{ keys: { kid: string }[] }[]> {
  const { rows } = await test.superuser.query<{ value: string }>(
    'SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = $2 ORDER BY seq',
    [tenantId, kind],
  );
  return rows.map(({ value }) => JSON.parse(value));
}

describe('the keys of the service', () => {
  it('are a super-admin’s to see and to rotate, and nobody else’s', async () => {
    for (const url of ['/api/v1/admin/keys', '/api/v1/admin/keys/feed/rotate']) {
      const method = url.endsWith('rotate') ? 'POST' : 'GET';
      const answer = await call(url, { method, token: tenant.token });
      expect(answer.statusCode).toBe(403);
      expect((await call(url, { method })).statusCode).toBe(401);
    }
    const { keys, rotations } = await list();
    expect(rotations).toEqual([]);
    expect(keys.map(({ purpose }: { purpose: string }) => purpose).sort()).toEqual([
      'batch',
      'bundle',
      'checkpoint',
      'delegation-token',
      'evidence',
      'feed',
      'token',
      'workflow-token',
    ]);
    expect(JSON.stringify(keys)).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
  });

  it('say under which master key everything is', async () => {
    const { master_key } = await list();
    const { rows } = await test.superuser.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM service_keys',
    );
    expect(master_key).toMatchObject({ previous: [], previous_needed: false });
    expect(master_key.ciphertexts).toContainEqual({
      kind: 'service_key',
      key_id: master_key.key_id,
      state: 'current',
      count: rows[0]?.count,
    });
  });

  it.each([
    ['a purpose that is none', 'payload-sealing', undefined, 404],
    ['a purpose that an object has', 'constructor', undefined, 404],
    ['another member', 'feed', { kid: 'x' }, 422],
    ['no reason at all', 'feed', { revoke: true, reason: '' }, 422],
    ['a long reason', 'feed', { reason: 'x'.repeat(2_001) }, 422],
  ])('refuses %s', async (_, purpose, body, status) => {
    expect((await rotate(purpose, body)).statusCode).toBe(status);
  });

  it.each([
    'bundle',
    'feed',
    'evidence',
    'checkpoint',
    'batch',
    'token',
    'workflow-token',
    'delegation-token',
  ])('%s is followed by another, which signs half a minute later', async (purpose) => {
    const [before] = await keysOf(purpose);
    const answer = await rotate(purpose);
    expect(answer.statusCode).toBe(200);
    const rotation = answer.json();
    expect(rotation).toMatchObject({
      purpose,
      old_kid: before.kid,
      valid_from: new Date(time + 30_000).toISOString(),
      revokes: false,
      reason: null,
      actor: 'superadmin',
    });
    expect(await keysOf(purpose)).toMatchObject([
      { kid: before.kid, state: 'signing', valid_to: rotation.valid_from },
      { kid: rotation.new_kid, state: 'next', valid_to: null },
    ]);
    const again = await rotate(purpose);
    expect(again.statusCode).toBe(409);
    expect(again.json().detail).toContain('valid_from');
    time += 30_000;
    expect(await keysOf(purpose)).toMatchObject([{ state: 'accepted' }, { state: 'signing' }]);
    const [record] = (await actions(tenant.scope.tenantId)).slice(-1);
    expect(record).toMatchObject({
      action: 'service_key_rotated',
      target: `service_key/${before.kid}`,
      actor: { username: 'superadmin', role: 'super_admin', break_glass: true },
      details: { number: rotation.number, purpose, new_key: rotation.new_kid },
    });
  });

  it('are announced to every tenant once, also to tenants created later', async () => {
    const first = await actions(tenant.scope.tenantId);
    expect(first.map(({ details }) => (details as { number: number }).number)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8,
    ]);
    const made = await call('/api/v1/tenants', {
      token,
      body: { name: 'later', admin: { username: 'later-admin', password: 'a long password 1' } },
    });
    const { id } = made.json();
    expect(await actions(id)).toEqual([]);
    const [history] = await facts(id, 'optional.key_history');
    expect(history?.keys).toHaveLength(4);
    expect(await facts(id, 'token_keys')).toHaveLength(1);
    time += 60_000;
    expect((await rotate('feed', { revoke: true, reason: 'a laptop was lost' })).statusCode).toBe(
      200,
    );
    for (const tenantId of [tenant.scope.tenantId, id]) {
      expect((await actions(tenantId)).slice(-1)).toMatchObject([
        { action: 'service_key_revoked', details: { number: 9, reason: 'a laptop was lost' } },
      ]);
      const [newest] = (await facts(tenantId, 'optional.key_history')).slice(-1);
      expect(newest?.keys).toHaveLength(5);
    }
    expect(await keysOf('feed')).toMatchObject([
      { state: 'accepted' },
      { state: 'revoked', revoke_reason: 'a laptop was lost' },
      { state: 'signing' },
    ]);
  });

  it('are announced even if the row of one rotation was damaged and that of another is gone', async () => {
    const { tenantId } = tenant.scope;
    const last = (await actions(tenantId)).length;
    await test.superuser.query(`DELETE FROM service_key_rotations WHERE number = $1`, [last - 1]);
    await test.superuser.query(
      `UPDATE service_key_rotations SET signed = '{}', purpose = 'none' WHERE number = $1`,
      [last],
    );
    await test.superuser.query('UPDATE key_announcements SET number = $2 WHERE tenant_id = $1', [
      tenantId,
      last - 2,
    ]);
    time += 60_000;
    expect((await rotate('feed')).statusCode).toBe(200);
    const told = (await actions(tenantId)).slice(last);
    expect(told).toMatchObject([
      { action: 'service_key_revoked', details: { number: last, purpose: 'unknown' } },
      { action: 'service_key_rotated', details: { number: last + 1, purpose: 'feed' } },
    ]);
    expect((await list()).rotations).toHaveLength(last - 1);
  });

  it('of tokens: the one before is good until its last token has ended, and is then taken out', async () => {
    const published = async () =>
      (await facts(tenant.scope.tenantId, 'token_keys')).slice(-1)[0]?.keys;
    const jwks = async () => (await call('/.well-known/jwks.json')).json().keys;
    const admin = await controlPlane.adminTokens.issue({
      role: 'admin',
      id: tenant.scope.actor.id,
      username: tenant.scope.actor.username,
      tenantId: tenant.scope.tenantId,
      version: '1',
    });
    time += 60_000;
    await rotate('token');
    time += 30_000;
    expect(await jwks()).toHaveLength(3);
    expect(await published()).toHaveLength(3);
    time += 7 * 3_600_000;
    expect((await call('/api/v1/agents', { token: admin })).statusCode).toBe(200);
    time += 2 * 3_600_000;
    expect(await jwks()).toHaveLength(1);
  });
});

it('a key that cannot be used is named to its operator, and the others go on', async () => {
  const { rows } = await test.superuser.query<{ kid: string }>(
    `SELECT kid FROM service_keys WHERE purpose = 'feed-signing' ORDER BY created_at LIMIT 1`,
  );
  const kid = rows[0]?.kid;
  // The hours before ended the other one.
  const later = await superAdminToken();
  const read = async () => (await call('/api/v1/admin/keys', { token: later })).json();
  const metric = async () =>
    /governance_service_keys_unusable\{purpose="feed"\} (\d+)/.exec(
      await controlPlane.registry.metrics(),
    )?.[1];
  expect((await read()).unusable).toEqual([]);
  expect(await metric()).toBe('0');
  expect((await call('/ready')).json().warnings).toBeUndefined();
  await test.superuser.query(
    `UPDATE service_keys SET private_ciphertext = '\\x00' WHERE kid = $1`,
    [kid],
  );
  const { unusable, keys } = await read();
  expect(unusable).toEqual([{ kid, purpose: 'feed', reason: expect.stringMatching(/./) }]);
  expect(keys.map((key: { kid: string }) => key.kid)).not.toContain(kid);
  expect(await metric()).toBe('1');
  expect((await call('/ready')).json().warnings).toEqual({
    service_keys: '1 cannot be used: feed',
  });
});

describe('token keys of the environment', async () => {
  const { generateKeyPairSync } = await import('node:crypto');
  const pair = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const earlier = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const configured = await testControlPlane({
    env: {
      SERVICE_JWT_PRIVATE_KEY: pair.privateKey,
      SERVICE_JWT_PUBLIC_KEY: pair.publicKey,
      SERVICE_JWT_PREVIOUS_PUBLIC_KEYS: earlier.publicKey.replaceAll('\n', '\\n'),
    },
  });

  it('are not rotated by the service, which says what to do', async () => {
    const superAdmin = await configured.superAdminToken();
    const answer = await configured.call('/api/v1/admin/keys/token/rotate', {
      method: 'POST',
      token: superAdmin,
    });
    expect(answer.statusCode).toBe(409);
    expect(answer.json().detail).toContain('SERVICE_JWT_PREVIOUS_PUBLIC_KEYS');
    const { keys } = (await configured.call('/.well-known/jwks.json')).json();
    expect(keys).toHaveLength(2);
  });
});
