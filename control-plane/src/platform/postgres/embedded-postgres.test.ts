import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { StartError } from '@governance/shared/process/start-error';
import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { bundledScript } from '../../../../tests/support/bundled-script.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embedded-postgres.ts';
import { isProcessAlive } from './folder-lock.ts';
import { describeFailedStart } from './postgres-cluster.ts';

// Each test starts real servers, some of them twice.
vi.setConfig({ testTimeout: 90_000 });

const isRoot = process.getuid?.() === 0;
const folders: string[] = [];
const servers: EmbeddedPostgres[] = [];
const children: ChildProcess[] = [];
const script = await bundledScript('tests/support/hold-postgres.ts');

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  const stopped = servers.splice(0);
  for (const server of stopped) await server.stop();
  for (const { clusterFolder } of stopped) {
    if (isRoot) rmSync(clusterFolder, { recursive: true, force: true });
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** @param mode 0o755 lets PostgreSQL's user in where the tests run as root */
function aFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-'));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}

async function start(dataDir: string, durable = false) {
  const output: string[] = [];
  const log = {
    info: (line: string) => output.push(line),
    warn: (line: string) => output.push(line),
  };
  const server = await startEmbeddedPostgres({ dataDir, log, durable });
  servers.push(server);
  return { ...server, output };
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

/** A service of its own that holds the folder. */
async function holdInChild(dataDir: string) {
  const child = spawn(process.execPath, [script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const { pid, url } = JSON.parse(line as string) as { pid: number; url: string };
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { pid, url, kill };
}

it('starts as a durable server on the loopback interface, for a login that is no superuser', async () => {
  const server = await start(aFolder(), true);
  const [settings] = await query(
    server.superuserUrl,
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
       current_setting('full_page_writes') AS pages, current_setting('listen_addresses') AS host,
       current_setting('unix_socket_directories') AS sockets, current_setting('timezone') AS zone,
       current_setting('password_encryption') AS passwords, current_setting('server_encoding') AS encoding,
       current_setting('data_checksums') AS checksums`,
  );
  expect(settings).toEqual({
    fsync: 'on',
    commit: 'on',
    pages: 'on',
    host: '127.0.0.1',
    sockets: '',
    zone: 'UTC',
    passwords: 'scram-sha-256',
    encoding: 'UTF8',
    checksums: 'on',
  });
  expect(
    await query(
      server.url,
      'SELECT rolname AS login, rolsuper AS super FROM pg_roles WHERE rolname = current_user',
    ),
  ).toEqual([{ login: 'governance', super: false }]);
  await expect(query(server.url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
    /password/,
  );
});

it('keeps passwords for their owner only, and keeps them and the port over a restart', async () => {
  const folder = aFolder();
  const first = await start(folder);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  expect(statSync(join(folder, 'postgres.json')).mode & 0o777).toBe(0o600);
  await first.stop();
  expect(isProcessAlive(first.pid)).toBe(false);

  const second = await start(folder);
  expect(second).toMatchObject({ url: first.url, adopted: false });
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

it('takes over the server of a service that was killed', async () => {
  const folder = aFolder();
  const held = await holdInChild(folder);
  await query(held.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await held.kill();
  expect(isProcessAlive(held.pid)).toBe(true);

  const adopted = await start(folder);
  expect(adopted).toMatchObject({ pid: held.pid, url: held.url, adopted: true });
  expect(await query(adopted.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  await adopted.stop();
  expect(isProcessAlive(held.pid)).toBe(false);
});

it('refuses a second service on the same folder, naming the first', async () => {
  const folder = aFolder();
  await start(folder);
  await expect(start(folder)).rejects.toThrow(
    new RegExp(`${folder} is in use by process ${process.pid}`),
  );
});

it('recovers what was committed when the server itself was killed', async () => {
  const folder = aFolder();
  const first = await holdInChild(folder);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  process.kill(first.pid, 'SIGKILL');
  await first.kill();
  const second = await start(folder);
  expect(second.adopted).toBe(false);
  expect(await query(second.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

it('refuses a database whose password file is gone, and says what to do', async () => {
  const folder = aFolder();
  const server = await start(folder);
  await server.stop();
  rmSync(join(folder, 'postgres.json'));
  await expect(start(folder)).rejects.toThrow(/postgres\.json is missing/);
});

it('says what to do with a password file that is damaged', async () => {
  const folder = aFolder();
  writeFileSync(join(folder, 'postgres.json'), '{"superuserPassword": "');
  const failure = await start(folder).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartError);
  expect((failure as Error).message).toMatch(/postgres\.json cannot be read: restore it/);
});

it('moves with its data folder', async () => {
  const folder = aFolder();
  const server = await start(folder);
  await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await server.stop();
  renameSync(folder, `${folder}-moved`);
  folders.push(`${folder}-moved`);
  const moved = await start(`${folder}-moved`);
  expect(await query(moved.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

it('runs in a folder that only its owner may enter, also as root', async () => {
  const folder = aFolder(0o700);
  const server = await start(folder);
  await query(server.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  if (isRoot) {
    // PostgreSQL's own user cannot get in, so its files are elsewhere.
    expect(server.clusterFolder).toMatch(/^\/var\/lib\/agent-governance\//);
    expect(server.output.join()).toContain(server.clusterFolder);
    expect(statSync(server.clusterFolder).uid).not.toBe(0);
  } else {
    expect(server.clusterFolder).toBe(join(folder, 'postgres'));
  }
  await server.stop();
  const again = await start(folder);
  expect(await query(again.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  if (isRoot) expect(again.output.join()).toContain(again.clusterFolder);
});

it('refuses to begin anew where its database is not there, inside the folder or outside', async () => {
  for (const mode of [0o755, 0o700]) {
    const folder = aFolder(mode);
    const { clusterFolder, stop } = await start(folder);
    await stop();
    rmSync(clusterFolder, { recursive: true });
    const failure = await start(folder).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StartError);
    const { message } = failure as Error;
    expect(message).toContain(`was in ${clusterFolder} and is not there: restore it`);
    expect(existsSync(clusterFolder)).toBe(false);
    rmSync(join(folder, 'postgres.json'));
    await start(folder);
  }
});

it('starts after a first start that was interrupted before its database was there', async () => {
  const folder = aFolder();
  const { clusterFolder, stop } = await start(folder);
  await stop();
  rmSync(clusterFolder, { recursive: true });
  const file = join(folder, 'postgres.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), port: null }));
  await start(folder);
});

it.runIf(isRoot)('keeps a copied data folder from the database of the original', async () => {
  const folder = aFolder(0o700);
  const first = await start(folder);
  await query(first.url, 'CREATE TABLE kept AS SELECT 1 AS n');
  await first.stop();
  const copy = `${folder}-copy`;
  folders.push(copy);
  cpSync(folder, copy, { recursive: true });
  const original = await start(folder);
  await expect(start(copy)).rejects.toThrow(`is that of the data folder ${folder}, of which`);
  expect(await query(original.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);

  await original.stop();
  renameSync(folder, `${folder}-away`);
  folders.push(`${folder}-away`);
  const moved = await start(copy);
  expect(await query(moved.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
  // A new data folder in the old place has a database of its own, and leaves that one alone.
  mkdirSync(folder, { mode: 0o700 });
  const anew = await start(folder);
  expect(anew.clusterFolder).not.toBe(moved.clusterFolder);
  expect(await query(moved.url, 'SELECT n FROM kept')).toEqual([{ n: 1 }]);
});

it.runIf(isRoot)('says what to do with a copy that lost its owner', async () => {
  const folder = aFolder();
  const { clusterFolder, stop } = await start(folder);
  await stop();
  const { uid, gid } = statSync(clusterFolder);
  const remedy = `chown -R ${uid}:${gid} ${clusterFolder}`;
  const run = (command: string) => promisify(execFile)('/bin/sh', ['-c', command]);
  for (const path of [clusterFolder, `${clusterFolder}/*`, `${clusterFolder}/postgresql.conf`]) {
    await run(`chown -R 0:0 ${path}`);
    await expect(start(folder)).rejects.toThrow(remedy);
    await run(remedy);
  }
  await start(folder);
});

it('begins anew when its data folder was removed, and throws no data away', async () => {
  const folder = aFolder(0o700);
  const first = await start(folder);
  await first.stop();
  for (const name of ['postgres.json', 'postgres']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  const second = await start(folder);
  expect(second.url).not.toBe(first.url);
  const aside = /was moved to (\S+)/.exec(second.output.join('\n'))?.[1];
  expect(aside !== undefined).toBe(isRoot);
  if (aside) {
    expect(existsSync(join(aside, 'PG_VERSION'))).toBe(true);
    rmSync(aside, { recursive: true });
  }
});

it('says in one sentence why it does not start, by the log of this start alone', async () => {
  const folder = aFolder();
  const server = await start(folder);
  await server.stop();
  const log = join(folder, 'postgres.log');
  appendFileSync(log, '2026-01-01 UTC [1] FATAL:  of an earlier start\n');
  writeFileSync(join(server.clusterFolder, 'PG_VERSION'), '9\n');
  const failure = await start(folder).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(StartError);
  const { message } = failure as Error;
  expect(message).toMatch(
    /did not start: FATAL: {2}database files are incompatible with server\. /,
  );
  expect(message).toContain(
    `. Its log is ${log}. Restore the folder from a backup, or set SERVICE_DATA_DIR to an empty folder`,
  );
});

it('asks for room where the disk is full, and for no backup', async () => {
  const folder = aFolder();
  const logFile = join(folder, 'postgres.log');
  const fatal = 'FATAL:  could not write lock file "postmaster.pid": No space left on device';
  writeFileSync(logFile, `2026-01-01 UTC [1] ${fatal}\n`);
  const { message } = await describeFailedStart({ clusterFolder: folder, logFile }, 0);
  expect(message).toContain(`did not start: ${fatal}. `);
  expect(message).toContain('Make room on its disk');
  expect(message).not.toContain('backup');
});

it('leaves nothing of a start that fails', async () => {
  const folder = aFolder();
  const server = await start(folder);
  await server.stop();
  const config = join(folder, 'postgres', 'postgresql.conf');
  const before = readFileSync(config);
  appendFileSync(config, '\nnot_a_setting_of_postgres = 1\n');
  await expect(start(folder)).rejects.toThrow(/not_a_setting_of_postgres/);
  writeFileSync(config, before);
  expect(existsSync(join(folder, 'postgres.lock'))).toBe(false);
  await start(folder);
});
