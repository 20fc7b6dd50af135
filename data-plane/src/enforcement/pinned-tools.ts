/**
 * Pins tools to the definition that was seen first. A change is reported, and if the tenant
 * requires it the tool waits for approval. Stored on disk, in a file that all workers of a data
 * plane share. A pin in the bundle takes precedence over what was seen first here, so that all data
 * planes of a tenant agree. When a pin cannot be read or written, nothing counts as approved.
 * Proven by pinned-tools.test.ts.
 */
import { hash } from 'node:crypto';
import type { BundleSettings } from '@governance/shared/bundle-format';
import { isoTime } from '@governance/shared/iso-time';
import type { ToolDifference } from '@governance/shared/tool-pins';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Alert } from '../alerts/alert.ts';
import type { PinReports } from '../contracts.ts';
import type { ListedTool } from '../upstream/lists/list-tools.ts';
import { perSettings } from './per-settings.ts';
import { openPinFile, type PinRow } from './pins/pin-file.ts';
import { createPinReports, differenceOfPin, NO_PIN_REPORTS } from './pins/pin-reports.ts';
import { definitionOf, type ToolDefinition, textsOfDefinition } from './pins/tool-definition.ts';
import type { ToolPlace } from './tool-definitions.ts';

/** A tool whose definition differs from its pin, or matches it again. */
export interface DefinitionChange {
  readonly place: ToolPlace;
  readonly pinnedHash: string;
  readonly seenHash: string;
  readonly firstSeenAt: string;
  readonly seenAt: string;
  /** The members that differ; empty when it matches again. */
  readonly changed: readonly string[];
  readonly difference: ToolDifference;
  /** It has changed so often that further changes are not reported. */
  readonly varies: boolean;
}

export interface PinnedTools {
  /** Checks a server's list: pins new tools, and reports changes. Never throws. */
  observe(
    tenantId: string,
    serverId: string,
    tools: readonly ListedTool[],
    settings: BundleSettings | null,
  ): void;
  /**
   * Whether a tool has changed and must be approved before use.
   *
   * @throws where that cannot be looked up
   */
  isWaiting(place: ToolPlace, settings: BundleSettings): boolean;
  readonly reports: PinReports;
  /**
   * The digest of a tool's last definition.
   *
   * @returns null where nobody ever listed it, undefined where what it is now is not known
   */
  findSeen(place: ToolPlace): string | null | undefined;
  close(): void;
}

interface Look {
  readonly place: ToolPlace;
  readonly tool: ListedTool;
  readonly pin: Pin | undefined;
  readonly key: string;
  readonly text: string;
}

/** The bundle's pin of a tool. */
interface Pin {
  readonly hash: string;
  /** Every other definition is approved too. */
  readonly varies?: boolean | undefined;
}

/** Pinned tools of one server, at most; further ones are not pinned. */
const MAX_TOOLS = 4_000;
/** Definitions known to be unchanged since the last check. */
const MAX_KNOWN = 20_000;
/** Reported changes of one tool within a day; one more, and it varies. */
const MAX_CHANGES = 4;
const DAY_MS = 24 * 60 * 60_000;
/** For a tool that varies, the last seen definition is stored at most this often. */
const VARIES_EVERY_MS = 10 * 60_000;

/** Without a folder nothing can be remembered, and nothing is pinned. */
export const NO_PINS: PinnedTools = {
  observe: () => undefined,
  isWaiting: () => false,
  reports: NO_PIN_REPORTS,
  findSeen: () => null,
  close: () => undefined,
};

const pinsOf = perSettings(
  ({ inbound }) =>
    new Map(
      (inbound?.pinned_tools?.pins ?? []).map((pin): [string, Pin] => [
        `${pin.server_id} ${pin.tool_name}`,
        pin,
      ]),
    ),
);

/**
 * Opens the file.
 *
 * @param onChanged called once for each changed definition, until it varies
 * @param onNews told when `reports` has more to tell
 * @param now Unix milliseconds
 * @throws when the file is damaged
 */
