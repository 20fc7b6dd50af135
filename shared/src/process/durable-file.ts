import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Replaces a file so that after a crash it has either the whole old or the whole new content:
 * writes a temporary file beside it, fsyncs it, renames it, and fsyncs the folder.
 *
 * @param path its folder must exist
 * @param mode permission bits of the new file
 * @throws when a step fails; until the rename succeeds, the old file stays
 */
export function writeFileDurably(path: string, content: string | Uint8Array, mode = 0o600): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = openSync(temporary, 'wx', mode);
    try {
      writeFileSync(file, content);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Makes renames and removals within a folder durable. */
export function syncFolder(path: string): void {
  // Windows cannot open a folder for this, and orders renames itself.
  if (process.platform === 'win32') return;
  syncFile(path, 'r');
}

/** Makes what was written to a file durable. */
export function syncFile(path: string, flags: 'r' | 'r+'): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The asynchronous `writeFileDurably`. */
export async function storeFileDurably(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', mode);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await storeFolder(dirname(path));
}

/** The asynchronous `syncFolder`. */
async function storeFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
