/**
 * What this data plane keeps of tenants' logs: the keys seen first with the rotations since, the
 * beginnings of epochs, checkpoints, and whatever contradicted them. The data plane's command reads
 * it beside the running service. Proven by log-watcher.test.ts.
 */
import {
  KeyEntry,
  SignedLogEpoch,
  SignedRotation,
} from '@governance/shared/evidence/evidence-keys';
import {
  ContradictionReason,
  type LogView,
  MAX_WATCHED_EPOCHS,
  MAX_WATCHED_KEYS,
  type SeenCheckpoint,
  type WatchTrust,
} from '@governance/shared/evidence/log-watch';
import type Database from 'better-sqlite3';
import { z } from 'zod';
import { openPrepared } from '../../storage/durable-database.ts';
import { prepareTables } from '../../storage/file-version.ts';
import { findThinned } from './thinning.ts';

export const LOG_WATCH_FILE = 'log-watch.db';
export const LOG_WATCH_SCHEMA = { version: 1, what: LOG_WATCH_FILE };

/** Contradictions kept of a tenant: the first ones, which show how it began. */
export const MAX_CONTRADICTIONS = 100;

/** Beginnings of log epochs that are kept with a contradiction. */
const MAX_KEPT_EPOCHS = 5;

export interface KeptCheckpoint extends SeenCheckpoint {
  /** Checkpoints of one line continue each other; a contradiction begins the next one. */
  line: number;
  seenAt: string;
}

export interface Contradiction {
  reason: ContradictionReason;
  seenAt: string;
  /** The note that was kept. */
  known: string | null;
  /** The note that was received. */
  told: string | null;
  /** The proof that came with it. */
  path: string[] | null;
  /** Beginnings of log epochs that came with it, signed by a trusted key. */
  logEpochs: SignedLogEpoch[];
}

export type LogWatchStore = ReturnType<typeof openLogWatchStore>;

const Trust = z.object({
  keys: z.array(KeyEntry),
  rotations: z.array(SignedRotation),
  log_epochs: z.array(SignedLogEpoch),
  /** Missing in a file of an earlier version. */
  revoked: z.array(KeyEntry).default([]),
});

interface CheckpointRow {
  id: number;
  line: number;
  epoch: number;
  size: number;
  root: string;
  note: string;
  seen_at: string;
}

interface ContradictionRow {
  reason: string;
  seen_at: string;
  known: string | null;
  told: string | null;
  path: string | null;
  log_epochs: string;
}

/** @throws when the file is none or of a newer version, or cannot be written durably */
export function openLogWatchStore(path: string) {
  return openPrepared(path, { exclusive: false }, prepareLogWatch);
}

function prepareLogWatch(db: Database.Database) {
  prepareTables(db, LOG_WATCH_SCHEMA, () =>
    db.exec(`
    CREATE TABLE IF NOT EXISTS watched (
      tenant_id TEXT PRIMARY KEY, deployment_id TEXT NOT NULL, trust TEXT NOT NULL,
      line INTEGER NOT NULL, contradictions INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS checkpoints (
      id INTEGER PRIMARY KEY AUTOINCREMENT, tenant_id TEXT NOT NULL, line INTEGER NOT NULL,
      epoch INTEGER NOT NULL, size INTEGER NOT NULL, root TEXT NOT NULL, note TEXT NOT NULL,
      seen_at TEXT NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS checkpoints_idx ON checkpoints (tenant_id, id);
    CREATE TABLE IF NOT EXISTS contradictions (
      id INTEGER PRIMARY KEY AUTOINCREMENT, tenant_id TEXT NOT NULL, reason TEXT NOT NULL,
      seen_at TEXT NOT NULL, known TEXT, told TEXT, path TEXT, log_epochs TEXT NOT NULL) STRICT;
    CREATE INDEX IF NOT EXISTS contradictions_idx ON contradictions (tenant_id, id)`),
  );
  return { ...logWatchReads(db), ...logWatchWrites(db), close: (): void => void db.close() };
}

