/**
 * Secrets that the service makes when none is configured: kept in the data folder, readable by
 * their owner only, and found again by the next start.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';

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

/** Reads a file, or makes it with the text that `make` gives. */
function readOrMakeFile(dataDir: string, name: string, make: () => string): string {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const path = join(dataDir, name);
  try {
    return readNotEmpty(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const draft = writeDraft(path, make().trimEnd());
  try {
    // Appears whole or not at all, and never replaces another process's file.
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
  return readNotEmpty(path);
}

/** @throws StartError for an empty file, which would be a publicly known secret */
function readNotEmpty(path: string): string {
  const text = readFileSync(path, 'utf8');
  if (text.trim() !== '') return text;
  throw new StartError(`${path} is empty: put back what was in it, or remove it to have one made`);
}

/**
 * Writes the whole text to a new file with a random name: two containers that share the folder may
 * have the same process id. Never follows an existing link.
 */
function writeDraft(path: string, text: string): string {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, `${text}\n`, { mode: 0o600, flag: 'wx' });
  return draft;
}

/**
 * Writes a secret to the data folder, for the operator to look it up.
 *
 * @returns the path of the file
 */
export function writeSecret(dataDir: string, name: string, secret: string): string {
  mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const path = join(dataDir, name);
  renameSync(writeDraft(path, secret), path);
  return path;
}
