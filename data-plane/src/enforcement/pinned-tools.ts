/**
 * What tools said of themselves when they were seen first. A change of it is told, and where the
 * tenant wants so the tool waits for approval. Kept on disk, in a file that all workers of a data
 * plane share. What the bundle says of a tool stands above what was seen first here, so that all
 * data planes of a tenant agree.
 */
import { hash } from 'node:crypto';
import type { BundleSettings } from '@governance/shared/bundle-format';
import { canonicalize } from '@governance/shared/canonical-json';
import { isoTime } from '@governance/shared/iso-time';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Alert } from '../alerts/alert.ts';
import { openDurableDatabase } from '../storage/durable-database.ts';
import type { ListedTool } from '../upstream/lists/list-tools.ts';
import { perSettings } from './per-settings.ts';
import type { ToolPlace } from './tool-definitions.ts';

/** What makes a tool's definition, in the words of MCP. */
const MEMBERS = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
] as const;

/** A tool that is not what it was pinned as, or is so again. */
export interface DefinitionChange {
  readonly place: ToolPlace;
  readonly pinnedHash: string;
  readonly seenHash: string;
  readonly firstSeenAt: string;
  /** The members that differ; empty where it is again what it was. */
  readonly changed: readonly string[];
}

export interface PinnedTools {
  /** Looks at what a server lists: pins what is new, and tells what has changed. Never throws. */
  observe(
    tenantId: string,
    serverId: string,
    tools: readonly ListedTool[],
    settings: BundleSettings | null,
  ): void;
  /** Whether a tool has changed and is used only when that is approved. */
  isWaiting(place: ToolPlace, settings: BundleSettings): boolean;
  close(): void;
}

interface Row {
  pinned: string;
  /** Digests of its members, as JSON. */
  members: string;
  seen: string;
  seen_members: string;
  first_seen_at: string;
}

interface Definition {
  readonly digest: string;
  readonly members: Readonly<Record<string, string>>;
}

interface Look {
  readonly place: ToolPlace;
  readonly definition: Definition;
  readonly pin: string | undefined;
  readonly key: string;
  readonly text: string;
}

/** Tools of one server that are pinned; what is beyond is not. */
const MAX_TOOLS = 4_000;
/** Definitions that are known to be as they were at the last look. */
const MAX_KNOWN = 20_000;

/** Where no folder is given nothing can be remembered, and nothing is pinned. */
export const NO_PINS: PinnedTools = {
  observe: () => undefined,
  isWaiting: () => false,
  close: () => undefined,
};

const pinsOf = perSettings(
  ({ inbound }) =>
    new Map(
      (inbound?.pinned_tools?.pins ?? []).map((pin) => [
        `${pin.server_id} ${pin.tool_name}`,
        pin.hash,
      ]),
    ),
);

/** The digest of a tool's definition, and those of its members; null for no canonical form. */
export function definitionOf(tool: ListedTool): Definition | null {
  try {
    const members: Record<string, string> = {};
    for (const name of MEMBERS) {
      const value = tool[name];
      if (value !== undefined) members[name] = hash('sha256', canonicalize(value));
    }
    return { digest: hash('sha256', canonicalize(members)), members };
  } catch {
    return null;
  }
}

/**
 * Opens the file.
 *
 * @param onChanged told once for each definition that is not the one before
 * @param now Unix milliseconds
 * @throws when the file is damaged
 */
