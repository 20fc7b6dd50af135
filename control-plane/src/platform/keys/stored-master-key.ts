/** The master key in the data folder, used when SERVICE_MASTER_KEY is not set. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';
import { Secret } from '@governance/shared/settings';
import { readOrMakeSecret } from '../local-secrets.ts';

const FILE = 'master-key';
const BYTES = 32;

/** Where the key of a data folder is. */
export const masterKeyPath = (dataDir: string): string => join(dataDir, FILE);

/** @throws StartError when the file does not hold a key of 32 bytes */
export function readOrMakeMasterKey(dataDir: string): Secret<Buffer> {
  return parseMasterKey(dataDir, readOrMakeSecret(dataDir, FILE, BYTES));
}

/**
 * Reads the key for commands, which must not create one: it would decrypt nothing that the service
 * has stored.
 *
 * @returns undefined where the folder has none
 * @throws StartError where the file does not hold a key of 32 bytes
 */
export function findMasterKey(dataDir: string): Secret<Buffer> | undefined {
  try {
    return parseMasterKey(dataDir, readFileSync(masterKeyPath(dataDir), 'utf8').trim());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

function parseMasterKey(dataDir: string, text: string): Secret<Buffer> {
  const key = Buffer.from(text, 'base64url');
  if (key.length === BYTES) return new Secret(key);
  throw new StartError(
    `${masterKeyPath(dataDir)} does not hold a key of ${BYTES} bytes: put back what was in it, or set SERVICE_MASTER_KEY`,
  );
}
