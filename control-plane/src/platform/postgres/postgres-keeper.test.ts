import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { bundledScript } from '../../../../tests/support/bundled-script.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { isProcessAlive } from './folder-lock.ts';
import { waitForKeeper } from './postgres-keeper.ts';

// Real servers and real kills, on a machine that does other things too.
vi.setConfig({ testTimeout: 120_000 });

const OUTLIVES_SECONDS = 3;

const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];
const script = await bundledScript('tests/support/hold-postgres.ts');

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const server of servers.splice(0)) await server.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keeper-'));
  chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

async function start(dataDir: string): Promise<EmbeddedPostgres> {
  const log = { info: () => {}, warn: () => {} };
  const server = await startEmbeddedPostgres({ dataDir, log, durable: false });
  servers.push(server);
  return server;
}

/** A service of its own that holds the folder. */
async function holdInChild(dataDir: string) {
  const args = [script, dataDir, String(OUTLIVES_SECONDS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const told = JSON.parse(line as string) as { pid: number; keeperPid: number; url: string };
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { ...told, kill };
}

const untilGone = (pid: number) =>
  vi.waitFor(() => expect(isProcessAlive(pid)).toBe(false), { timeout: 60_000, interval: 100 });

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

it('ends the server of a service that was killed and does not come back, and itself', async () => {
  const folder = aFolder();
  const held = await holdInChild(folder);
  await query(held.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await held.kill();
  expect(isProcessAlive(held.pid)).toBe(true);
  await untilGone(held.pid);
  await untilGone(held.keeperPid);
  // An orderly end: nothing is left to recover from.
  expect(existsSync(join(folder, 'postgres/postmaster.pid'))).toBe(false);
  expect(existsSync(join(folder, 'postgres.ending'))).toBe(false);
  expect(readFileSync(join(folder, 'postgres.log'), 'utf8')).toContain('no other took it over');

  const next = await start(folder);
  expect(next.adopted).toBe(false);
  expect(await query(next.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

it('leaves a server alone that the next service took over', async () => {
  const folder = aFolder();
  const held = await holdInChild(folder);
  await held.kill();
  const next = await start(folder);
  expect(next).toMatchObject({ adopted: true, pid: held.pid });
  await untilGone(held.keeperPid);
  expect(isProcessAlive(held.pid)).toBe(true);
  expect(await query(next.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

it('leaves no process of a service that stops, nor of one whose server is gone too', async () => {
  const folder = aFolder();
  const server = await start(folder);
  const { keeperPid } = server;
  expect(isProcessAlive(keeperPid as number)).toBe(true);
  await server.stop();
  await untilGone(keeperPid as number);

  const held = await holdInChild(folder);
  process.kill(held.pid, 'SIGKILL');
  await held.kill();
  await untilGone(held.keeperPid);
});

it('is started again when it ends', async () => {
  const server = await start(aFolder());
  const { keeperPid } = server;
  process.kill(keeperPid as number, 'SIGKILL');
  await vi.waitFor(
    () => {
      expect(server.keeperPid).not.toBe(keeperPid);
      expect(isProcessAlive(server.keeperPid as number)).toBe(true);
    },
    { timeout: 30_000, interval: 100 },
  );
});

it('is waited for by a start while it ends the server, and not when it is dead', async () => {
  const folder = aFolder();
  const mark = join(folder, 'postgres.ending');
  const keeper = spawn('sleep', ['60']);
  children.push(keeper);
  writeFileSync(mark, `${keeper.pid}\n`);
  let waited = false;
  const waiting = waitForKeeper(folder).then(() => {
    waited = true;
  });
  await sleep(200);
  expect(waited).toBe(false);
  keeper.kill('SIGKILL');
  await waiting;
  expect(existsSync(mark)).toBe(false);
  await waitForKeeper(folder);
});
