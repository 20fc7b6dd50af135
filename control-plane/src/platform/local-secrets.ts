/**
 * Secrets that the service makes for itself where none is given: kept in the data folder, readable
 * by their owner only, so that a restart finds what the first start made.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@governance/shared/start-error';

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
  try {
    return readNotEmpty(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const draft = writeDraft(path, make().trimEnd());
  try {
    // Appears whole or not at all, and never over another process's.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readNotEmpty(path);
}

/** @throws StartError for a file with nothing in it, which would be a secret that everybody knows */
function readNotEmpty(path: string): string {
  const text = readFileSync(path, 'utf8');
  if (text.trim() !== '') return text;
  throw new StartError(`${path} is empty: put back what was in it, or remove it to have one made`);
}

/**
 * The whole text in a new file of its own: two containers that share the folder have the same
 * process id, and one would read what the other is writing. Never through a link that is there.
 */
function writeDraft(path: string, text: string): string {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: 'wx' });
  return draft;
}

/**
 * Writes a secret that is known otherwise, for whoever may read the data folder to look it up.
 *
 * @returns the path of the file
 */
export function writeSecret(dataDir: string, name: string, secret: string): string {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const path = join(dataDir, name);
  renameSync(writeDraft(path, secret), path);
  return path;
}
