import { Secret } from '@governance/shared/settings';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_PASSWORD, testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { hashPassword } from '../auth/passwords.ts';

let time = Date.now();
const plane = await testControlPlane({ now: () => new Date(time) });
const { call, controlPlane, test, aTenantAdmin, aColleague, superAdminToken } = plane;
const USERS = '/api/v1/admin/users';
const PASSWORD = 'a long password';

// A fresh window of the limits of log-ins.
beforeEach(() => {
  time += 180_000;
});

let names = 0;
const aName = () => `user-${++names}@example.com`;
const login = (username: string, password: string) =>
  call('/api/v1/auth/admin/login', { body: { username, password } });
const tokenOf = async (username: string, password = PASSWORD): Promise<string> => {
  const answer = await login(username, password);
  expect(answer.statusCode, answer.body).toBe(200);
  return answer.json().access_token;
};
const aUser = async (token: string, given: object = {}) => {
  const body = { username: aName(), password: PASSWORD, role: 'approver', ...given };
  const answer = await call(USERS, { token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json() as { id: string; username: string; role: string };
};
const patch = (token: string, id: string, body: object) =>
  call(`${USERS}/${id}`, { token, method: 'PATCH', body });
const remove = (token: string, path: string) =>
  call(`${USERS}/${path}`, { token, method: 'DELETE' });
const statusWith = async (token: string) => (await call('/api/v1/auth/me', { token })).statusCode;

async function recordsOf(tenantId: string) {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

describe('a user', () => {
  it('is made, listed, logs in and is what the role says', async () => {
    const { token, scope } = await aTenantAdmin();
    const made = await call(USERS, {
      token,
      body: { username: ' Ann.Lee@Example.com ', password: PASSWORD, role: 'auditor' },
    });
    expect(made.statusCode).toBe(201);
    const user = made.json();
    expect(user).toEqual({
      id: expect.any(String),
      username: 'ann.lee@example.com',
      role: 'auditor',
      status: 'active',
      created_at: new Date(time).toISOString(),
      updated_at: new Date(time).toISOString(),
    });
    const list = (await call(USERS, { token })).json();
    expect(list).toMatchObject({ total: 2, users: [{ id: scope.actor.id }, { id: user.id }] });
    expect(JSON.stringify(list)).not.toContain('argon2');
    const own = await tokenOf('ANN.LEE@example.com');
    expect((await call('/api/v1/auth/me', { token: own })).json()).toEqual({
      id: user.id,
      username: 'ann.lee@example.com',
      role: 'auditor',
      tenant_id: scope.tenantId,
      may: ['read', 'own'],
    });
    const actions = await recordsOf(scope.tenantId);
    expect(actions.map(({ action, actor }) => [action, actor.username, actor.role])).toEqual([
      ['administrator_created', scope.actor.username, 'admin'],
      ['admin_logged_in', 'ann.lee@example.com', 'auditor'],
    ]);
    expect(actions[0]).toMatchObject({
      v: 2,
      target: `administrator/${user.id}`,
      details: { username: 'ann.lee@example.com', role: 'auditor' },
    });
    expect(plane.logged.join('')).not.toContain(PASSWORD);
  });

  it.each([
    ['another case', 'TWIN@example.com', 409],
    ['another tenant', 'twin@example.com', 409],
    ['the super-admin', 'SuperAdmin', 409],
    ['a Cyrillic a', 'аdmin', 422],
    ['a full-width letter', 'ｔwin@example.com', 422],
    ['a letter with a mark', 'é@example.com', 422],
    ['a mark that joins', 'twin\u0301@example.com', 422],
    ['a zero-width space', 'twin\u200b@example.com', 422],
    ['a space', 'twin a', 422],
    ['a dotted capital I', 'İtwin', 422],
  ])('cannot be named like %s', async (_, username, status) => {
    const first = await aTenantAdmin();
    const token = (await aTenantAdmin()).token;
    const twin = { username: 'twin@example.com', password: PASSWORD, role: 'admin' };
    await call(USERS, { token: first.token, body: twin });
    const answer = await call(USERS, { token, body: { ...twin, username } });
    expect(answer.statusCode, answer.body).toBe(status);
  });

  it.each([
    { role: 'super_admin' },
    { role: 'system' },
    { password: 'short' },
    { role: undefined },
    { tenant_id: 'x' },
    { token_version: 7 },
  ])('is not made with %j', async (given) => {
    const { token } = await aTenantAdmin();
    const body = { username: aName(), password: PASSWORD, role: 'admin', ...given };
    expect((await call(USERS, { token, body })).statusCode).toBe(422);
  });

  it('of an earlier version keeps a name that a new user could not get', async () => {
    const { scope, token } = await aTenantAdmin();
    const users = ['Søren B', 'søren b', 'Old Name'];
    for (const username of users) {
      await test.superuser.query(
        `INSERT INTO administrators (tenant_id, id, username, password_hash)
         VALUES ($1, gen_random_uuid(), $2, $3)`,
        [scope.tenantId, username, await hashPassword(`password of ${username}`)],
      );
    }
    for (const username of users) {
      const own = await tokenOf(username, `password of ${username}`);
      expect((await call('/api/v1/auth/me', { token: own })).json()).toMatchObject({ username });
    }
    const inOtherCase = (await login('OLD NAME', 'password of Old Name')).json();
    expect(inOtherCase).toMatchObject({ username: 'Old Name' });
    await test.superuser.query(
      `UPDATE administrators SET username = 'Old.Name' WHERE username = 'Old Name'`,
    );
    const body = { username: 'old.name', password: PASSWORD, role: 'admin' };
    expect((await call(USERS, { token, body })).statusCode).toBe(409);
  });

  it('cannot be used to find out the names of other tenants', async () => {
    const { token } = await aTenantAdmin();
    const body = { username: 'admin', password: PASSWORD, role: 'auditor' };
    const sent = Array.from({ length: 33 }, () => call(USERS, { token, body }));
    const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 409)).toHaveLength(30);
    expect(statuses.filter((status) => status === 429)).toHaveLength(3);
    const other = await aTenantAdmin();
    expect((await call(USERS, { token: other.token, body })).statusCode).toBe(409);
  });

  it('is as many as a tenant may have', async () => {
    const { token, scope } = await aTenantAdmin();
    await test.superuser.query(
      `INSERT INTO administrators (tenant_id, id, username, password_hash)
       SELECT $1, gen_random_uuid(), 'many-' || n, '-' FROM generate_series(1, 199) n`,
      [scope.tenantId],
    );
    const body = { username: aName(), password: PASSWORD, role: 'auditor' };
    const answer = await call(USERS, { token, body });
    expect(answer.statusCode, answer.body).toBe(409);
    expect(answer.json().detail).toMatch(/as many users/);
  });
});

describe('a change of a user', () => {
  it.each<[string, object]>([
    ['role', { role: 'auditor' }],
    ['status', { status: 'disabled' }],
    ['password', { password: 'another password' }],
  ])('of the %s ends the sessions with the next request', async (_, change) => {
    const { token } = await aTenantAdmin();
    const user = await aUser(token);
    const own = await tokenOf(user.username);
    expect(await statusWith(own)).toBe(200);
    expect((await patch(token, user.id, change)).statusCode).toBe(200);
    expect(await statusWith(own)).toBe(401);
  });

  it('gives the new role and password, and nothing to a disabled user', async () => {
    const { token, scope } = await aTenantAdmin();
    const user = await aUser(token);
    const change = { role: 'auditor', password: 'another password' };
    expect((await patch(token, user.id, change)).json()).toMatchObject({ role: 'auditor' });
    expect((await login(user.username, PASSWORD)).statusCode).toBe(401);
    const own = await tokenOf(user.username, 'another password');
    expect((await call('/api/v1/auth/me', { token: own })).json()).toMatchObject({
      role: 'auditor',
    });
    await patch(token, user.id, { status: 'disabled' });
    expect((await login(user.username, 'another password')).json()).toEqual({
      detail: 'The credentials are wrong.',
    });
    await patch(token, user.id, { status: 'active' });
    await tokenOf(user.username, 'another password');
    // What an ended token said is not taken up again.
    expect(await statusWith(own)).toBe(401);
    const updates = (await recordsOf(scope.tenantId)).filter(
      ({ action }) => action === 'administrator_updated',
    );
    expect(updates.map(({ details }) => details.changed)).toEqual([
      ['role', 'password'],
      ['status'],
      ['status'],
    ]);
    expect(updates[0].details).toMatchObject({ role_before: 'approver', role: 'auditor' });
    expect(JSON.stringify(updates)).not.toContain('another password');
  });

  it('that changes nothing ends nothing and records nothing', async () => {
    const { token, scope } = await aTenantAdmin();
    const user = await aUser(token);
    const own = await tokenOf(user.username);
    const before = (await recordsOf(scope.tenantId)).length;
    for (const body of [{}, { role: 'approver' }, { status: 'active' }]) {
      expect((await patch(token, user.id, body)).statusCode).toBe(200);
    }
    expect(await statusWith(own)).toBe(200);
    expect(await recordsOf(scope.tenantId)).toHaveLength(before);
  });

  it('is never to the caller’s own account, however the id is written', async () => {
    const { token, scope } = await aTenantAdmin();
    await aColleague(scope, 'admin');
    for (const id of [scope.actor.id, scope.actor.id.toUpperCase()]) {
      for (const body of [{ password: PASSWORD }, { role: 'auditor' }, { status: 'disabled' }]) {
        expect((await patch(token, id, body)).statusCode).toBe(409);
      }
      expect((await remove(token, id)).statusCode).toBe(409);
    }
    expect(await statusWith(token)).toBe(200);
  });

  it('finds no user of another tenant, and a super-admin finds those of the named one', async () => {
    const mine = await aTenantAdmin();
    const theirs = await aTenantAdmin();
    const user = await aUser(theirs.token);
    expect((await patch(mine.token, user.id, { role: 'admin' })).statusCode).toBe(404);
    expect((await remove(mine.token, user.id)).statusCode).toBe(404);
    expect((await remove(mine.token, `${user.id}/sessions`)).statusCode).toBe(404);
    const token = await superAdminToken();
    const at = (tenantId: string) => ({
      token,
      headers: { 'x-tenant-id': tenantId },
      method: 'PATCH' as const,
      body: { role: 'auditor' },
    });
    expect((await call(`${USERS}/${user.id}`, at(mine.scope.tenantId))).statusCode).toBe(404);
    expect((await call(`${USERS}/${user.id}`, at(theirs.scope.tenantId))).statusCode).toBe(200);
    const records = await recordsOf(theirs.scope.tenantId);
    expect(records.slice(-2)).toMatchObject([
      { action: 'break_glass_access' },
      { action: 'administrator_updated', actor: { role: 'super_admin', break_glass: true } },
    ]);
  });

  it('deletes: the name is free again, and its old token is not the new user’s', async () => {
    const { token, scope } = await aTenantAdmin();
    const user = await aUser(token, { role: 'admin' });
    const own = await tokenOf(user.username);
    expect((await remove(token, user.id)).statusCode).toBe(204);
    expect(await statusWith(own)).toBe(401);
    expect((await remove(token, user.id)).statusCode).toBe(404);
    await aUser(token, { username: user.username, role: 'admin' });
    expect(await statusWith(own)).toBe(401);
    expect((await recordsOf(scope.tenantId)).map(({ action }) => action)).toContain(
      'administrator_deleted',
    );
  });

  it('ends sessions and changes nothing else', async () => {
    const { token } = await aTenantAdmin();
    const user = await aUser(token);
    const own = await tokenOf(user.username);
    expect((await remove(token, `${user.id}/sessions`)).statusCode).toBe(204);
    expect(await statusWith(own)).toBe(401);
    expect(await statusWith(await tokenOf(user.username))).toBe(200);
  });
});

describe('the last administrator', () => {
  it('stays, whoever asks for the removal', async () => {
    const { scope } = await aTenantAdmin();
    await aColleague(scope, 'auditor');
    const headers = { 'x-tenant-id': scope.tenantId };
    const token = await superAdminToken();
    const url = `${USERS}/${scope.actor.id}`;
    for (const body of [{ role: 'approver' }, { status: 'disabled' }]) {
      const answer = await call(url, { token, headers, method: 'PATCH', body });
      expect(answer.statusCode, answer.body).toBe(409);
    }
    expect((await call(url, { token, headers, method: 'DELETE' })).statusCode).toBe(409);
  });

  it('stays, however many remove each other at once', async () => {
    const removal = fc.record({
      by: fc.nat({ max: 3 }),
      of: fc.nat({ max: 3 }),
      how: fc.constantFrom('delete', 'disable', 'demote'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(removal, { minLength: 2, maxLength: 8 }), async (removals) => {
        const first = await aTenantAdmin();
        const others = [1, 2, 3].map(() => aColleague(first.scope, 'admin'));
        const admins = [first, ...(await Promise.all(others))];
        const answers = await Promise.all(
          removals.map(({ by, of, how }) => {
            const { token } = admins[by] as typeof first;
            const { id } = (admins[of] as typeof first).scope.actor;
            if (how === 'delete') return remove(token, id);
            return patch(
              token,
              id,
              how === 'disable' ? { status: 'disabled' } : { role: 'auditor' },
            );
          }),
        );
        for (const { statusCode } of answers) {
          expect([200, 204, 401, 403, 404, 409]).toContain(statusCode);
        }
        const { rows } = await test.superuser.query(
          `SELECT count(*)::int AS left FROM administrators
           WHERE tenant_id = $1 AND role = 'admin' AND status = 'active'`,
          [first.scope.tenantId],
        );
        expect(rows[0].left).toBeGreaterThan(0);
      }),
      { numRuns: 12 },
    );
  });
});

describe('the own account', () => {
  const change = (token: string, current: string, next: string) =>
    call('/api/v1/auth/password', {
      token,
      body: { current_password: current, new_password: next },
    });

  it('changes its password with the current one, and continues with a new token', async () => {
    const { token, scope } = await aTenantAdmin();
    const user = await aUser(token, { role: 'auditor' });
    const [own, elsewhere] = [await tokenOf(user.username), await tokenOf(user.username)];
    expect((await change(own, 'not it', 'the next password')).statusCode).toBe(401);
    const answer = await change(own, PASSWORD, 'the next password');
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    for (const ended of [own, elsewhere]) expect(await statusWith(ended)).toBe(401);
    expect(await statusWith(answer.json().access_token)).toBe(200);
    await tokenOf(user.username, 'the next password');
    const records = await recordsOf(scope.tenantId);
    expect(records.map(({ action }) => action)).toContain('admin_password_changed');
  });

  it('limits guesses of the password as a log-in does', async () => {
    const { token } = await aTenantAdmin();
    const user = await aUser(token);
    const own = await tokenOf(user.username);
    const sent = Array.from({ length: 14 }, (_, i) => change(own, `guess ${i}`, PASSWORD));
    const statuses = (await Promise.all(sent)).map(({ statusCode }) => statusCode);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  });

  it('logs out everywhere', async () => {
    const { token, scope } = await aTenantAdmin();
    const user = await aUser(token);
    const [own, elsewhere] = [await tokenOf(user.username), await tokenOf(user.username)];
    const out = await call('/api/v1/auth/logout', { token: own, method: 'POST' });
    expect(out.statusCode).toBe(204);
    for (const ended of [own, elsewhere]) expect(await statusWith(ended)).toBe(401);
    expect((await recordsOf(scope.tenantId)).at(-1)).toMatchObject({
      action: 'admin_logged_out',
      actor: { id: user.id, role: 'approver' },
    });
  });

  it('of a super-admin is shown as such, and has no password here', async () => {
    const token = await superAdminToken();
    expect((await call('/api/v1/auth/me', { token })).json()).toMatchObject({
      id: 'superadmin',
      role: 'super_admin',
      tenant_id: null,
    });
    expect((await change(token, 'x', PASSWORD)).statusCode).toBe(403);
  });
});

describe('the password of the environment', () => {
  it('does not undo a change made over the API until the variable itself changes', async () => {
    const { ensureDefaultTenant } = controlPlane.tenants;
    const token = await tokenOf('admin', ADMIN_PASSWORD);
    const answer = await call('/api/v1/auth/password', {
      token,
      body: { current_password: ADMIN_PASSWORD, new_password: 'chosen here' },
    });
    expect(answer.statusCode, answer.body).toBe(200);
    await ensureDefaultTenant(new Secret(ADMIN_PASSWORD));
    const chosen = await tokenOf('admin', 'chosen here');
    expect((await login('admin', ADMIN_PASSWORD)).statusCode).toBe(401);
    await ensureDefaultTenant(new Secret('another of the environment'));
    expect(await statusWith(chosen)).toBe(401);
    await tokenOf('admin', 'another of the environment');
    await ensureDefaultTenant(new Secret('another of the environment'));
    await tokenOf('admin', 'another of the environment');
  });

  it('belongs to nobody once admin was deleted and a user of another tenant has the name', async () => {
    const own = await tokenOf('admin', 'another of the environment');
    const me = (await call('/api/v1/auth/me', { token: own })).json();
    const colleague = await aColleague(
      { tenantId: me.tenant_id, actor: { id: me.id, username: 'admin', role: 'admin' } },
      'admin',
    );
    expect((await remove(colleague.token, me.id)).statusCode).toBe(204);
    const { token } = await aTenantAdmin();
    const user = await aUser(token, { username: 'Admin' });
    await controlPlane.tenants.ensureDefaultTenant(new Secret('of the environment'));
    expect((await login('admin', 'of the environment')).statusCode).toBe(401);
    await tokenOf(user.username);
  });
});
