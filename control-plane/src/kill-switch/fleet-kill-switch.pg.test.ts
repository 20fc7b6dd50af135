/** The kill switch of all tenants, where replicas die and tenants are made in between. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import type { Actor } from '../platform/database/tenant-scope.ts';
import { createKillSwitchService } from './kill-switch-service.ts';

const { call, test, aTenantAdmin, superAdminToken } = await testControlPlane();
const token = await superAdminToken();
const PATH = '/api/v1/admin/killswitch';
const SUPER: Actor = { id: 'superadmin', username: 'superadmin', role: 'super_admin' };
const applied = { wait: async () => {} };
const now = () => new Date();

beforeEach(() => call(PATH, { token, method: 'POST', body: { scope: 'all', lift: true } }));
afterEach(() => call(PATH, { token, method: 'POST', body: { scope: 'all', lift: true } }));

const stateOf = async (tenantId: string) =>
  (await call(PATH, { token, headers: { 'x-tenant-id': tenantId } })).json();

async function order() {
  const { rows } = await test.superuser.query(
    'SELECT generation, done_generation AS done FROM fleet_kill_switch',
  );
  return rows[0];
}

/** Whether what is shown is what each tenant's own audit chain says, once. */
async function engagements(tenantId: string): Promise<number> {
  const { rows } = await test.superuser.query(
    `SELECT count(*)::int AS n FROM ledger_records
     WHERE tenant_id = $1 AND convert_from(bytes, 'UTF8') LIKE '%"kill_switch_engaged"%'`,
    [tenantId],
  );
  return rows[0].n;
}

it('is finished by another replica where the one that was asked died, and is taken once', async () => {
  const tenants = [await aTenantAdmin(), await aTenantAdmin(), await aTenantAdmin()];
  const ids = tenants.map(({ scope }) => scope.tenantId);
  await anAgent(test, tenants[2]?.scope ?? never());
  // One that dies: after the second tenant its database is gone for it.
  let left = 2;
  const dying = createKillSwitchService({
    db: {
      ...test.db,
      inTenantWithHeads: (scope, work) =>
        left-- > 0 ? test.db.inTenantWithHeads(scope, work) : Promise.reject(new Error('gone')),
    },
    applied,
    now,
  });
  await expect(
    dying.changeAll(SUPER, { lift: false, reason: 'breach' }, 'request'),
  ).rejects.toMatchObject({ code: 'UNAVAILABLE', detail: expect.stringContaining('2 of') });
  const { generation, done } = await order();
  expect(done).toBeLessThan(generation);

  const other = createKillSwitchService({ db: test.db, applied, now });
  await other.finishAll();
  for (const id of ids) {
    expect(await stateOf(id)).toMatchObject({ engaged: true, scope: 'all', reason: 'breach' });
    expect(await engagements(id)).toBe(1);
  }
  expect(await order()).toEqual({ generation, done: generation });
  await other.finishAll();
  for (const id of ids) expect(await engagements(id)).toBe(1);
});

it('never gives an older order after a newer one', async () => {
  const { scope } = await aTenantAdmin();
  const service = createKillSwitchService({ db: test.db, applied, now });
  const kill = { lift: false, reason: null };
  await Promise.all([
    service.changeAll(SUPER, kill, 'one'),
    service.changeAll(SUPER, { ...kill, lift: true }, 'two'),
    service.changeAll(SUPER, kill, 'three'),
    service.finishAll(),
  ]);
  const { rows } = await test.superuser.query('SELECT engaged FROM fleet_kill_switch');
  expect((await stateOf(scope.tenantId)).engaged).toBe(rows[0].engaged);
});

it('holds a tenant that is made while it is engaged, and not one that is made afterwards', async () => {
  await call(PATH, { token, method: 'POST' });
  const make = async () => {
    const name = `tenant-${crypto.randomUUID()}`;
    const admin = { username: name, password: 'a password' };
    return (await call('/api/v1/tenants', { token, body: { name, admin } })).json().id;
  };
  const during = await make();
  expect(await stateOf(during)).toMatchObject({ engaged: true, scope: 'all', generation: 1 });
  expect(await engagements(during)).toBe(1);
  const { rows } = await test.superuser.query(
    `SELECT value FROM feed_entries WHERE tenant_id = $1 AND kind = 'kill_switch'`,
    [during],
  );
  expect(JSON.parse(rows[0].value)).toMatchObject({ engaged: true });

  const lifted = await call(PATH, { token, body: { scope: 'all', lift: true } });
  expect(lifted.json()).toMatchObject({ engaged: false });
  expect(await stateOf(during)).toMatchObject({ engaged: false });
  const after = await make();
  expect(await stateOf(after)).toMatchObject({ engaged: false, generation: 0 });
});

it('misses no tenant that is made at the same moment', async () => {
  const name = () => `tenant-${crypto.randomUUID()}`;
  const made: Promise<{ json(): { id: string } }>[] = [];
  for (let i = 0; i < 3; i++) {
    const admin = { username: name(), password: 'a password' };
    made.push(call('/api/v1/tenants', { token, body: { name: name(), admin } }));
  }
  const killed = await call(PATH, { token, method: 'POST' });
  expect(killed.statusCode).toBe(200);
  for (const { json } of await Promise.all(made)) {
    expect(await stateOf(json().id)).toMatchObject({ engaged: true });
  }
});

function never(): never {
  throw new Error('there is one');
}
