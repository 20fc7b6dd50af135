/**
 * Where a data folder's cluster is, and whose a cluster is that is outside of its data folder: it
 * notes that. Copies of a data folder name the same cluster as the original: both would use one
 * database, and the first that stops would end it for both. Proven by cluster-place.test.ts and
 * embedded-postgres.test.ts.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurably } from '@governance/shared/process/durable-file';
import { StartError } from '@governance/shared/process/start-error';
import { canEnter, findRunAs, sharedClusterFolder } from './postgres-binaries.ts';
import { CREDENTIALS_FILE, readCredentials } from './postgres-folder.ts';
import { stopLeftover } from './postgres-process.ts';

const NOTE = 'data-folder';

/**
 * Where the server's files are: in the data folder, unless the service runs as root and the
 * server's user cannot enter it.
 */
export async function chooseClusterFolder(
  dataDir: string,
  inside: string,
  log: { warn(message: string): void },
): Promise<string> {
  const runAs = await findRunAs(inside);
  if (!runAs || (await canEnter(dataDir, runAs))) {
    if (existsSync(inside)) {
      throw new StartError(
        `${inside} holds a database but its password file postgres.json is missing: restore that file, or move the folder away to begin with an empty database`,
      );
    }
    return inside;
  }
  const outside = sharedClusterFolder(dataDir);
  // A data folder that was here and was moved took its database along.
  if (findOtherOwner(outside, dataDir)) return `${outside}-${Date.now()}`;
  if (existsSync(outside)) {
    // The data folder was deleted, and the password with it. The cluster is orphaned but still
    // holds data, so it is moved aside and not deleted.
    await stopLeftover(outside);
    const aside = `${outside}.orphan-${Date.now()}`;
    await rename(outside, aside);
    log.warn(`a database of an earlier ${dataDir} was moved to ${aside}`);
  }
  return outside;
}

/** Notes that the cluster is this data folder's; a service that is refused notes nothing. */
export function claimCluster(clusterFolder: string, dataDir: string): void {
  if (readNote(clusterFolder) === dataDir) return;
  // Readable by the server's user, for whoever copies the folder as that.
  writeFileDurably(join(clusterFolder, NOTE), dataDir, 0o644);
}

/** @throws StartError where another data folder uses the cluster */
export function refuseCopiedFolder(clusterFolder: string, dataDir: string): void {
  const owner = findOtherOwner(clusterFolder, dataDir);
  if (owner === undefined) return;
  throw new StartError(
    `the database in ${clusterFolder} is that of the data folder ${owner}, of which ${dataDir} is a copy: set SERVICE_DATA_DIR to ${owner}, or, if ${dataDir} replaces it, stop its service and move it away`,
  );
}

/**
 * The other data folder that uses the cluster. One that was moved is no longer where it was, and
 * one that is reached by another path is the same.
 */
function findOtherOwner(clusterFolder: string, dataDir: string): string | undefined {
  const owner = readNote(clusterFolder);
  if (owner === undefined || isSameFolder(owner, dataDir)) return undefined;
  const uses = readCredentials(join(owner, CREDENTIALS_FILE))?.outside === clusterFolder;
  return uses ? owner : undefined;
}

function readNote(clusterFolder: string): string | undefined {
  const note = join(clusterFolder, NOTE);
  return existsSync(note) ? readFileSync(note, 'utf8') : undefined;
}

function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return a !== undefined && a.dev === b?.dev && a.ino === b.ino;
}