export function openPinnedTools(
  path: string,
  deps: {
    onChanged(change: DefinitionChange): void;
    now(): number;
    log: Pick<Logger, 'error'>;
  },
): PinnedTools {
  const { onChanged, now, log } = deps;
  const db = openDurableDatabase(path, { exclusive: false });
  db.exec(`CREATE TABLE IF NOT EXISTS tool_pins (
    tenant_id TEXT NOT NULL, server_id TEXT NOT NULL, tool_name TEXT NOT NULL,
    pinned TEXT NOT NULL, members TEXT NOT NULL, seen TEXT NOT NULL, seen_members TEXT NOT NULL,
    first_seen_at TEXT NOT NULL,
    PRIMARY KEY (tenant_id, server_id, tool_name)) STRICT, WITHOUT ROWID`);
  const find = db.prepare<[string, string, string], Row>(
    `SELECT pinned, members, seen, seen_members, first_seen_at FROM tool_pins
     WHERE tenant_id = ? AND server_id = ? AND tool_name = ?`,
  );
  const count = db.prepare<[string, string], { tools: number }>(
    'SELECT count(*) AS tools FROM tool_pins WHERE tenant_id = ? AND server_id = ?',
  );
  const put = db.prepare<[string, string, string, string, string, string, string, string]>(
    `INSERT INTO tool_pins
       (tenant_id, server_id, tool_name, pinned, members, seen, seen_members, first_seen_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
     SET pinned = excluded.pinned, members = excluded.members, seen = excluded.seen,
       seen_members = excluded.seen_members`,
  );
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });

  function store({ tenantId, serverId, toolName }: ToolPlace, row: Row): void {
    const { pinned, members, seen, seen_members, first_seen_at } = row;
    put.run(tenantId, serverId, toolName, pinned, members, seen, seen_members, first_seen_at);
  }

  /** @returns what is to be told, if anything is */
  function settle(
    place: ToolPlace,
    { digest, members }: Definition,
    pin: string | undefined,
  ): DefinitionChange | null {
    const { tenantId, serverId, toolName } = place;
    const row = find.get(tenantId, serverId, toolName);
    const seen_members = JSON.stringify(members);
    if (row === undefined) {
      if ((count.get(tenantId, serverId)?.tools ?? 0) >= MAX_TOOLS) return null;
      const pinned = pin ?? digest;
      const first_seen_at = isoTime(now());
      const isPinned = pinned === digest;
      const first = isPinned ? seen_members : '{}';
      store(place, { pinned, members: first, seen: digest, seen_members, first_seen_at });
      if (isPinned) return null;
      return {
        place,
        pinnedHash: pinned,
        seenHash: digest,
        firstSeenAt: first_seen_at,
        changed: [],
      };
    }
    // What was approved is the pin from now on.
    const isApproved = pin !== undefined && pin !== row.pinned;
    const pinned = isApproved ? pin : row.pinned;
    let before = row.members;
    if (isApproved) before = pin === row.seen ? row.seen_members : '{}';
    if (pinned === digest) before = seen_members;
    if (row.seen === digest && !isApproved) return null;
    store(place, { ...row, pinned, members: before, seen: digest, seen_members });
    if (row.seen === digest) return null;
    return {
      place,
      pinnedHash: pinned,
      seenHash: digest,
      firstSeenAt: row.first_seen_at,
      changed: pinned === digest ? [] : differing(JSON.parse(before), members),
    };
  }
  /** One commit for a whole list: each has to reach the disk. */
  const settleAll = db.transaction((looks: readonly Look[]) =>
    looks.flatMap(({ place, definition, pin }) => settle(place, definition, pin) ?? []),
  );

  /** What is to be looked at; undefined where it is as at the last look. */
  function lookAt(place: ToolPlace, tool: ListedTool, pin: string | undefined): Look | undefined {
    const key = `${place.tenantId} ${place.serverId} ${place.toolName}`;
    const text = hash('sha256', `${pin ?? ''} ${JSON.stringify(tool)}`, 'base64');
    if (known.get(key) === text) return undefined;
    const definition = definitionOf(tool);
    return definition === null ? undefined : { place, definition, pin, key, text };
  }

  return {
    observe(tenantId, serverId, tools, settings) {
      const pins = settings === null ? undefined : pinsOf(settings);
      try {
        const looks = tools.flatMap((tool) => {
          const place = { tenantId, serverId, toolName: tool.name };
          return lookAt(place, tool, pins?.get(`${serverId} ${tool.name}`)) ?? [];
        });
        if (looks.length === 0) return;
        const changes = settleAll.immediate(looks);
        for (const { key, text } of looks) known.set(key, text);
        for (const change of changes) onChanged(change);
      } catch (error) {
        log.error({ err: error, tenantId, serverId }, 'definitions of tools could not be pinned');
      }
    },
    isWaiting({ tenantId, serverId, toolName }, settings) {
      if (settings.inbound?.pinned_tools?.require_approval !== true) return false;
      const row = find.get(tenantId, serverId, toolName);
      if (row === undefined) return false;
      return row.seen !== (pinsOf(settings).get(`${serverId} ${toolName}`) ?? row.pinned);
    },
    close: () => db.close(),
  };
}

/** The alert about a change: hashes and names of members, no text. */
export function changeAlert(change: DefinitionChange): Alert {
  const { place, pinnedHash, seenHash, firstSeenAt, changed } = change;
  const { serverId, toolName } = place;
  const isBack = pinnedHash === seenHash;
  return {
    alert_type: 'TOOL_DEFINITION_CHANGED',
    severity: isBack ? 'low' : 'high',
    title: isBack
      ? 'A tool says of itself again what it is pinned to'
      : 'A tool says something else of itself than what it is pinned to',
    details: {
      mcp_server: serverId,
      tool_name: toolName,
      pinned_hash: pinnedHash,
      seen_hash: seenHash,
      first_seen_at: firstSeenAt,
      changed: [...changed],
    },
    dedupe_key: `tool-pin:${serverId}/${toolName}:${seenHash}`,
  };
}

function differing(before: Record<string, string>, after: Readonly<Record<string, string>>) {
  // Not known where it was approved elsewhere.
  if (Object.keys(before).length === 0) return [];
  return MEMBERS.filter((name) => before[name] !== after[name]);
}