export function openPinnedTools(
  path: string,
  deps: {
    onChanged(change: DefinitionChange): void;
    onNews(tenantId: string): void;
    now(): number;
    log: Pick<Logger, 'error'>;
  },
): PinnedTools {
  const { onChanged, now, log } = deps;
  const file = openPinFile(path);
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  /** By server: listed tools that could not be stored. */
  const unobserved = new Map<string, Set<string>>();
  let version = file.version();
  let hasNews = false;

  function put(place: ToolPlace, row: PinRow): void {
    file.put(place, row);
    hasNews = true;
  }

  /** @returns the change to report, if any */
  function settle({ place, tool, pin }: Look): DefinitionChange | null {
    const definition = definitionOf(tool);
    const row = file.find(place);
    if (row !== undefined) return settleKnown(place, row, definition, tool, pin);
    if (file.countTools(place.tenantId, place.serverId) >= MAX_TOOLS) return null;
    const at = isoTime(now());
    const { digest } = definition;
    const seen_members = JSON.stringify(definition.members);
    const texts = JSON.stringify(textsOfDefinition(tool));
    const isPinned = pin === undefined || pin.hash === digest;
    const first: PinRow = {
      pinned: pin?.hash ?? digest,
      members: isPinned ? seen_members : '{}',
      seen: digest,
      seen_members,
      first_seen_at: at,
      seen_at: at,
      pinned_texts: isPinned ? texts : null,
      seen_texts: isPinned ? null : texts,
      changes: 0,
      counted_from: at,
      varies: 0,
    };
    put(place, first);
    return isPinned || pin.varies ? null : toChange(place, first);
  }

  function settleKnown(
    place: ToolPlace,
    row: PinRow,
    definition: ToolDefinition,
    tool: ListedTool,
    pin: Pin | undefined,
  ): DefinitionChange | null {
    const { digest } = definition;
    const isSame = row.seen === digest;
    const isNewPin = pin !== undefined && pin.hash !== row.pinned;
    if (isSame && !isNewPin) return null;
    const next = { ...row };
    // The bundle's pin, approved or first seen elsewhere, replaces the local one.
    if (isNewPin) {
      const isSeen = pin.hash === row.seen;
      next.pinned = pin.hash;
      next.members = isSeen ? row.seen_members : '{}';
      next.pinned_texts = isSeen ? (row.seen_texts ?? row.pinned_texts) : null;
      next.changes = 0;
      next.varies = 0;
    }
    const texts = JSON.stringify(textsOfDefinition(tool));
    next.seen = digest;
    next.seen_members = JSON.stringify(definition.members);
    if (next.pinned === digest) {
      next.members = next.seen_members;
      next.pinned_texts = texts;
      next.seen_texts = null;
    } else next.seen_texts = texts;
    if (isSame) {
      // It matched the local pin but not the bundle's: another data plane knows another definition.
      const isOther = row.pinned === digest;
      if (isOther) next.seen_at = isoTime(now());
      put(place, next);
      return isOther && pin?.varies !== true ? toChange(place, next) : null;
    }
    return settleChange(place, row, next, pin);
  }

  function settleChange(
    place: ToolPlace,
    row: PinRow,
    next: PinRow,
    pin: Pin | undefined,
  ): DefinitionChange | null {
    const at = now();
    const hasVaried = next.varies === 1;
    const sinceLast = at - Date.parse(row.seen_at);
    if (at - Date.parse(row.counted_from) > DAY_MS) {
      next.changes = 0;
      next.counted_from = isoTime(at);
      // It varies until it has stayed the same for a day.
      if (sinceLast > DAY_MS) next.varies = 0;
    }
    next.changes++;
    if (next.changes > MAX_CHANGES) next.varies = 1;
    next.seen_at = isoTime(at);
    const isQuiet = hasVaried && next.varies === 1;
    if (isQuiet && sinceLast >= 0 && sinceLast < VARIES_EVERY_MS) return null;
    put(place, next);
    return isQuiet || pin?.varies === true ? null : toChange(place, next);
  }

  /** The tools to check; undefined where nothing changed since the last check. */
  function lookAt(place: ToolPlace, tool: ListedTool, pin: Pin | undefined): Look | undefined {
    const key = `${place.tenantId} ${place.serverId} ${place.toolName}`;
    const text = hash('sha256', `${JSON.stringify(pin ?? null)} ${JSON.stringify(tool)}`, 'base64');
    return known.get(key) === text ? undefined : { place, tool, pin, key, text };
  }

  function observe(
    tenantId: string,
    serverId: string,
    tools: readonly ListedTool[],
    settings: BundleSettings | null,
  ): void {
    const pins = settings === null ? undefined : pinsOf(settings);
    // A write of another worker outdates what was seen here.
    const current = file.version();
    if (current !== version) known.clear();
    version = current;
    const looks = tools.flatMap((tool) => {
      const place = { tenantId, serverId, toolName: tool.name };
      return lookAt(place, tool, pins?.get(`${serverId} ${tool.name}`)) ?? [];
    });
    if (looks.length === 0) return;
    hasNews = false;
    // One commit for a whole list: each has to reach the disk.
    const changes = file.commit(() => looks.flatMap((look) => settle(look) ?? []));
    for (const { key, text } of looks) known.set(key, text);
    for (const change of changes) onChanged(change);
    if (hasNews) deps.onNews(tenantId);
  }

  /** A partly stored list says nothing of the other tools. */
  function noteUnobserved(server: string, tools: readonly ListedTool[], isWritten: boolean): void {
    const noted = unobserved.get(server) ?? new Set();
    // So many names are not kept: all tools of the server wait until a restart checks again.
    if (noted.size > MAX_TOOLS) return;
    for (const { name } of tools) {
      if (isWritten) noted.delete(name);
      else noted.add(name);
    }
    if (noted.size === 0) unobserved.delete(server);
    else unobserved.set(server, noted);
  }

  return {
    observe(tenantId, serverId, tools, settings) {
      const server = `${tenantId} ${serverId}`;
      try {
        observe(tenantId, serverId, tools, settings);
        noteUnobserved(server, tools, true);
      } catch (error) {
        noteUnobserved(server, tools, false);
        log.error({ err: error, tenantId, serverId }, 'definitions of tools could not be pinned');
      }
    },
    isWaiting(place, settings) {
      if (settings.inbound?.pinned_tools?.require_approval !== true) return false;
      const { tenantId, serverId, toolName } = place;
      const pin = pinsOf(settings).get(`${serverId} ${toolName}`);
      if (pin?.varies === true) return false;
      // Its present definition is unknown.
      const unwritten = unobserved.get(`${tenantId} ${serverId}`);
      if (unwritten?.has(toolName) || (unwritten?.size ?? 0) > MAX_TOOLS) return true;
      const row = file.find(place);
      // It was never listed; or there was no room for it, so that it could change unseen.
      if (row === undefined) return file.countTools(tenantId, serverId) >= MAX_TOOLS;
      // Which of its definitions an agent was shown is unknown, unless one was approved since.
      const isApproved = pin !== undefined && pin.hash !== row.pinned;
      const hasVaried = row.varies === 1 && now() - Date.parse(row.seen_at) < DAY_MS;
      return row.seen !== (pin?.hash ?? row.pinned) || (hasVaried && !isApproved);
    },
    findSeen(place) {
      if (unobserved.has(`${place.tenantId} ${place.serverId}`)) return undefined;
      return file.find(place)?.seen ?? null;
    },
    reports: createPinReports({ file, onMore: deps.onNews, now }),
    close: file.close,
  };
}

