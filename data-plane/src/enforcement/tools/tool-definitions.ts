/**
 * The definitions of tools whose action an administrator set. A setting applies only to the first
 * definition seen after it was made. Definitions are stored in a file that all workers of a machine
 * share, so that neither a restart nor another worker takes a changed tool for the old one. Where
 * the file cannot be read or written, a setting is not in force.
 */
import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { Database } from 'better-sqlite3';
import type { Logger } from 'pino';
import { openPrepared } from '../../storage/durable-database.ts';
import { prepareTables } from '../../storage/file-version.ts';
import type { ServerFinding } from '../../upstream/health/server-report.ts';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';
import type { Registry } from '../permission/permits.ts';

export interface ToolPlace {
  tenantId: string;
  serverId: string;
  toolName: string;
}

export interface ToolDefinitions {
  /**
   * Whether a tool still has the definition for which its action was set.
   *
   * @param setId of the setting
   * @param digest of the tool's present definition; null where that is unknown
   */
  isUnchanged(place: ToolPlace, setId: string, digest: string | null): boolean;
  /** The tenant's servers that have tools whose setting has lapsed. */
  findLapsed(tenantId: string, registry: Registry): ServerFinding[];
  close(): void;
}

interface Row {
  set_id: string;
  digest: string;
  lapsed: 0 | 1;
}

/** The digest of a tool's definition; null where the definition has no canonical form. */
export function definitionDigest(tool: ListedTool): string | null {
  const { name, description = null, inputSchema = null, annotations = null } = tool;
  try {
    return hash('sha256', canonicalize({ name, description, inputSchema, annotations }));
  } catch {
    return null;
  }
}

/** Used without a data folder: no setting is in force. */
export const NO_DEFINITIONS: ToolDefinitions = {
  isUnchanged: () => false,
  findLapsed: () => [],
  close: () => undefined,
};

/**
 * Opens the file.
 *
 * @param onLapsed called once for each setting that lapses
 * @throws when the file is damaged, or of a newer version
 */
export function openToolDefinitions(
  path: string,
  onLapsed: (place: ToolPlace) => void,
  log: Pick<Logger, 'error'>,
): ToolDefinitions {
  return openPrepared(path, { exclusive: false }, (db) => prepareDefinitions(db, onLapsed, log));
}

function prepareDefinitions(
  db: Database,
  onLapsed: (place: ToolPlace) => void,
  log: Pick<Logger, 'error'>,
): ToolDefinitions {
  prepareTables(db, { version: 1, what: basename(db.name) }, () =>
    db.exec(`CREATE TABLE IF NOT EXISTS tool_definitions (
      tenant_id TEXT NOT NULL, server_id TEXT NOT NULL, tool_name TEXT NOT NULL,
      set_id TEXT NOT NULL, digest TEXT NOT NULL, lapsed INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (tenant_id, server_id, tool_name)) STRICT, WITHOUT ROWID`),
  );
  const find = db.prepare<[string, string, string], Row>(
    `SELECT set_id, digest, lapsed FROM tool_definitions
     WHERE tenant_id = ? AND server_id = ? AND tool_name = ?`,
  );
  const put = db.prepare<[string, string, string, string, string]>(
    `INSERT INTO tool_definitions (tenant_id, server_id, tool_name, set_id, digest)
     VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET set_id = excluded.set_id, digest = excluded.digest, lapsed = 0`,
  );
  const lapse = db.prepare<[string, string, string, string]>(
    `UPDATE tool_definitions SET lapsed = 1
     WHERE tenant_id = ? AND server_id = ? AND tool_name = ? AND set_id = ? AND lapsed = 0`,
  );

  /** @returns undefined where something has to be written first */
  function read(place: ToolPlace, setId: string, digest: string): boolean | undefined {
    const row = find.get(place.tenantId, place.serverId, place.toolName);
    // A newer setting is stored already: the caller's rules are older.
    if (row !== undefined && row.set_id > setId) return false;
    if (row === undefined || row.set_id !== setId) return undefined;
    if (row.lapsed === 1) return false;
    return row.digest === digest ? true : undefined;
  }

  const settle = db.transaction((place: ToolPlace, setId: string, digest: string): boolean => {
    const known = read(place, setId, digest);
    if (known !== undefined) return known;
    const { tenantId, serverId, toolName } = place;
    if (find.get(tenantId, serverId, toolName)?.set_id === setId) {
      lapse.run(tenantId, serverId, toolName, setId);
      return false;
    }
    put.run(tenantId, serverId, toolName, setId, digest);
    return true;
  });

  return {
    isUnchanged(place, setId, digest) {
      if (digest === null) return false;
      try {
        const known = read(place, setId, digest);
        if (known !== undefined) return known;
        const isUnchanged = settle.immediate(place, setId, digest);
        if (!isUnchanged) onLapsed(place);
        return isUnchanged;
      } catch (error) {
        log.error({ err: error, ...place }, 'the definition of a tool could not be kept');
        return false;
      }
    },
    findLapsed(tenantId, registry) {
      const servers = Object.values(registry?.settings.mcp_servers ?? {});
      return servers.flatMap(({ server_id: serverId, tool_actions = {} }): ServerFinding[] => {
        const lapsed = Object.entries(tool_actions).filter(([toolName, { set_id }]) => {
          const row = find.get(tenantId, serverId, toolName);
          return row?.set_id === set_id && row.lapsed === 1;
        });
        if (lapsed.length === 0) return [];
        const names = lapsed.map(([name]) => name).join(', ');
        return [[serverId, 'ok', `tool definition changed, tool_actions lapsed: ${names}`]];
      });
    },
    close: () => db.close(),
  };
}