/** Reads a file that a running service may write to. */
export function logWatchReads(db: Database.Database) {
  const watched = db.prepare<
    [string],
    { deployment_id: string; trust: string; line: number; contradictions: number }
  >('SELECT deployment_id, trust, line, contradictions FROM watched WHERE tenant_id = ?');
  const checkpoints = db.prepare<[string], CheckpointRow>(
    'SELECT * FROM checkpoints WHERE tenant_id = ? ORDER BY id',
  );
  const current = db.prepare<[string, number], CheckpointRow>(
    `SELECT * FROM checkpoints WHERE tenant_id = ? AND line = ?
     ORDER BY epoch DESC, size DESC LIMIT 1`,
  );
  const highest = db.prepare<[string], CheckpointRow>(
    'SELECT * FROM checkpoints WHERE tenant_id = ? ORDER BY epoch DESC, size DESC, id LIMIT 1',
  );
  const contradictions = db.prepare<[string], ContradictionRow>(
    'SELECT * FROM contradictions WHERE tenant_id = ? ORDER BY id',
  );
  const counted = db
    .prepare<[string], number>('SELECT count(*) FROM checkpoints WHERE tenant_id = ?')
    .pluck();
  const tenants = db
    .prepare<[], string>('SELECT tenant_id FROM watched ORDER BY tenant_id')
    .pluck();

  return {
    listTenants: (): string[] => tenants.all(),

    /** The trusted keys and epochs; undefined before the first checkpoint. */
    findTrust: (tenantId: string): (WatchTrust & { deploymentId: string }) | undefined => {
      const row = watched.get(tenantId);
      if (!row) return undefined;
      const { log_epochs: logEpochs, ...trust } = Trust.parse(JSON.parse(row.trust));
      return { tenantId, deploymentId: row.deployment_id, ...trust, logEpochs };
    },

    /** The largest checkpoint of the log's present line. */
    findCurrent: (tenantId: string): KeptCheckpoint | null => {
      const row = current.get(tenantId, watched.get(tenantId)?.line ?? 0);
      return row ? toCheckpoint(row) : null;
    },

    /** The largest checkpoint ever seen. */
    findHighest: (tenantId: string): KeptCheckpoint | null => {
      const row = highest.get(tenantId);
      return row ? toCheckpoint(row) : null;
    },

    listCheckpoints: (tenantId: string): KeptCheckpoint[] =>
      checkpoints.all(tenantId).map(toCheckpoint),

    countCheckpoints: (tenantId: string): number => counted.get(tenantId) ?? 0,

    listContradictions: (tenantId: string): Contradiction[] =>
      contradictions.all(tenantId).map(toContradiction),

    /** Includes those that are no longer kept. */
    countContradictions: (tenantId: string): number => watched.get(tenantId)?.contradictions ?? 0,
  };
}

