/**
 * What a data folder says about its database: where the server's files are, and with which
 * passwords; and what is refused where they are not as it says. Proven by postgres-folder.test.ts and embedded-postgres.test.ts.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { StartError } from '@governance/shared/process/start-error';
import { z } from 'zod';
import type { RunAs } from './postgres-binaries.ts';

export const CREDENTIALS_FILE = 'postgres.json';

/** What `postgres.json` in the data folder holds. */
const Credentials = z.object({
  superuserPassword: z.string().min(1),
  password: z.string().min(1),
  /** Null until the first start is complete: the cluster then held nothing yet. */
  port: z.int().min(1).max(65_535).nullable(),
  /**
   * The cluster's folder outside the data folder; null when it is inside, even if that was moved.
   */
  outside: z.string().nullable().default(null),
});
export type Credentials = z.infer<typeof Credentials>;

export function readCredentials(file: string): Credentials | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return Credentials.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EACCES') {
      throw new StartError(`${file} belongs to another user: start the service as that user`);
    }
    throw new StartError(
      `${file} cannot be read: restore it, or set SERVICE_DATA_DIR to an empty folder`,
      { cause },
    );
  }
}

/** Holds the only copy of the passwords, so it is replaced whole, and only where it changes. */
export function storeCredentials(file: string, credentials: Credentials): void {
  const text = JSON.stringify(credentials, null, 2);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  writeFileDurably(file, text);
}

/**
 * Refuses to make an empty cluster in the place of one that is not there: the service would be
 * ready, with nothing in it. A first start that was interrupted left nothing to lose.
 */
export function refuseLostCluster(
  { port }: Credentials,
  clusterFolder: string,
  credentialsFile: string,
): void {
  if (existsSync(clusterFolder)) {
    throw new StartError(
      `${clusterFolder} is no longer a PostgreSQL data folder: restore it, or move it and ${credentialsFile} away to begin with an empty database`,
    );
  }
  if (port === null) return;
  throw new StartError(
    `the database of this data folder was in ${clusterFolder} and is not there: restore it, with its owner (cp -a), or remove ${credentialsFile} to begin with an empty database`,
  );
}

/**
 * Refuses files of another user, which would look missing or damaged: those of a copy that lost its
 * owner, or of a service that ran as somebody else.
 *
 * @param runAs undefined where PostgreSQL runs as the user of this process
 */
export function refuseOthersFiles(clusterFolder: string, runAs: RunAs | undefined): void {
  const uid = runAs?.uid ?? process.getuid?.();
  const gid = runAs?.gid ?? process.getgid?.();
  // Windows has no such owners.
  if (uid === undefined) return;
  const files = ['PG_VERSION', 'postgresql.conf'].map((name) => join(clusterFolder, name));
  const found = [clusterFolder, ...files].find((path) => isOthers(path, uid));
  if (found === undefined) return;
  const remedy = runAs
    ? 'a copy keeps its owner with cp -a; for this one'
    : 'start the service as that user, or give it the folder';
  throw new StartError(
    `${found} belongs to another user than PostgreSQL's: ${remedy}: chown -R ${uid}:${gid} ${clusterFolder}`,
  );
}

/** A file that everybody may read (settings that root wrote) may be anybody's; a folder not. */
function isOthers(path: string, uid: number): boolean {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.uid === uid) return false;
    return found.isDirectory() || (found.mode & 0o004) === 0;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    return true;
  }
}
