/**
 * The PostgreSQL of `npm start`: a real server in the data folder, so that one code path serves
 * both it and a customer's own (`DATABASE_URL`).
 *
 * It runs in its own session and outlives a killed service for some seconds, in which the next
 * start adopts it; then its keeper ends it (postgres-keeper.ts). A server that dies is restarted on
 * the same port, so that the pools find it (postgres-supervision.ts). Commits are fully durable:
 * fsync and synchronous_commit are on, except in tests. Proven by embedded-postgres.test.ts.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '@governance/shared/process/start-error';
import pg from 'pg';
import { chooseClusterFolder, claimCluster, refuseCopiedFolder } from './cluster-place.ts';
import { type FolderLock, isProcessAlive, lockFolder } from './folder-lock.ts';
import {
  findPostgresBinaries,
  findRunAs,
  makeReachable,
  type PostgresBinaries,
  type RunAs,
} from './postgres-binaries.ts';
import {
  describeFailedStart,
  initializeCluster,
  type LaunchedServer,
  launchServer,
  type PostgresCluster,
} from './postgres-cluster.ts';
import {
  CREDENTIALS_FILE,
  type Credentials,
  readCredentials,
  refuseLostCluster,
  refuseOthersFiles,
  storeCredentials,
} from './postgres-folder.ts';
import { type PostgresKeeper, startKeeper, waitForKeeper } from './postgres-keeper.ts';
import { canConnect, findRunningServer, shutDown, signal } from './postgres-process.ts';
import { superviseServer } from './postgres-supervision.ts';

const READY_MS = 60_000;
const LOCK_FILE = 'postgres.lock';

export interface EmbeddedPostgresOptions {
  /** SERVICE_DATA_DIR; the server's files go to its folder `postgres`. */
  dataDir: string;
  log: { info(message: string): void; warn(message: string): void };
  /** False only in tests: commits are then not flushed to disk. */
  durable?: boolean;
  /**
   * How long the server waits for the next start after its service was killed, in seconds; 20
   * unless given.
   */
  outlivesSeconds?: number;
}

export interface EmbeddedPostgres {
  /** Connects as the login `governance`, which owns the database and is no superuser. */
  url: string;
  /** Connects as the superuser, for the tests' templates and clones. */
  superuserUrl: string;
  port: number;
  /** The process id of the server; of the last one while none runs. */
  readonly pid: number;
  /** The process that ends the server when this one is gone; undefined on Windows. */
  readonly keeperPid: number | undefined;
  /** Whether it was left running by an earlier service and adopted. */
  adopted: boolean;
  clusterFolder: string;
  /** Why the server is down while it is being restarted; null while it runs. */
  findProblem(): string | null;
  /**
   * Ends the server by a fast shutdown, which rolls open transactions back, and frees the folder.
   */
  stop(): Promise<void>;
}

interface Server {
  pid: number;
  port: number;
}

/**
 * Starts the embedded server, or adopts the one a killed service left running.
 *
 * @throws StartError when another service uses the folder, or the server does not come up
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const dataDir = resolve(options.dataDir);
  // The server's user must be able to enter; every secret inside is 0600.
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const lock = takeLock(dataDir);
  try {
    await waitForKeeper(dataDir);
    return await startLocked(dataDir, lock, options);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function takeLock(dataDir: string): FolderLock {
  try {
    return lockFolder(join(dataDir, LOCK_FILE), dataDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    throw new StartError(
      `the data folder ${dataDir} belongs to another user: start the service as that user, or give it another SERVICE_DATA_DIR`,
    );
  }
}

async function startLocked(
  dataDir: string,
  lock: FolderLock,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const { log } = options;
  const credentialsFile = join(dataDir, CREDENTIALS_FILE);
  const known = readCredentials(credentialsFile);
  const inside = join(dataDir, 'postgres');
  const clusterFolder = known
    ? (known.outside ?? inside)
    : await chooseClusterFolder(dataDir, inside, log);
  const isOutside = clusterFolder !== inside;
  if (isOutside) {
    refuseCopiedFolder(clusterFolder, dataDir);
    log.info(
      `PostgreSQL's user could not enter ${dataDir}, so the database is kept in ${clusterFolder}: back up both folders`,
    );
  }
  const runAs = await findRunAs(clusterFolder);
  const credentials: Credentials = known ?? {
    superuserPassword: randomBytes(24).toString('base64url'),
    password: randomBytes(24).toString('base64url'),
    port: null,
    outside: isOutside ? clusterFolder : null,
  };

  const urlAt = (port: number) =>
    connectionString('postgres', credentials.superuserPassword, port, 'postgres');
  const cluster: PostgresCluster = {
    findBinaries: () => findReachableBinaries(runAs, log),
    runAs,
    clusterFolder,
    logFile: join(dataDir, 'postgres.log'),
    durable: options.durable ?? true,
  };
  refuseOthersFiles(clusterFolder, runAs);
  const running = await findRunningServer(clusterFolder, urlAt);
  if (!running && !existsSync(join(clusterFolder, 'PG_VERSION'))) {
    if (known) refuseLostCluster(known, clusterFolder, credentialsFile);
    storeCredentials(credentialsFile, credentials);
    await initializeCluster(cluster, credentials.superuserPassword);
  }
  if (isOutside) claimCluster(clusterFolder, dataDir);
  if (running) {
    log.info(`took over the embedded PostgreSQL of an earlier run (process ${running.pid})`);
  }
  const { logFile } = cluster;
  const lockFile = join(dataDir, LOCK_FILE);
  const { outlivesSeconds } = options;
  // Started before the server, so that the server is never without a keeper.
  const keeper = startKeeper({ dataDir, lockFile, clusterFolder, logFile, outlivesSeconds, log });
  try {
    const server = running ?? (await startServer(cluster, credentials, urlAt));
    credentials.port = server.port;
    storeCredentials(credentialsFile, credentials);
    return keepRunning({
      server,
      adopted: running !== undefined,
      cluster,
      credentials,
      keeper,
      lock,
      log,
    });
  } catch (error) {
    keeper.stop();
    throw error;
  }
}

/** Starts the server for the first time, on its previous port if that is free. */
async function startServer(
  cluster: PostgresCluster,
  credentials: Credentials,
  urlAt: (port: number) => string,
): Promise<Server> {
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(attempt === 1 ? credentials.port : null);
    const launched = await launchServer(cluster, port);
    const { pid } = launched;
    const onExit = () => signal(pid, 'SIGINT');
    process.once('exit', onExit);
    try {
      await waitUntilReady(cluster, launched, urlAt(port), AbortSignal.timeout(READY_MS));
      await ensureDatabase(urlAt(port), credentials.password);
      return { pid, port };
    } catch (error) {
      await shutDown(pid);
      // Another process may take the free port before the server binds it.
      if (attempt >= 3 || !/could not bind|Address already in use/.test(String(error))) throw error;
    } finally {
      process.removeListener('exit', onExit);
    }
  }
}

