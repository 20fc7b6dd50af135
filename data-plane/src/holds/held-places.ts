/**
 * Which worker of a machine holds calls of an agent. All workers write it to one file, so that a
 * request of the agent outside a session reaches the worker that can use its approval. Workers with
 * an approval come first; where several have one, a request that came to the wrong worker gives the
 * right one a turn. If the file cannot be read or written, requests are not redirected: the call is
 * held where it arrives. Proven by held-places.test.ts.
 */
import type { Database } from 'better-sqlite3';
import type { Logger } from 'pino';
import { openPrepared } from '../storage/durable-database.ts';
import { prepareTables, versionOf } from '../storage/file-version.ts';
import type { Hold } from './hold.ts';

export const HELD_PLACES_FILE = 'held-calls.db';

/** How long requests go to the worker with an approval that was asked for at another one. */
const TURN_MS = 60_000;

export type HeldPlaces = ReturnType<typeof openHeldPlaces>;

type PlacedHold = Pick<Hold, 'id' | 'tenantId' | 'agentId'>;

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
  const schema = { version: 2, what: HELD_PLACES_FILE };
  prepareTables(db, schema, () => {
    if (versionOf(db) < schema.version) db.exec('DROP TABLE IF EXISTS held');
    db.exec(`CREATE TABLE IF NOT EXISTS held (
      tenant_id TEXT NOT NULL, agent_id TEXT NOT NULL, id TEXT NOT NULL, worker INTEGER NOT NULL,
      until INTEGER NOT NULL, approved INTEGER NOT NULL, turn_until INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant_id, agent_id, id)) STRICT, WITHOUT ROWID`);
  });
  // Only expired rows: this worker writes its own again when it loads its holds.
  db.prepare('DELETE FROM held WHERE until < ?').run(now());
  const put = db.prepare<[string, string, string, number, number, number]>(
    `INSERT INTO held (tenant_id, agent_id, id, worker, until, approved) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE
     SET worker = excluded.worker, until = excluded.until, approved = excluded.approved`,
  );
  const remove = db.prepare<[string]>('DELETE FROM held WHERE id = ?');
  // A turn is not prolonged while it lasts: repeated in alternation, each call gets its own.
  const giveTurn = db.prepare<[number, string, string, string, number]>(
    `UPDATE held SET turn_until = ?
     WHERE tenant_id = ? AND agent_id = ? AND id = ? AND turn_until <= ?`,
  );
  const find = db
    .prepare<{ tenantId: string; agentId: string; now: number }, number>(
      `SELECT worker FROM held
       WHERE tenant_id = @tenantId AND agent_id = @agentId AND until > @now
       ORDER BY approved DESC, turn_until > @now DESC, turn_until, id LIMIT 1`,
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
    /**
     * Notes that this worker holds a call, until `until` (Unix milliseconds) at most, and whether
     * its approval can be used here.
     */
    note: ({ id, tenantId, agentId }: PlacedHold, until: number, isApproved: boolean): void =>
      void attempt(() => put.run(tenantId, agentId, id, worker, until, isApproved ? 1 : 0)),
    /** Requests of the agent go to the worker that holds this call next, once it is approved. */
    giveTurn: ({ id, tenantId, agentId }: PlacedHold): void =>
      void attempt(() => giveTurn.run(now() + TURN_MS, tenantId, agentId, id, now())),
    forget: ({ id }: Pick<Hold, 'id'>): void => void attempt(() => remove.run(id)),
    /**
     * The worker with an approval of the agent, else the one with its oldest held call: ids begin
     * with their time.
     */
    findWorker: (tenantId: string, agentId: string): number | undefined =>
      attempt(() => find.get({ tenantId, agentId, now: now() })),
    close: (): void => void db.close(),
  };
}
