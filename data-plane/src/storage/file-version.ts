/**
 * The version of a file's tables, in SQLite's `user_version`: an older service refuses a newer file
 * in place of misreading it.
 */
import { StartError } from '@governance/shared/process/start-error';
import type { Database } from 'better-sqlite3';

export interface FileSchema {
  /** From 1; files from before theirs had versions have 0, like new ones. */
  version: number;
  /** The file, as the operator is told of it. */
  what: string;
}

export function versionOf(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

/** @throws StartError when the file is of a newer version */
export function requireKnownVersion(db: Database, { version, what }: FileSchema): void {
  const found = versionOf(db);
  if (found <= version) return;
  throw new StartError(
    `${what} was written by a newer version (${found}): start that version, or restore the data folder of before`,
  );
}

/**
 * Brings the file to the version, as one commit.
 *
 * @param make makes what is missing: of a new file, and of one of any version before
 * @throws StartError when the file is of a newer version
 */
export function prepareTables(db: Database, schema: FileSchema, make: () => void): void {
  const prepare = db.transaction(() => {
    requireKnownVersion(db, schema);
    make();
    if (versionOf(db) < schema.version) db.pragma(`user_version = ${schema.version}`);
  });
  prepare.immediate();
}