function logWatchWrites(db: Database.Database) {
  const { findTrust, listContradictions } = logWatchReads(db);
  const lineOf = db
    .prepare<[string], number>('SELECT line FROM watched WHERE tenant_id = ?')
    .pluck();
  const saveTrust = db.prepare<[string, string, string]>(
    `INSERT INTO watched VALUES (?, ?, ?, 1, 0) ON CONFLICT (tenant_id) DO UPDATE
     SET deployment_id = excluded.deployment_id, trust = excluded.trust`,
  );
  const insert = db.prepare<[string, number, number, number, string, string, string]>(
    `INSERT INTO checkpoints (tenant_id, line, epoch, size, root, note, seen_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const remove = db.prepare<[number]>('DELETE FROM checkpoints WHERE id = ?');
  const ids = db.prepare<[string], CheckpointRow>(
    'SELECT * FROM checkpoints WHERE tenant_id = ? ORDER BY id',
  );
  const contradict = db.prepare<
    [string, string, string, string | null, string | null, string | null, string]
  >(
    `INSERT INTO contradictions (tenant_id, reason, seen_at, known, told, path, log_epochs)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const count = db.prepare<[string]>(
    'UPDATE watched SET contradictions = contradictions + 1 WHERE tenant_id = ?',
  );
  const nextLine = db.prepare<[string]>('UPDATE watched SET line = line + 1 WHERE tenant_id = ?');

  function put(tenantId: string, seen: SeenCheckpoint, seenAt: string): void {
    const { epoch, size, root, note } = seen;
    insert.run(tenantId, lineOf.get(tenantId) ?? 1, epoch, size, root, note, seenAt);
    const rows = ids.all(tenantId);
    const tops = highestOfLines(rows);
    const kept = rows.map(({ id, seen_at }) => ({
      id,
      seenAt: Date.parse(seen_at),
      isHighest: tops.has(id),
    }));
    for (const id of findThinned(kept, Date.parse(seenAt))) remove.run(id);
  }

  return {
    /**
     * Stores the keys and epochs of a view as trusted: the keys of the first one, the rotations
     * that follow from them, and revocations.
     */
    trust: (
      tenantId: string,
      deploymentId: string,
      { keys, rotations, log_epochs }: Pick<LogView, 'keys' | 'rotations' | 'log_epochs'>,
    ): void => {
      const before = findTrust(tenantId);
      const trusted: z.infer<typeof Trust> = {
        keys: before ? [...before.keys] : keys,
        rotations: mergeBy(before?.rotations ?? [], rotations, (one) => one.statement.new_key.kid),
        log_epochs: mergeBy(before?.logEpochs ?? [], log_epochs, (one) => one.statement.epoch),
        revoked: mergeBy(
          before?.revoked ?? [],
          keys.filter(({ revoked_at }) => revoked_at !== null),
          (one) => one.kid,
        ),
      };
      trusted.revoked = trusted.revoked.slice(0, MAX_WATCHED_KEYS);
      trusted.rotations = trusted.rotations.slice(0, MAX_WATCHED_KEYS);
      trusted.log_epochs = trusted.log_epochs.slice(0, MAX_WATCHED_EPOCHS);
      saveTrust.run(tenantId, deploymentId, JSON.stringify(trusted));
    },

    /** Keeps a checkpoint that continues the current one. */
    keep: (tenantId: string, seen: SeenCheckpoint, seenAt: string): void =>
      db.transaction(() => put(tenantId, seen, seenAt))(),

    /**
     * Keeps a contradiction, and continues from the received note if a trusted key signed it, so
     * that the next one shows too.
     *
     * @returns whether it was kept: it was not known, and there was room
     */
    contradict: (tenantId: string, found: Contradiction, seen: SeenCheckpoint | null): boolean =>
      db.transaction(() => {
        const kept = listContradictions(tenantId);
        const isKnown = kept.some((one) => isSameContradiction(one, found));
        if (!isKnown) count.run(tenantId);
        const isNew = !isKnown && kept.length < MAX_CONTRADICTIONS;
        const { reason, seenAt, known, told, path } = found;
        if (isNew) {
          const begun = JSON.stringify(found.logEpochs.slice(0, MAX_KEPT_EPOCHS));
          const proof = path && JSON.stringify(path);
          contradict.run(tenantId, reason, seenAt, known, told, proof, begun);
        }
        if (seen) {
          nextLine.run(tenantId);
          put(tenantId, seen, seenAt);
        }
        return isNew;
      })(),
  };
}

/**
 * The first statement stays: a second, different one is a contradiction, which is stored
 * separately.
 */
function mergeBy<T>(before: readonly T[], more: readonly T[], key: (one: T) => unknown): T[] {
  const known = new Map(before.map((one) => [key(one), one]));
  for (const one of more) if (!known.has(key(one))) known.set(key(one), one);
  return [...known.values()];
}

function highestOfLines(rows: readonly CheckpointRow[]): Set<number> {
  const tops = new Map<number, CheckpointRow>();
  for (const row of rows) {
    const top = tops.get(row.line);
    const isHigher =
      !top || row.epoch > top.epoch || (row.epoch === top.epoch && row.size >= top.size);
    if (isHigher) tops.set(row.line, row);
  }
  return new Set([...tops.values()].map(({ id }) => id));
}

/** An unchanged log contradicts again and again; with the same note it counts as one. */
function isSameContradiction(a: Contradiction, b: Contradiction): boolean {
  return a.reason === b.reason && a.known === b.known && a.told === b.told;
}

function toCheckpoint({ line, epoch, size, root, note, seen_at }: CheckpointRow): KeptCheckpoint {
  return { line, epoch, size, root, note, seenAt: seen_at };
}

function toContradiction(row: ContradictionRow): Contradiction {
  const { reason, seen_at, known, told, path } = row;
  return {
    reason: ContradictionReason.parse(reason),
    seenAt: seen_at,
    known,
    told,
    path: path === null ? null : z.array(z.string()).parse(JSON.parse(path)),
    logEpochs: z.array(SignedLogEpoch).parse(JSON.parse(row.log_epochs)),
  };
}
