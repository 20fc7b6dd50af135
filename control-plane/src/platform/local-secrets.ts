/**
 * Secrets that development makes for itself: kept in the data folder, readable by their owner
 * only, so that a restart finds what the first start made. Production is given its own.
 */
import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads a secret, or makes it.
 *
 * @param dataDir made if it is missing
 * @param name of the file
 * @param bytes of randomness in a new one, written as base64url
 */
export function readOrMakeSecret(dataDir: string, name: string, bytes: number): string {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const path = join(dataDir, name);
  const draft = `${path}.${process.pid}`;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  writeFileSync(draft, `${randomBytes(bytes).toString('base64url')}\n`, { mode: 0o600 });
  try {
    // Appears whole or not at all, and never over another process's.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readFileSync(path, 'utf8').trim();
}
