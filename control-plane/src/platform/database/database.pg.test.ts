import pg from 'pg';
import { afterAll, expect, inject, it, vi } from 'vitest';
import { testDatabase } from '../../../../tests/support/test-database.ts';
import { connectDatabase, isDatabaseAway, isLockTimeout, isUniqueViolation } from './database.ts';

const test = await testDatabase();
const logins = { server: `test_server_${process.pid}`, stranger: `test_stranger_${process.pid}` };
for (const login of Object.values(logins)) {
  await test.superuser.query(`CREATE ROLE ${login} LOGIN PASSWORD 'x'`);
}
await test.superuser.query(`GRANT governance_app, governance_ingest TO ${logins.server}`);
afterAll(async () => {
  for (const login of Object.values(logins)) await test.superuser.query(`DROP ROLE ${login}`);
});

function urlOf(login: string): string {
  const url = new URL(test.url);
  url.username = login;
  url.password = 'x';
  return url.href;
}

const connect = (url: string, ingestUrl?: string) =>
  connectDatabase({ url, ingestUrl, poolSize: 1, maxOverflow: 0, onConnectionError: () => {} });

it('serves with a login that owns nothing and is only a member of the two roles', async () => {
  const connections = await connect(urlOf(logins.server));
  const nameOf = async (pool: pg.Pool) =>
    (await pool.query('SELECT current_user AS name')).rows[0].name;
  expect(await nameOf(connections.pool)).toBe('governance_app');
  expect(await nameOf(connections.ingestPool)).toBe('governance_ingest');
  await connections.close();
});

it('reports a connection that breaks, and none of those that it is closing', async () => {
  const broke = vi.fn();
  const options = { url: urlOf(logins.server), poolSize: 1, maxOverflow: 0 };
  const connections = await connectDatabase({ ...options, onConnectionError: broke });
  const breakAll = () =>
    test.superuser.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${logins.server}'`,
    );
  await breakAll();
  await vi.waitFor(() => expect(broke).toHaveBeenCalledTimes(2));
  await connections.pool.query('SELECT 1');
  broke.mockClear();
  const closed = connections.close();
  await breakAll();
  await closed;
  expect(broke).not.toHaveBeenCalled();
});

it('refuses a login that may not take the role, and names the setting', async () => {
  await expect(connect(urlOf(logins.stranger))).rejects.toThrow(
    /DATABASE_URL: its login is no member of governance_app \(GRANT governance_app TO/,
  );
  const ingestUrl = urlOf(logins.stranger);
  await expect(connect(urlOf(logins.server), ingestUrl)).rejects.toThrow(
    /DATABASE_INGEST_URL: its login is no member of governance_ingest/,
  );
});

it('outlives a connection that breaks between two queries of its user', async () => {
  const connections = await connect(test.url);
  const client = await connections.pool.connect();
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  const broken = new Promise((resolve) => client.once('end', resolve));
  await test.superuser.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
  await broken;
  await expect(client.query('SELECT 1')).rejects.toSatisfy(isDatabaseAway);
  client.release(true);
  await connections.close();
});

it('gives a session that PostgreSQL ends by itself when its process stands still', async () => {
  const connections = await connect(test.url);
  const session = await connections.openSession('test_session');
  const { rows } = await session.query(
    `SELECT current_user AS name, current_setting('application_name') AS shown,
       current_setting('idle_session_timeout') AS idle,
       current_setting('tcp_keepalives_idle') AS keepalive`,
  );
  expect(rows).toEqual([
    { name: 'governance_app', shown: 'test_session', idle: '15s', keepalive: '5' },
  ]);
  await session.end();
  await connections.close();
});

it('steps down even from a superuser', async () => {
  const url = new URL(inject('postgres').superuserUrl);
  url.pathname = new URL(test.url).pathname;
  const connections = await connect(url.href);
  const { rows } = await connections.pool.query(
    `SELECT current_setting('is_superuser') AS super, row_security_active('agents') AS held`,
  );
  expect(rows).toEqual([{ super: 'off', held: true }]);
  await connections.close();
});

it('tells a taken value and a lost connection from each other and from anything else', async () => {
  const insert = () =>
    test.superuser.query(`INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), 'x')`);
  await insert();
  const taken = await insert().catch((error: unknown) => error);
  const wrong = await test.superuser.query('SELECT nothing').catch((error: unknown) => error);
  const away = await new pg.Client({ host: '127.0.0.1', port: 1 })
    .connect()
    .catch((error: unknown) => error);
  expect([taken, wrong, away].map(isUniqueViolation)).toEqual([true, false, false]);
  expect([taken, wrong, away].map(isDatabaseAway)).toEqual([false, false, true]);
});

it('knows that a lock was waited for too long, whatever language PostgreSQL speaks', async () => {
  const connections = await connect(test.url);
  const errorOf = (run: Promise<unknown>) => run.catch((error: unknown) => error);
  const raise = (code: string) =>
    `DO $$ BEGIN RAISE EXCEPTION 'Zeitüberschreitung' USING ERRCODE = '${code}'; END $$`;
  const errors = [
    await errorOf(connections.prisma.$executeRawUnsafe(raise('55P03'))),
    await errorOf(connections.prisma.$executeRawUnsafe(raise('55006'))),
    await errorOf(test.superuser.query(raise('55P03'))),
  ];
  await connections.close();
  expect(errors.map(isLockTimeout)).toEqual([true, false, true]);
});

it('takes a disk that is full or fails, and a standby, for a database that cannot work now', async () => {
  const connections = await connect(test.url);
  const errorOf = (run: Promise<unknown>) => run.catch((error: unknown) => error);
  const raise = (code: string) =>
    `DO $$ BEGIN RAISE EXCEPTION 'kein Platz' USING ERRCODE = '${code}'; END $$`;
  for (const code of ['53100', '53200', '58030', '25006']) {
    const ofPrisma = await errorOf(connections.prisma.$executeRawUnsafe(raise(code)));
    const ofDriver = await errorOf(test.superuser.query(raise(code)));
    expect([ofPrisma, ofDriver].map(isDatabaseAway), code).toEqual([true, true]);
  }
  const other = await errorOf(connections.prisma.$executeRawUnsafe(raise('23502')));
  expect(isDatabaseAway(other)).toBe(false);
  await connections.close();
});

it('takes a statement that took too long for a database that cannot answer now', async () => {
  const connections = await connect(test.url);
  const slow = (run: Promise<unknown>) => run.catch((error: unknown) => error);
  const ofPrisma = slow(
    connections.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`SET LOCAL statement_timeout = 20`;
      await tx.$queryRaw`SELECT pg_sleep(5)::text`;
    }),
  );
  const client = new pg.Client({ connectionString: test.url, statement_timeout: 20 });
  await client.connect();
  const ofDriver = slow(client.query('SELECT pg_sleep(5)'));
  expect((await Promise.all([ofPrisma, ofDriver])).map(isDatabaseAway)).toEqual([true, true]);
  await client.end();
  await connections.close();
});