/** Supervises a running server: it is restarted when it dies, until it is stopped. */
function keepRunning(parts: {
  server: Server;
  adopted: boolean;
  cluster: PostgresCluster;
  credentials: Credentials;
  keeper: PostgresKeeper;
  lock: FolderLock;
  log: EmbeddedPostgresOptions['log'];
}): EmbeddedPostgres {
  const { adopted, cluster, credentials, keeper, lock, log } = parts;
  const { port } = parts.server;
  const { clusterFolder } = cluster;
  const urlAt = (at: number) =>
    connectionString('postgres', credentials.superuserPassword, at, 'postgres');
  let { pid } = parts.server;
  /** Null while there is none: the id of a dead server may belong to another process. */
  let alive: number | null = pid;

  async function restart(end: AbortSignal): Promise<void> {
    const found = await findRunningServer(clusterFolder, urlAt);
    if (found && found.port !== port) throw new Error(`another server uses ${clusterFolder}`);
    const launched = found ? { pid: found.pid, logStart: 0 } : await launchServer(cluster, port);
    pid = launched.pid;
    alive = pid;
    // No time limit: replaying the log may take long.
    await waitUntilReady(cluster, launched, urlAt(port), end);
  }

  const supervision = superviseServer({
    isAlive: () => {
      if (alive !== null && !isProcessAlive(alive)) alive = null;
      return alive !== null;
    },
    restart,
    log,
  });
  // Shuts it down even when the service ends by an uncaught error.
  const onExit = () => {
    if (alive !== null) signal(alive, 'SIGINT');
  };
  process.once('exit', onExit);

  async function end(): Promise<void> {
    await supervision.stop();
    process.removeListener('exit', onExit);
    if (alive !== null) await shutDown(alive);
    keeper.stop();
    lock.release();
  }
  let ended: Promise<void> | undefined;
  return {
    url: connectionString('governance', credentials.password, port, 'governance'),
    superuserUrl: urlAt(port),
    port,
    get pid() {
      return pid;
    },
    get keeperPid() {
      return keeper.pid;
    },
    adopted,
    clusterFolder,
    findProblem: supervision.findProblem,
    stop: () => {
      ended ??= end();
      return ended;
    },
  };
}

async function findReachableBinaries(
  runAs: RunAs | undefined,
  log: EmbeddedPostgresOptions['log'],
): Promise<PostgresBinaries> {
  const binaries = findPostgresBinaries();
  if (!runAs) return binaries;
  const reachable = await makeReachable(binaries, runAs);
  if (reachable.copy) log.info(`PostgreSQL runs from a copy in ${reachable.copy}`);
  return reachable.binaries;
}

async function waitUntilReady(
  cluster: PostgresCluster,
  { pid, logStart }: LaunchedServer,
  url: string,
  end: AbortSignal,
): Promise<void> {
  while (!(await canConnect(url))) {
    if (!isProcessAlive(pid)) throw await describeFailedStart(cluster, logStart);
    if (end.aborted) {
      throw new StartError(`the embedded PostgreSQL was not ready in time: see ${cluster.logFile}`);
    }
    await sleep(25);
  }
}

/** The service's login and database; the login may create roles and is not a superuser. */
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

function connectionString(user: string, password: string, port: number, database: string): string {
  return `postgresql://${user}:${password}@127.0.0.1:${port}/${database}`;
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
