import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, test, superAdminToken, aTenantAdmin } = await testControlPlane();
const token = await superAdminToken();
const newTenant = (name: string, username = `${name}-admin`) => ({
  name,
  admin: { username, password: 'long enough' },
});

describe('POST /api/v1/tenants', () => {
  it('makes a tenant whose administrator can log in', async () => {
    const answer = await call('/api/v1/tenants', { token, body: newTenant('acme') });
    expect(answer.statusCode).toBe(201);
    expect(answer.json()).toMatchObject({ name: 'acme', status: 'active' });

    const login = await call('/api/v1/auth/admin/login', {
      body: { username: 'acme-admin', password: 'long enough' },
    });
    expect(login.json()).toMatchObject({ token_type: 'Bearer', username: 'acme-admin' });
    const { rows } = await test.superuser.query(
      `SELECT type FROM ledger_records WHERE tenant_id = $1 ORDER BY position`,
      [answer.json().id],
    );
    expect(rows.map((row) => row.type).slice(0, 2)).toEqual(['epoch_start', 'admin_action']);
  });

  it('refuses a name or a username that is taken, and leaves nothing behind', async () => {
    await call('/api/v1/tenants', { token, body: newTenant('twice') });
    const before = await test.superuser.query('SELECT count(*) FROM tenants');
    for (const [body, detail] of [
      [newTenant('twice', 'somebody-else'), 'A tenant with this name already exists.'],
      [newTenant('another', 'twice-admin'), 'The username is taken.'],
      [newTenant('third', 'superadmin'), 'The username is reserved.'],
    ] as const) {
      const answer = await call('/api/v1/tenants', { token, body });
      expect(answer.statusCode).toBe(409);
      expect(answer.json()).toEqual({ detail });
    }
    const after = await test.superuser.query('SELECT count(*) FROM tenants');
    expect(after.rows).toEqual(before.rows);
  });

  it('takes two forms of Unicode for one name, which is kept in NFC', async () => {
    const first = await call('/api/v1/tenants', { token, body: newTenant('Cafe\u0301', 'nfd') });
    expect(first.json()).toMatchObject({ name: 'Caf\u00e9' });
    const body = newTenant('Caf\u00e9', 'nfc');
    expect((await call('/api/v1/tenants', { token, body })).statusCode).toBe(409);
  });

  it.each(['\u200b', '\u202eabc'])('refuses the name %j with a clear detail', async (name) => {
    const answer = await call('/api/v1/tenants', { token, body: newTenant(name, 'somebody') });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail).toMatch(
      /^body\.name: must not (consist of invisible|contain a bidi)/,
    );
  });

  it.each([
    [{}, ['body.name', 'body.admin']],
    [{ name: '', admin: { username: 'x', password: 'long enough' } }, ['body.name']],
    [{ name: 'x', admin: { username: 'x', password: 'short' } }, ['body.admin.password']],
    [{ name: 7, admin: 'x' }, ['body.name', 'body.admin']],
    [{ name: 'nul\u0000', admin: { username: 'x', password: 'long enough' } }, ['body.name']],
  ])('names the wrong fields of %j', async (body, fields) => {
    const answer = await call('/api/v1/tenants', { token, body });
    expect(answer.statusCode).toBe(422);
    const { detail, errors } = answer.json();
    expect(errors.map((error: { loc: string[] }) => error.loc.join('.'))).toEqual(fields);
    for (const field of fields) expect(detail).toContain(field);
  });
});

describe('GET /api/v1/tenants', () => {
  it('lists all tenants, the default one first', async () => {
    const answer = await call('/api/v1/tenants', { token });
    expect(answer.json().tenants[0]).toMatchObject({ name: 'default' });
    expect(answer.json().total).toBe(answer.json().tenants.length);
    const page = await call('/api/v1/tenants?offset=1&limit=1', { token });
    expect(page.json().tenants).toEqual([answer.json().tenants[1]]);
  });

  it('has each tenant once, also where several began at the same moment', async () => {
    const ids = Array.from({ length: 12 }, () => uuidv7()).sort();
    await test.superuser.query(
      `INSERT INTO tenants (id, name, created_at) SELECT id, id, '2026-01-01Z' FROM unnest($1::uuid[]) id`,
      [[...ids].reverse()],
    );
    const listed: string[] = [];
    for (let offset = 0; offset < ids.length; offset++) {
      const page = await call(`/api/v1/tenants?offset=${offset}&limit=1`, { token });
      listed.push(page.json().tenants[0].id);
    }
    await test.superuser.query('DELETE FROM tenants WHERE id = ANY($1)', [ids]);
    expect(listed).toEqual(ids);
  });

  it('is for super-admins only', async () => {
    const admin = await aTenantAdmin();
    expect((await call('/api/v1/tenants', { token: admin.token })).statusCode).toBe(403);
    expect((await call('/api/v1/tenants')).statusCode).toBe(401);
  });
});
