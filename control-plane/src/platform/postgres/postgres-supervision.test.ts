import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpServer } from '@governance/shared/http/http-server';
import { createLog } from '@governance/shared/process/log';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { createControlPlane, parseControlPlaneConfig } from '../../main.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { isProcessAlive } from './folder-lock.ts';
import { superviseServer } from './postgres-supervision.ts';

// Real servers and real kills, on a machine that does other things too.
vi.setConfig({ testTimeout: 120_000 });

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'supervision-'));
  chmodSync(folder, 0o755);
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const soon = { timeout: 60_000, interval: 100 };

it('starts a server again that was killed, at its address and with what was committed', async () => {
  const output: string[] = [];
  const log = {
    info: (line: string) => output.push(line),
    warn: (line: string) => output.push(line),
  };
  const server = await startEmbeddedPostgres({ dataDir: aFolder(), log });
  undo.push(() => server.stop());
  await query(server.url, 'CREATE TABLE kept (n int)');
  for (const n of [1, 2]) {
    await query(server.url, `INSERT INTO kept VALUES (${n})`);
    const { pid } = server;
    process.kill(pid, 'SIGKILL');
    await vi.waitFor(async () => {
      expect(server.pid).not.toBe(pid);
      const rows = await query(server.url, 'SELECT count(*)::int AS kept FROM kept');
      expect(rows).toEqual([{ kept: n }]);
    }, soon);
    await vi.waitFor(() => expect(server.findProblem()).toBeNull(), soon);
  }
  expect(output.filter((line) => line.includes('ended: it is being restarted'))).toHaveLength(2);
  await server.stop();
  expect(isProcessAlive(server.pid)).toBe(false);
});

it('answers 503 while it does not start, says why, and is back when it can', async () => {
  const dataDir = aFolder();
  const lines: string[] = [];
  const log = createLog({ debug: false }, { write: (line: string) => void lines.push(line) });
  const config = parseControlPlaneConfig({
    SERVICE_DATA_DIR: dataDir,
    SERVICE_ADMIN_PASSWORD: 'a password',
  });
  const controlPlane = await createControlPlane(config, { log });
  const app = createHttpServer({ log, corsOrigins: [] });
  await app.register(controlPlane.plugin);
  await controlPlane.start();
  undo.push(async () => {
    await app.close();
    await controlPlane.stop();
  });
  const login = () =>
    app.inject({
      method: 'POST',
      url: '/api/v1/auth/admin/login',
      payload: { username: 'admin', password: 'a password' },
    });
  const authorization = `Bearer ${(await login()).json().access_token}`;
  const createRole = (name: string) =>
    app.inject({
      method: 'POST',
      url: '/api/v1/roles',
      headers: { authorization },
      payload: { name, permissions: [] },
    });
  expect((await createRole('acknowledged')).statusCode).toBe(201);

  const settings = join(dataDir, 'postgres/postgresql.conf');
  const before = readFileSync(settings);
  appendFileSync(settings, '\nnot_a_setting_of_postgres = 1\n');
  const [pid] = readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');

  await vi.waitFor(() => expect(lines.join('')).toContain('does not start (attempt 2)'), soon);
  expect(lines.join('')).toContain('not_a_setting_of_postgres');
  const refused = await createRole('refused');
  expect(refused.statusCode).toBe(503);
  expect(refused.json().detail).toEqual(expect.any(String));
  const ready = await app.inject('/ready');
  expect(ready.statusCode).toBe(503);
  expect(ready.json().checks).toMatchObject({ 'embedded database': 'failed', database: 'failed' });

  writeFileSync(settings, before);
  await vi.waitFor(async () => {
    const { statusCode, body } = await app.inject('/ready');
    expect(statusCode, body).toBe(200);
  }, soon);
  const roles = await app.inject({ url: '/api/v1/roles', headers: { authorization } });
  expect(roles.body).toContain('acknowledged');
  expect((await createRole('afterwards')).statusCode).toBe(201);
});

it('begins at once, then waits longer and longer up to a limit, and can be stopped at any moment', async () => {
  vi.useFakeTimers();
  undo.push(() => vi.useRealTimers());
  const starts: number[] = [];
  const began = Date.now();
  const supervision = superviseServer({
    isAlive: () => false,
    restart: async () => {
      starts.push(Date.now() - began);
      throw new Error('no room');
    },
    log: { info: () => {}, warn: () => {} },
    backoff: { first: 500, longest: 3_000 },
  });
  await vi.advanceTimersByTimeAsync(15_000);
  const pauses = starts.slice(1).map((at, i) => at - (starts[i] as number));
  expect(pauses).toEqual([500, 1_000, 2_000, 3_000, 3_000, 3_000]);
  expect(supervision.findProblem()).toBe('no room');
  await supervision.stop();
  const made = starts.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(starts).toHaveLength(made);
});