function toChange(place: ToolPlace, row: PinRow): DefinitionChange {
  const { pinned: pinnedHash, seen: seenHash, first_seen_at, seen_at } = row;
  const how = pinnedHash === seenHash ? { changed: [], difference: [] } : differenceOfPin(row);
  const varies = row.varies === 1;
  return {
    place,
    pinnedHash,
    seenHash,
    firstSeenAt: first_seen_at,
    seenAt: seen_at,
    ...how,
    varies,
  };
}

/** The alert about a change: hashes, names of members, and where their texts begin to differ. */
export function changeAlert(change: DefinitionChange): Alert {
  const { place, pinnedHash, seenHash, firstSeenAt, seenAt, changed, varies } = change;
  const { serverId, toolName } = place;
  const isBack = pinnedHash === seenHash && !varies;
  return {
    alert_type: 'TOOL_DEFINITION_CHANGED',
    severity: isBack ? 'low' : 'high',
    title: titleOf(isBack, varies),
    details: {
      mcp_server: serverId,
      tool_name: toolName,
      pinned_hash: pinnedHash,
      seen_hash: seenHash,
      first_seen_at: firstSeenAt,
      seen_at: seenAt,
      changed: [...changed],
      difference: [...change.difference],
      ...(varies && { varies }),
    },
    dedupe_key: `tool-pin:${serverId}/${toolName}:${varies ? 'varies' : seenHash}`,
  };
}

function titleOf(isBack: boolean, varies: boolean): string {
  if (varies) return 'The definition of a tool keeps changing; further changes raise no alert';
  return isBack
    ? 'The definition of a tool matches its pin again'
    : 'The definition of a tool differs from its pin';
}
