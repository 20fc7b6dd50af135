import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { REPLICA_FILE } from '../replica/replica.ts';

/**
 * Everything that a replica holds on disk, which another connection may not open: a copy of its
 * files, as a crash at this moment would leave them.
 *
 * @returns `kind key value` of each fact, in order
 */
export function readStoredFacts(dataDir: string): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'facts-'));
  for (const suffix of ['', '-wal']) {
    const file = join(dataDir, `${REPLICA_FILE}${suffix}`);
    if (existsSync(file)) copyFileSync(file, join(copy, `${REPLICA_FILE}${suffix}`));
  }
  const db = new Database(join(copy, REPLICA_FILE));
  try {
    return db
      .prepare<[], string>(
        "SELECT kind || ' ' || key || ' ' || value FROM facts ORDER BY kind, key",
      )
      .pluck()
      .all();
  } finally {
    db.close();
    rmSync(copy, { recursive: true });
  }
}
