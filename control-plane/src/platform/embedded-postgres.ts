/**
 * The PostgreSQL of `npm start`: a real server in the data folder, so that one code path serves it
 * and a customer's own (`DATABASE_URL`).
 *
 * It runs in a session of its own and outlives a service that is killed; the next start adopts it.
 * Nothing here makes a commit less durable: fsync and synchronous_commit are on, unless a test asks
 * otherwise. Proven by embedded-postgres.test.ts.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { type FolderLock, isProcessAlive, lockFolder } from './folder-lock.ts';
import {
  canEnter,
  findPostgresBinaries,
  findRunAs,
  makeReachable,
  type PostgresBinaries,
  type RunAs,
  sharedClusterFolder,
} from './postgres-binaries.ts';
import {
  canConnect,
  findRunningServer,
  shutDown,
  signal,
  stopLeftover,
} from './postgres-process.ts';

const run = promisify(execFile);

const READY_MS = 60_000;
const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

export interface EmbeddedPostgresOptions {
  /** SERVICE_DATA_DIR; the server's files go to its folder `postgres`. */
  dataDir: string;
  log: { info(message: string): void; warn(message: string): void };
  /** False only in tests: commits are then not flushed to disk. */
  durable?: boolean;
}

export interface EmbeddedPostgres {
  /** Connects as the login `governance`, which owns the database and is no superuser. */
  url: string;
  /** Connects as the superuser, for the tests' templates and clones. */
  superuserUrl: string;
  port: number;
  /** The process id of the server. */
  pid: number;
  /** Whether it was left behind by an earlier service and taken over. */
  adopted: boolean;
  clusterFolder: string;
  /** Ends the server by a fast shutdown (open transactions are rolled back) and frees the folder. */
  stop(): Promise<void>;
}

interface Credentials {
  superuserPassword: string;
  password: string;
  port: number | null;
  /** Null: in the data folder, wherever that was moved to. */
  outside: string | null;
}

/**
 * Starts the embedded server, or adopts the one a killed service left running.
 *
 * @throws Error when another service uses the folder, or the server does not come up
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  // The server's user must be able to pass through; everything secret inside is 0600.
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const lock = takeLock(dataDir);
  try {
    const server = await startLocked(dataDir, options);
    return {
      ...server,
      stop: async () => {
        await server.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function takeLock(dataDir: string): FolderLock {
  try {
    return lockFolder(join(dataDir, 'postgres.lock'), dataDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    throw new Error(
      `the data folder ${dataDir} belongs to another user: start the service as that user, or give it another SERVICE_DATA_DIR`,
    );
  }
}

async function startLocked(
  dataDir: string,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log } = options;
  const credentialsFile = join(dataDir, 'postgres.json');
  const known = readCredentials(credentialsFile);
  const inside = join(dataDir, 'postgres');
  const clusterFolder = known
    ? (known.outside ?? inside)
    : await chooseClusterFolder(dataDir, inside, log);
  const runAs = await findRunAs(clusterFolder);
  const credentials: Credentials = known ?? {
    superuserPassword: randomBytes(24).toString('base64url'),
    password: randomBytes(24).toString('base64url'),
    port: null,
    outside: clusterFolder === inside ? null : clusterFolder,
  };
  const save = () =>
    writeFileSync(credentialsFile, JSON.stringify(credentials, null, 2), { mode: 0o600 });

  const running = await findRunningServer(clusterFolder, (port) =>
    connectionString('postgres', credentials.superuserPassword, port, 'postgres'),
  );
  if (running) {
    log.info(`took over the embedded PostgreSQL of an earlier run (process ${running.pid})`);
    return handle(credentials, clusterFolder, running.port, running.pid, true);
  }

  let binaries = findPostgresBinaries();
  if (runAs) {
    const reachable = await makeReachable(binaries, runAs);
    binaries = reachable.binaries;
    if (reachable.copy) log.info(`PostgreSQL runs from a copy in ${reachable.copy}`);
  }
  if (!existsSync(join(clusterFolder, 'PG_VERSION'))) {
    if (known && existsSync(clusterFolder)) {
      throw new Error(
        `${clusterFolder} is no PostgreSQL data folder any more: restore it, or remove ${credentialsFile} to begin with an empty one`,
      );
    }
    save();
    await initialize(clusterFolder, binaries, runAs, credentials.superuserPassword, options);
  }

  const logFile = join(dataDir, 'postgres.log');
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(attempt === 1 ? credentials.port : null);
    try {
      const pid = await launch({ binaries, runAs, clusterFolder, port, logFile, options });
      const server = handle(credentials, clusterFolder, port, pid, false);
      await waitUntilReady(server, logFile);
      await ensureDatabase(server.superuserUrl, credentials.password);
      credentials.port = port;
      save();
      return server;
    } catch (error) {
      // Somebody may take a free port in the moment between the look and the bind.
      if (attempt >= 3 || !/could not bind|Address already in use/.test(String(error))) throw error;
    }
  }
}

/**
 * Where the server's files lie: in the data folder, unless the service runs as root and the
 * server's user could not get there.
 */
