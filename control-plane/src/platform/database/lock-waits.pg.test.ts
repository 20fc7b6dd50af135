/** Who waits for a lock waits for seconds, says so, and leaves connections to others. */
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import { isDatabaseAway } from './database.ts';

const { call, aTenantAdmin, controlPlane, test } = await testControlPlane();
type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

const holders: pg.Client[] = [];
afterAll(async () => {
  for (const holder of holders) await holder.end();
});

/** Another process's transaction, which holds a lock until it is ended. */
async function hold(statement: string, tenantId: string): Promise<pg.Client> {
  const url = new URL(test.url);
  const holder = new pg.Client({ connectionString: url.href });
  holders.push(holder);
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SET ROLE governance_app');
  await holder.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenantId]);
  await holder.query(statement, [tenantId]);
  return holder;
}

const SEALED_FACTS = `SELECT pg_advisory_xact_lock(hashtextextended('credentials/' || $1, 0))`;
const HEADS = 'SELECT 1 FROM tenant_heads WHERE tenant_id = $1::uuid FOR UPDATE';

const server = (n: number) => ({
  server_id: `server-${n}`,
  transport: 'streamable-http',
  url: 'https://mcp.example.com/mcp',
});
const create = ({ token }: Admin, n: number) =>
  call('/api/v1/mcp-servers', { token, body: server(n) });

async function timed<T>(work: Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now();
  const result = await work;
  return { ms: performance.now() - began, result };
}

describe('a process that hangs in the middle of a change', () => {
  /** As a process that is stopped: nothing of it runs. */
  const hang = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

  it('lets the kill switch through, and stores nothing', { timeout: 30_000 }, async () => {
    const admin = await aTenantAdmin();
    const stuck = controlPlane.db.inTenant(admin.scope, async (tx) => {
      const details = {
        get note() {
          // The records are made while the tenant's row is locked.
          hang(3_600);
          return 'late';
        },
      };
      tx.audit.append({ action: 'agent_updated', target: 'agent/x', details });
    });
    const error = await stuck.catch((thrown: unknown) => thrown);
    expect(isDatabaseAway(error), String(error)).toBe(true);
    const { rows } = await test.superuser.query(
      `SELECT 1 FROM ledger_records WHERE tenant_id = $1 AND convert_from(bytes, 'UTF8') LIKE '%agent/x%'`,
      [admin.scope.tenantId],
    );
    expect(rows).toEqual([]);
    const body = { reason: 'now' };
    const engaged = await call('/api/v1/admin/killswitch', { token: admin.token, body });
    expect([engaged.statusCode, engaged.json().engaged]).toEqual([200, true]);
  });
});

describe('a change that waits for a lock', () => {
  // Of different tenants, whose waits pass at a time.
  describe.concurrent('in vain', () => {
    it('is refused with Retry-After, and stores nothing', { timeout: 60_000 }, async () => {
      const admin = await aTenantAdmin();
      const holder = await hold(HEADS, admin.scope.tenantId);
      const body = { name: 'reader', permissions: ['*:read'] };
      const { ms, result } = await timed(call('/api/v1/roles', { token: admin.token, body }));
      expect([result.statusCode, result.headers['retry-after']]).toEqual([503, '5']);
      expect(result.json().detail).toBe('Another change of this tenant is under way: try again.');
      expect(ms).toBeGreaterThan(4_500);
      expect(ms).toBeLessThan(10_000);
      await holder.query('ROLLBACK');
      const roles = await call('/api/v1/roles', { token: admin.token });
      expect(roles.json()).toMatchObject({ total: 0 });
      expect((await call('/api/v1/roles', { token: admin.token, body })).statusCode).toBe(201);
    });

    it('says that a token is revoked where only its sealed credentials wait', {
      timeout: 60_000,
    }, async () => {
      const admin = await aTenantAdmin();
      const { token } = admin;
      const made = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
      const { id } = made.json();
      const revoke = () =>
        call(`/api/v1/admin/data-plane-tokens/${id}`, { token, method: 'DELETE' });
      const holder = await hold(SEALED_FACTS, admin.scope.tenantId);
      const first = await revoke();
      expect([first.statusCode, first.headers['retry-after']]).toEqual([503, '5']);
      expect(first.json().detail).toContain('The token is revoked');
      const { tokens } = (await call('/api/v1/admin/data-plane-tokens', { token })).json();
      expect(tokens).toMatchObject([{ id, revoked_at: expect.any(String) }]);
      await holder.query('ROLLBACK');
      expect((await revoke()).statusCode).toBe(204);
    });
  });

  it('leaves connections to everybody else', { timeout: 90_000 }, async () => {
    const admin = await aTenantAdmin();
    const stranger = await aTenantAdmin();
    const holder = await hold(SEALED_FACTS, admin.scope.tenantId);
    const changes = Array.from({ length: 60 }, (_, n) => create(admin, n));
    // As many as had the whole pool before.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const others = await timed(
      Promise.all([
        create(stranger, 1),
        call('/ready'),
        call('/api/v1/agents', { token: admin.token }),
      ]),
    );
    expect(others.result.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200]);
    expect(others.ms).toBeLessThan(4_000);
    const answers = await Promise.all(changes);
    expect(
      new Set(answers.map((one) => `${one.statusCode} ${one.headers['retry-after']}`)),
    ).toEqual(new Set(['503 5']));
    await holder.query('ROLLBACK');
    expect((await create(admin, 1)).statusCode).toBe(201);
    const { rows } = await test.superuser.query(
      'SELECT server_id FROM mcp_servers WHERE tenant_id = $1',
      [admin.scope.tenantId],
    );
    expect(rows).toEqual([{ server_id: 'server-1' }]);
  });

  it('is made once the lock is free, one after the other', { timeout: 60_000 }, async () => {
    const admin = await aTenantAdmin();
    const holder = await hold(SEALED_FACTS, admin.scope.tenantId);
    const changes = Array.from({ length: 8 }, (_, n) => create(admin, n));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await holder.query('COMMIT');
    for (const { statusCode } of await Promise.all(changes)) expect(statusCode).toBe(201);
    const { revision } = await controlPlane.bundles.requestBuild(admin.scope.tenantId);
    expect(revision).toBeGreaterThan(0);
  });
});
