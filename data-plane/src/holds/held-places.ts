/**
 * Which worker of a machine holds calls of an agent. All workers write it to one file, so that a
 * request of the agent outside a session reaches the worker that can use its approval. If the file
 * cannot be read or written, requests are not redirected: the call is held where it arrives.
 */
import type { Database } from 'better-sqlite3';
import type { Logger } from 'pino';
import { openPrepared } from '../storage/durable-database.ts';
import { prepareTables } from '../storage/file-version.ts';
import type { Hold } from './hold.ts';

export const HELD_PLACES_FILE = 'held-calls.db';

export type HeldPlaces = ReturnType<typeof openHeldPlaces>;

interface HeldPlacesDeps {
  worker: number;
  now(): number;
  log: Pick<Logger, 'warn'>;
}

export function openHeldPlaces(path: string, deps: HeldPlacesDeps) {
  const options = { exclusive: false, busyTimeoutMs: 200 };
  return openPrepared(path, options, (db) => prepareHeldPlaces(db, deps));
}

function prepareHeldPlaces(db: Database, { worker, now, log }: HeldPlacesDeps) {
  // Rebuilt at each start, so losing unsynced writes is harmless.
  db.pragma('synchronous = NORMAL');
  prepareTables(db, { version: 1, what: HELD_PLACES_FILE }, () =>
    db.exec(`CREATE TABLE IF NOT EXISTS held (
      tenant_id TEXT NOT NULL, agent_id TEXT NOT NULL, id TEXT NOT NULL, worker INTEGER NOT NULL,
      until INTEGER NOT NULL, PRIMARY KEY (tenant_id, agent_id, id)) STRICT, WITHOUT ROWID`),
  );
  // Only expired rows: this worker writes its own again when it loads its holds.
  db.prepare('DELETE FROM held WHERE until < ?').run(now());
  const put = db.prepare<[string, string, string, number, number]>(
    'INSERT OR REPLACE INTO held VALUES (?, ?, ?, ?, ?)',
  );
  const remove = db.prepare<[string]>('DELETE FROM held WHERE id = ?');
  const find = db
    .prepare<[string, string, number], number>(
      `SELECT worker FROM held WHERE tenant_id = ? AND agent_id = ? AND until > ?
       ORDER BY id LIMIT 1`,
    )
    .pluck();

  function attempt<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      log.warn({ err: error }, 'which worker holds a call could not be looked up or written');
      return undefined;
    }
  }

  return {
    /** Notes that this worker holds a call, until `until` (Unix milliseconds) at most. */
    note: (
      { id, tenantId, agentId }: Pick<Hold, 'id' | 'tenantId' | 'agentId'>,
      until: number,
    ): void => void attempt(() => put.run(tenantId, agentId, id, worker, until)),
    forget: ({ id }: Pick<Hold, 'id'>): void => void attempt(() => remove.run(id)),
    /** The worker with the agent's oldest held call: ids begin with their time. */
    findWorker: (tenantId: string, agentId: string): number | undefined =>
      attempt(() => find.get(tenantId, agentId, now())),
    close: (): void => void db.close(),
  };
}