async function chooseClusterFolder(
  dataDir: string,
  inside: string,
  log: EmbeddedPostgresOptions['log'],
): Promise<string> {
  const runAs = await findRunAs(inside);
  if (!runAs || (await canEnter(dataDir, runAs))) {
    if (existsSync(inside)) {
      throw new Error(
        `${inside} holds a database but its password file postgres.json is missing: restore that file, or move the folder away to begin with an empty database`,
      );
    }
    return inside;
  }
  const outside = sharedClusterFolder(dataDir);
  log.info(`PostgreSQL's user cannot enter ${dataDir}, so the database is kept in ${outside}`);
  if (existsSync(outside)) {
    // The data folder was removed, and with it the password: what is left is nobody's, yet data.
    await stopLeftover(outside);
    const aside = `${outside}.orphan-${Date.now()}`;
    await rename(outside, aside);
    log.warn(`a database of an earlier ${dataDir} was moved to ${aside}`);
  }
  return outside;
}

async function initialize(
  clusterFolder: string,
  binaries: PostgresBinaries,
  runAs: RunAs | undefined,
  superuserPassword: string,
  options: EmbeddedPostgresOptions,
): Promise<void> {
  // Made beside its place and renamed, so that a half-made cluster is never taken for one.
  const draft = `${clusterFolder}.new`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(dirname(draft), { recursive: true, mode: 0o755 });
  await mkdir(draft, { mode: 0o700 });
  const passwordFile = join(draft, 'password');
  const data = join(draft, 'data');
  writeFileSync(passwordFile, superuserPassword, { mode: 0o600 });
  await mkdir(data, { mode: 0o700 });
  if (runAs) {
    for (const path of [draft, passwordFile, data]) await chown(path, runAs.uid, runAs.gid);
  }
  await run(
    binaries.initdb,
    [
      `--pgdata=${data}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Built into PostgreSQL: the same order on every machine, whatever locales it has.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(options.durable === false ? ['--no-sync'] : []),
    ],
    { ...runAs, cwd: '/', env: serverEnvironment() },
  );
  await rename(data, clusterFolder);
  await rm(draft, { recursive: true, force: true });
}

/** Not the service's own environment: that holds secrets which are no business of this process. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const passed = ['PATH', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP'];
  const given = passed.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(given), LC_ALL: 'C', TZ: 'UTC' };
}

async function launch(parts: {
  binaries: PostgresBinaries;
  runAs: RunAs | undefined;
  clusterFolder: string;
  port: number;
  logFile: string;
  options: EmbeddedPostgresOptions;
}): Promise<number> {
  const { binaries, runAs, clusterFolder, port, logFile, options } = parts;
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    password_encryption: 'scram-sha-256',
    timezone: 'UTC',
    log_timezone: 'UTC',
    logging_collector: 'off',
    log_min_messages: 'warning',
    // Short transactions of a few rows: compiling their plans costs more than running them.
    jit: 'off',
    ...(options.durable === false
      ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' }
      : { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }),
  };
  const tooLong = existsSync(logFile) && statSync(logFile).size > LOG_LIMIT_BYTES;
  const output = openSync(logFile, tooLong ? 'w' : 'a', 0o600);
  try {
    const child = spawn(
      binaries.postgres,
      ['-D', clusterFolder, ...Object.entries(settings).flatMap(([k, v]) => ['-c', `${k}=${v}`])],
      {
        ...runAs,
        cwd: '/',
        env: serverEnvironment(),
        // Its own session: Ctrl-C is for the service, which stops the server when it has drained.
        detached: true,
        stdio: ['ignore', output, output],
      },
    );
    await new Promise<void>((started, failed) => {
      child.once('spawn', started);
      child.once('error', failed);
    });
    child.unref();
    return child.pid as number;
  } finally {
    closeSync(output);
  }
}

async function waitUntilReady(server: EmbeddedPostgres, logFile: string): Promise<void> {
  const deadline = Date.now() + READY_MS;
  for (;;) {
    if (await canConnect(server.superuserUrl)) return;
    if (!isProcessAlive(server.pid)) {
      throw new Error(`the embedded PostgreSQL did not start: ${await lastLines(logFile)}`);
    }
    if (Date.now() > deadline) {
      await server.stop();
      throw new Error(`the embedded PostgreSQL was not ready after ${READY_MS / 1000} s`);
    }
    await sleep(25);
  }
}

async function lastLines(logFile: string): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-8).join('\n');
}

/** The service's login and database; the login may make roles and is no superuser. */
async function ensureDatabase(superuserUrl: string, password: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  try {
    const role = await client.query(`SELECT 1 FROM pg_roles WHERE rolname = 'governance'`);
    const verb = role.rowCount === 0 ? 'CREATE' : 'ALTER';
    await client.query(
      `${verb} ROLE governance LOGIN NOSUPERUSER CREATEROLE PASSWORD ${client.escapeLiteral(password)}`,
    );
    const database = await client.query(`SELECT 1 FROM pg_database WHERE datname = 'governance'`);
    if (database.rowCount === 0) await client.query('CREATE DATABASE governance OWNER governance');
  } finally {
    await client.end();
  }
}

function handle(
  credentials: Credentials,
  clusterFolder: string,
  port: number,
  pid: number,
  adopted: boolean,
): EmbeddedPostgres {
  // A service that ends without stopping it (an uncaught error) still asks it to shut down.
  const onExit = () => signal(pid, 'SIGINT');
  process.once('exit', onExit);
  let stopping: Promise<void> | undefined;
  return {
    url: connectionString('governance', credentials.password, port, 'governance'),
    superuserUrl: connectionString('postgres', credentials.superuserPassword, port, 'postgres'),
    port,
    pid,
    adopted,
    clusterFolder,
    stop: () => {
      process.removeListener('exit', onExit);
      // Once: the id may be another process's afterwards.
      stopping ??= shutDown(pid);
      return stopping;
    },
  };
}

function connectionString(user: string, password: string, port: number, database: string): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
}

function readCredentials(file: string): Credentials | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Credentials) : undefined;
}

/** A free port on the loopback interface, the wanted one if it is free. */
async function choosePort(wanted: number | null): Promise<number> {
  const attempt = (port: number) =>
    new Promise<number | undefined>((done) => {
      const probe = createServer();
      probe.once('error', () => done(undefined));
      probe.listen(port, '127.0.0.1', () => {
        const address = probe.address();
        probe.close(() => done(typeof address === 'object' ? address?.port : undefined));
      });
    });
  const port = (wanted && (await attempt(wanted))) || (await attempt(0));
  if (!port) throw new Error('no free port on 127.0.0.1');
  return port;
}
