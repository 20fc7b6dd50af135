/** The file of pinned tools, which all workers of a machine share. */
import { basename } from 'node:path';
import type Database from 'better-sqlite3';
import { openPrepared } from '../../storage/durable-database.ts';
import { prepareTables } from '../../storage/file-version.ts';
import type { ToolPlace } from '../tools/tool-definitions.ts';

/** The stored row of a tool. Times are ISO 8601, flags 0 or 1. */
export interface PinRow {
  pinned: string;
  /** Digests of the pinned definition's members, as JSON. */
  members: string;
  seen: string;
  seen_members: string;
  first_seen_at: string;
  /** When `seen` last changed. */
  seen_at: string;
  /** Texts of the pinned definition's members, as JSON and possibly cut; null where unknown. */
  pinned_texts: string | null;
  /** Texts of the last seen definition's members; null where it is the pinned one. */
  seen_texts: string | null;
  /** Changes since `counted_from`. */
  changes: number;
  counted_from: string;
  varies: number;
  /** Whether another definition was seen since and is not noted: the present one is not known. */
  put_off: number;
  /** The last approval that was followed, by its time; empty for none, null in a row of an earlier version. */
  approval: string | null;
}

export interface NumberedPin extends PinRow {
  server_id: string;
  tool_name: string;
  /** The number of the last write to the row: it rises with each write to the tenant's pins. */
  serial: number;
}

export type PinFile = ReturnType<typeof openPinFile>;

/** Columns that older files lack. */
const ADDED = {
  seen_at: "TEXT NOT NULL DEFAULT ''",
  pinned_texts: 'TEXT',
  seen_texts: 'TEXT',
  changes: 'INTEGER NOT NULL DEFAULT 0',
  counted_from: "TEXT NOT NULL DEFAULT ''",
  varies: 'INTEGER NOT NULL DEFAULT 0',
  put_off: 'INTEGER NOT NULL DEFAULT 0',
  serial: 'INTEGER NOT NULL DEFAULT 0',
  approval: 'TEXT',
};
const COLUMNS =
  'pinned, members, seen, seen_members, first_seen_at, seen_at, pinned_texts, seen_texts, changes, counted_from, varies, put_off, approval';
const VALUES = COLUMNS.split(', ').map((name) => `@${name}`);

/** @throws when the file is damaged, or of a newer version */
export function openPinFile(path: string) {
  return openPrepared(path, { exclusive: false }, preparePinFile);
}

function preparePinFile(db: Database.Database) {
  prepareTables(db, { version: 1, what: basename(db.name) }, () => makeTable(db));
  const find = db.prepare<[string, string, string], PinRow>(
    `SELECT ${COLUMNS} FROM tool_pins WHERE tenant_id = ? AND server_id = ? AND tool_name = ?`,
  );
  const count = db.prepare<[string, string], { tools: number }>(
    'SELECT count(*) AS tools FROM tool_pins WHERE tenant_id = ? AND server_id = ?',
  );
  /** By tenant: rows may be lost, and a serial that was reported must not come again. */
  const highest = new Map<string, number>();
  const keepHighest = (tenantId: string, serial: number) =>
    highest.set(tenantId, Math.max(serial, highest.get(tenantId) ?? 0));
  const put = db.prepare<[PinRow & ToolPlace & { highest: number }], { serial: number }>(
    `INSERT INTO tool_pins (tenant_id, server_id, tool_name, ${COLUMNS}, serial)
     VALUES (@tenantId, @serverId, @toolName, ${VALUES.join(', ')},
       (SELECT max(coalesce(max(serial), 0), @highest) + 1
        FROM tool_pins WHERE tenant_id = @tenantId))
     ON CONFLICT DO UPDATE SET
       ${COLUMNS.split(', ')
         .map((name) => `${name} = excluded.${name}`)
         .join(', ')},
       serial = excluded.serial
     RETURNING serial`,
  );
  const setPutOff = db.prepare<[{ putOff: number } & ToolPlace]>(
    `UPDATE tool_pins SET put_off = @putOff
     WHERE tenant_id = @tenantId AND server_id = @serverId AND tool_name = @toolName`,
  );
  const after = db.prepare<[string, number, number], NumberedPin>(
    `SELECT server_id, tool_name, serial, ${COLUMNS} FROM tool_pins
     WHERE tenant_id = ? AND serial > ? ORDER BY serial LIMIT ?`,
  );
  return {
    find: ({ tenantId, serverId, toolName }: ToolPlace) => find.get(tenantId, serverId, toolName),
    countTools: (tenantId: string, serverId: string) => count.get(tenantId, serverId)?.tools ?? 0,
    put: (place: ToolPlace, row: PinRow): void => {
      const { tenantId } = place;
      const written = put.get({ ...place, ...row, highest: highest.get(tenantId) ?? 0 });
      if (written) keepHighest(tenantId, written.serial);
    },
    /** Not reported, so the serial stays. */
    setPutOff: (place: ToolPlace, isPutOff: boolean): void => {
      setPutOff.run({ ...place, putOff: isPutOff ? 1 : 0 });
    },
    /** A tenant's pins with a serial above `serial`, in the order of their last change. */
    listAfter: (tenantId: string, serial: number, limit: number): NumberedPin[] => {
      const pins = after.all(tenantId, serial, limit);
      for (const pin of pins) keepHighest(tenantId, pin.serial);
      return pins;
    },
    /** Changes when another worker has written to the file. */
    version: () => db.pragma('data_version', { simple: true }) as number,
    /** Runs `work` as one commit. */
    commit: <T>(work: () => T): T => db.transaction(work).immediate(),
    close: () => db.close(),
  };
}

function makeTable(db: Database.Database): void {
  db.exec(`CREATE TABLE IF NOT EXISTS tool_pins (
      tenant_id TEXT NOT NULL, server_id TEXT NOT NULL, tool_name TEXT NOT NULL,
      pinned TEXT NOT NULL, members TEXT NOT NULL, seen TEXT NOT NULL, seen_members TEXT NOT NULL,
      first_seen_at TEXT NOT NULL,
      PRIMARY KEY (tenant_id, server_id, tool_name)) STRICT, WITHOUT ROWID`);
  const known = db.pragma('table_info(tool_pins)') as { name: string }[];
  const missing = Object.entries(ADDED).filter(([name]) => !known.some((one) => one.name === name));
  for (const [name, type] of missing) db.exec(`ALTER TABLE tool_pins ADD COLUMN ${name} ${type}`);
  db.exec(`UPDATE tool_pins SET seen_at = first_seen_at, counted_from = first_seen_at
        WHERE seen_at = '';
      UPDATE tool_pins SET serial = place + (
          SELECT max(serial) FROM tool_pins AS other WHERE other.tenant_id = tool_pins.tenant_id)
        FROM (SELECT tenant_id AS t, server_id AS s, tool_name AS n,
            row_number() OVER (PARTITION BY tenant_id ORDER BY server_id, tool_name) AS place
          FROM tool_pins WHERE serial = 0) AS unnumbered
        WHERE tenant_id = t AND server_id = s AND tool_name = n;
      CREATE INDEX IF NOT EXISTS tool_pins_serial ON tool_pins (tenant_id, serial)`);
}
