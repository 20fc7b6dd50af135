/** The server's files and its process: how a cluster is made, and how a server is started on it. */
import { execFile, spawn } from 'node:child_process';
import { closeSync, existsSync, fstatSync, openSync, statSync, writeFileSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '@governance/shared/process/start-error';
import type { PostgresBinaries, RunAs } from './postgres-binaries.ts';

const run = promisify(execFile);

const LOG_LIMIT_BYTES = 10 * 1024 * 1024;

/** What runs, on which files, as which user. */
export interface PostgresCluster {
  /** Finds the server's binaries; copies them if its user cannot reach them. */
  findBinaries(): Promise<PostgresBinaries>;
  runAs: RunAs | undefined;
  clusterFolder: string;
  logFile: string;
  /** False only in tests: commits are then not flushed to disk. */
  durable: boolean;
}

/** Makes an empty cluster, whole or not at all. */
export async function initializeCluster(
  cluster: PostgresCluster,
  superuserPassword: string,
): Promise<void> {
  const { runAs, clusterFolder, durable } = cluster;
  const binaries = await cluster.findBinaries();
  // Made beside its place and renamed, so that a half-made cluster is never used.
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
      // Built into PostgreSQL: the same sort order on every machine.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--no-instructions',
      ...(durable ? [] : ['--no-sync']),
    ],
    { ...runAs, cwd: '/', env: serverEnvironment() },
  );
  await rename(data, clusterFolder);
  await rm(draft, { recursive: true, force: true });
}

/** Not the service's own environment, which holds secrets. */
function serverEnvironment(): NodeJS.ProcessEnv {
  const passed = ['PATH', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMP'];
  const given = passed.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(given), LC_ALL: 'C', TZ: 'UTC' };
}

/** A server's process that was started, and may not take connections yet. */
export interface LaunchedServer {
  pid: number;
  /** Where in the log its lines begin. */
  logStart: number;
}

/** Starts the server's process, which takes connections some time later. */
export async function launchServer(
  cluster: PostgresCluster,
  port: number,
): Promise<LaunchedServer> {
  const { runAs, clusterFolder, logFile, durable } = cluster;
  const binaries = await cluster.findBinaries();
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
    ...(durable
      ? { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' }
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' }),
  };
  const tooLong = existsSync(logFile) && statSync(logFile).size > LOG_LIMIT_BYTES;
  const output = openSync(logFile, tooLong ? 'w' : 'a', 0o600);
  try {
    const logStart = fstatSync(output).size;
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
    return { pid: child.pid as number, logStart };
  } finally {
    closeSync(output);
  }
}

/** The lines that say why a server ended: a FATAL about settings or an address follows a LOG. */
const REASONS = /(?:(?:FATAL|PANIC): |LOG: .*(?:could not bind|in file "))[^\n]*/g;

/** What to tell an operator whose server ended at its start. */
export async function describeFailedStart(
  { clusterFolder, logFile }: Pick<PostgresCluster, 'clusterFolder' | 'logFile'>,
  logStart: number,
): Promise<StartError> {
  const log = await readFile(logFile).catch(() => Buffer.alloc(0));
  const lines = log.subarray(logStart).toString('utf8').trim();
  const reason = lines.match(REASONS)?.join('; ') ?? lines.split('\n').at(-1);
  const isFull = reason?.includes('No space left on device');
  const change = isFull
    ? 'Make room on its disk, and start again: nothing is wrong with the folder'
    : 'Restore the folder from a backup, or set SERVICE_DATA_DIR to an empty folder';
  return new StartError(
    `the embedded PostgreSQL in ${clusterFolder} did not start: ${reason || 'it ended without a word'}. Its log is ${logFile}. ${change}`,
  );
}
