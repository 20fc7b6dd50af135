/**
 * The server as a process: finding one left by an earlier run, checking that it is ours, and ending
 * it. The pid file in the data folder describes it.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { StartError } from '@governance/shared/process/start-error';
import pg from 'pg';
import { isProcessAlive } from './folder-lock.ts';

const run = promisify(execFile);

const ANSWER_MS = 60_000;
const STOP_MS = 30_000;

/**
 * The server that a killed service left behind, if it is alive and ours.
 *
 * @param connectionString of the superuser, given the port
 * @throws StartError when a process holds the folder and neither answers nor ends
 */
export async function findRunningServer(
  clusterFolder: string,
  connectionString: (port: number) => string,
): Promise<{ pid: number; port: number } | undefined> {
  const deadline = Date.now() + ANSWER_MS;
  for (;;) {
    const owner = readPostmasterPid(clusterFolder);
    if (!owner) return undefined;
    if (!isProcessAlive(owner.pid) || !(await isPostgres(owner.pid))) {
      await clearStalePid(clusterFolder);
      return undefined;
    }
    if (await serves(connectionString(owner.port), clusterFolder)) return owner;
    if (Date.now() > deadline) {
      throw new StartError(
        `process ${owner.pid} holds ${clusterFolder} but does not answer: stop it`,
      );
    }
    // It may be recovering, or shutting down.
    await sleep(50);
  }
}

/**
 * Removes the pid file of a dead server. PostgreSQL does so itself, unless the id belongs to
 * another process by now, or to a zombie (a container's first process may never reap it). Backends
 * outlive a killed server for a moment and must be gone first.
 */
async function clearStalePid(clusterFolder: string): Promise<void> {
  const deadline = Date.now() + STOP_MS;
  while (isProcessInside(clusterFolder)) {
    if (Date.now() > deadline) {
      throw new StartError(
        `processes of a killed PostgreSQL still use ${clusterFolder}: stop them`,
      );
    }
    await sleep(20);
  }
  await rm(join(clusterFolder, 'postmaster.pid'), { force: true });
}

/** Whether a living process uses the folder, where the system provides it (Linux). */
function isProcessInside(folder: string): boolean {
  if (!existsSync('/proc/self/cwd')) return false;
  return readdirSync('/proc').some((name) => {
    try {
      return readlinkSync(`/proc/${name}/cwd`) === folder && isProcessAlive(Number(name));
    } catch {
      return false;
    }
  });
}

function readPostmasterPid(clusterFolder: string): { pid: number; port: number } | undefined {
  let lines: string[];
  try {
    lines = readFileSync(join(clusterFolder, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return undefined;
  }
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  return Number.isInteger(pid) && pid > 0 && port > 0 ? { pid, port } : undefined;
}

async function serves(url: string, clusterFolder: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return rows[0]?.data_directory === clusterFolder;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

async function isPostgres(pid: number): Promise<boolean> {
  try {
    const { stdout } = await run('ps', ['-p', String(pid), '-o', 'comm=']);
    return /postgres/.test(stdout);
  } catch {
    // Without `ps` and /proc, assume that it is PostgreSQL: if not, findRunningServer ends with an
    // error.
    return existsSync(`/proc/${pid}/comm`)
      ? /postgres/.test(readFileSync(`/proc/${pid}/comm`, 'utf8'))
      : true;
  }
}

/** Ends a server whose password is lost. */
export async function stopLeftover(clusterFolder: string): Promise<void> {
  const owner = readPostmasterPid(clusterFolder);
  if (owner && isProcessAlive(owner.pid) && (await isPostgres(owner.pid))) {
    await shutDown(owner.pid);
  }
}

/** Whether the server takes a connection. */
export async function canConnect(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** A fast shutdown; an immediate one (the next start recovers) if that takes too long. */
export async function shutDown(pid: number): Promise<void> {
  signal(pid, 'SIGINT');
  const deadline = Date.now() + STOP_MS;
  while (isProcessAlive(pid)) {
    if (Date.now() > deadline) signal(pid, 'SIGQUIT');
    if (Date.now() > deadline + STOP_MS)
      throw new Error(`PostgreSQL (process ${pid}) does not end`);
    await sleep(20);
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended already.
  }
}
