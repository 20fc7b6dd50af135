/**
 * Secrets that the service makes for itself where none is given: kept in the data folder, readable
 * by their owner only, so that a restart finds what the first start made.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads a secret, or makes it.
 *
 * @param dataDir made if it is missing
 * @param name of the file
 * @param bytes of randomness in a new one, written as base64url
 */
export function readOrMakeSecret(dataDir: string, name: string, bytes: number): string {
  return readOrMakeFile(dataDir, name, () => randomBytes(bytes).toString('base64url')).trim();
}

/** The same for any text that `make` gives. */
export function readOrMakeFile(dataDir: string, name: string, make: () => string): string {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const path = join(dataDir, name);
  const draft = `${path}.${process.pid}`;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  writeFileSync(draft, `${make().trimEnd()}\n`, { mode: 0o600 });
  try {
    // Appears whole or not at all, and never over another process's.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(path, 'utf8');
}

/**
 * Writes a secret that is known otherwise, for whoever may read the data folder to look it up.
 *
 * @returns the path of the file
 */
export function writeSecret(dataDir: string, name: string, secret: string): string {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const path = join(dataDir, name);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  renameSync(draft, path);
  return path;
}
