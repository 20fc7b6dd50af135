/** Checks the data folder before anything is stored in it. */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type ListeningAddress, settleAddress } from './listening-address.ts';
import { errorCode, StartError } from './start-error.ts';

const REASONS: Record<string, string> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: "this user's quota of the disk is used up",
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of the path is a file',
  ENOENT: 'it cannot be made there',
  ENAMETOOLONG: 'the path is too long',
};

/**
 * Creates the folder if it is missing, and writes a file in it.
 *
 * @param dataDir SERVICE_DATA_DIR
 * @throws StartError saying what is wrong with it
 */
function prepareDataFolder(dataDir: string): void {
  try {
    makeFolder(resolve(dataDir));
    const trial = join(dataDir, `.trial-${process.pid}`);
    try {
      writeFileSync(trial, 'x', { mode: 0o600 });
    } finally {
      rmSync(trial, { force: true });
    }
  } catch (error) {
    const reason = REASONS[errorCode(error) ?? ''];
    if (!reason) throw error;
    throw new StartError(
      `the data folder ${dataDir} cannot be used: ${reason}; set SERVICE_DATA_DIR to a folder that this user may write`,
      { cause: error },
    );
  }
}

/**
 * A start as another user, as root say, leaves files that only that one reads.
 *
 * @throws StartError naming the first of them
 */
function requireReadable(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const path = join(dataDir, name);
    try {
      accessSync(path, constants.R_OK);
    } catch (error) {
      if (errorCode(error) !== 'EACCES') continue;
      throw new StartError(
        `${path} belongs to another user: start the service as that user, or give it to this one (chown -R ${process.getuid?.()} ${dataDir})`,
        { cause: error },
      );
    }
  }
}

/** Part by part: Node's own recursive mkdir never returns for a path below /proc. */
function makeFolder(path: string): void {
  const isThere = statSync(path, { throwIfNoEntry: false });
  if (isThere?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  // When run as root, PostgreSQL uses a user of its own, which has to pass through.
  mkdirSync(path, { mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/**
 * Checks early what a start would find out late: the data folder and the address.
 *
 * @returns the address as `settleAddress` does
 * @throws StartError saying what to change
 */
export function tryPlace(config: ListeningAddress & { dataDir: string }) {
  prepareDataFolder(config.dataDir);
  requireReadable(config.dataDir);
  return settleAddress(config);
}
