/**
 * A client's configuration on disk: read whole and replaced by a rename, so that nobody ever sees
 * half of it. It stays below its root, keeps its mode, and the previous version is kept beside it.
 * Proven by config-file.test.ts.
 */
import { isUtf8 } from 'node:buffer';
import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import {
  access,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
} from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { ClientFile } from './client-files.ts';

/** A problem with the file, for the person who runs the command. */
export class ConfigFileError extends Error {
  override name = 'ConfigFileError';
}

export interface ConfigFile {
  /** With symbolic links resolved. */
  path: string;
  /** Null if there is none yet. */
  text: string | null;
  mode: number;
}

/** Configurations are kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** It holds a credential. */
const NEW_FILE_MODE = 0o600;
const NEW_FOLDER_MODE = 0o700;

/** @throws ConfigFileError if the file is not the user's own, or not text */
export async function readConfigFile({ path, root }: ClientFile): Promise<ConfigFile> {
  const real = await resolveBelow(resolve(path), resolve(root));
  const found = await lstat(real).catch(ifMissing);
  if (!found) return { path: real, text: null, mode: NEW_FILE_MODE };
  if (!found.isFile()) throw new ConfigFileError(`${real} is not a file.`);
  if (process.getuid && found.uid !== process.getuid()) {
    throw new ConfigFileError(`${real} belongs to another user.`);
  }
  if (found.size > MAX_BYTES) throw new ConfigFileError(`${real} is larger than 16 MiB.`);
  const bytes = await readFile(real);
  if (!isUtf8(bytes)) throw new ConfigFileError(`${real} is not UTF-8.`);
  return { path: real, text: bytes.toString('utf8'), mode: found.mode & 0o777 };
}

/** Checks, before a token is used, that the file can be written. Creates its folder. */
export async function prepareFolder({ path }: ConfigFile): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true, mode: NEW_FOLDER_MODE });
  await access(folder, constants.W_OK | constants.X_OK).catch(() => {
    throw new ConfigFileError(`${folder} cannot be written to.`);
  });
}

/**
 * Replaces the file, and keeps its old content in a backup that `restoreBackup` finds.
 *
 * @returns the backup's path; null if there was no file
 * @throws ConfigFileError if the file has changed since it was read
 */
export async function replaceConfigFile(
  file: ConfigFile,
  text: string,
  name: string,
): Promise<string | null> {
  await requireUnchanged(file);
  const backup = backupPath(file.path, name, text, file.text === null ? 'none' : 'backup');
  await removeBackups(file.path, name);
  await writeWhole(backup, file.text ?? '', NEW_FILE_MODE);
  await requireUnchanged(file);
  await writeWhole(file.path, text, file.mode);
  return file.text === null ? null : backup;
}

/**
 * Restores the content from before the last run, byte for byte.
 *
 * @returns false if there is no backup, or the file has changed since that run
 */
export async function restoreBackup(file: ConfigFile, name: string): Promise<boolean> {
  const { text } = file;
  if (text === null) return false;
  const [backup, none] = [
    backupPath(file.path, name, text, 'backup'),
    backupPath(file.path, name, text, 'none'),
  ];
  if (await lstat(none).catch(ifMissing)) {
    await rm(file.path);
    await rm(none);
    return true;
  }
  const kept = await lstat(backup).catch(ifMissing);
  if (!kept?.isFile()) return false;
  await writeWhole(file.path, await readFile(backup, 'utf8'), file.mode);
  await rm(backup);
  return true;
}

/** Replaces the file without making a backup. */
export async function rewriteConfigFile(file: ConfigFile, text: string): Promise<void> {
  await requireUnchanged(file);
  await writeWhole(file.path, text, file.mode);
}

/** Its name includes the digest of the new content: an undo checks that the file still has it. */
function backupPath(path: string, name: string, text: string, kind: 'backup' | 'none'): string {
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${path}.${name}.${digest}.${kind}`;
}

/** Only one is kept: older ones hold credentials that have been replaced. */
async function removeBackups(path: string, name: string): Promise<void> {
  const beginning = `${basename(path)}.${name}.`;
  for (const one of await readdir(dirname(path))) {
    const rest = one.startsWith(beginning) ? one.slice(beginning.length) : '';
    if (/^[0-9a-f]{16}\.(backup|none)$/.test(rest)) await rm(join(dirname(path), one));
  }
}

async function requireUnchanged({ path, text }: ConfigFile): Promise<void> {
  const now = await readFile(path, 'utf8').catch(ifMissing);
  if ((now ?? null) !== text) {
    throw new ConfigFileError(`${path} has changed meanwhile: close the client and try again.`);
  }
}

async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const part = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.part`);
  try {
    // Fails if anything exists at this path, including a symbolic link.
    const handle = await open(part, 'wx', NEW_FILE_MODE);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** The path with its symbolic links resolved, as far as it exists. */
async function resolveBelow(path: string, root: string): Promise<string> {
  const realRoot = await realpath(root).catch(() => {
    throw new ConfigFileError(`${root} does not exist.`);
  });
  const real = await realPathOf(path);
  const way = relative(realRoot, real);
  const isBelow = way !== '' && !way.startsWith('..') && !isAbsolute(way);
  if (!isBelow) {
    throw new ConfigFileError(
      `${path} leads out of ${root}, to ${real}: name the file with --file.`,
    );
  }
  return real;
}

async function realPathOf(path: string): Promise<string> {
  const found = await lstat(path).catch(ifMissing);
  if (!found) {
    const folder = dirname(path);
    return folder === path ? path : join(await realPathOf(folder), basename(path));
  }
  return realpath(path).catch(() => {
    throw new ConfigFileError(`${path} is a broken symbolic link.`);
  });
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw error;
}
