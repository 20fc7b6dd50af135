/**
 * Pins tools to the definition that was seen first. A change is reported and, if the tenant
 * requires it, the tool waits for approval. Pins are stored in a file that all workers of a machine
 * share. A pin in the bundle takes precedence over the definition seen first here, so that all data
 * planes of a tenant agree. Where a pin cannot be read or written, no definition counts as
 * approved. Proven by pinned-tools.test.ts.
 */
import { hash } from 'node:crypto';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { PinReports } from '../../contracts.ts';
import type { ListedTool } from '../../upstream/lists/list-tools.ts';
import { perSettings } from '../permission/per-settings.ts';
import type { ToolPlace } from '../tools/tool-definitions.ts';
import { type DefinitionChange, toChange } from './definition-change.ts';
import { type BundlePin, firstPin, isChanged, isPutOff, nextPin } from './next-pin.ts';
import { openPinFile } from './pin-file.ts';
import { createPinReports, NO_PIN_REPORTS } from './pin-reports.ts';
import { createUnobservedTools } from './unobserved-tools.ts';

export interface PinnedTools {
  /** Checks a server's list: pins new tools, and reports changes. Never throws. */
  observe(
    tenantId: string,
    serverId: string,
    tools: readonly ListedTool[],
    settings: BundleSettings | null,
  ): void;
  /**
   * Whether a tool must be approved before use: it has changed, or its definition is not known.
   *
   * @throws where the pin cannot be read
   */
  isWaiting(place: ToolPlace, settings: BundleSettings): boolean;
  readonly reports: PinReports;
  /**
   * The digest of a tool's last definition.
   *
   * @returns null where the tool was never listed, undefined where its present definition is
   *   unknown
   */
  findSeen(place: ToolPlace): string | null | undefined;
  close(): void;
}

interface Look {
  readonly place: ToolPlace;
  readonly tool: ListedTool;
  readonly pin: BundlePin | undefined;
  readonly key: string;
  readonly text: string;
}

interface Settled {
  readonly isWritten: boolean;
  readonly isPutOff: boolean;
  readonly change: DefinitionChange | null;
}
const SETTLED: Settled = { isWritten: false, isPutOff: false, change: null };

/** Most tools of one server that are pinned; further ones are not. */
const MAX_TOOLS = 4_000;
/** Definitions remembered as checked, so that they are not checked again while unchanged. */
const MAX_KNOWN = 20_000;
const keyOf = ({ tenantId, serverId, toolName }: ToolPlace) =>
  `${tenantId} ${serverId} ${toolName}`;

/** Used without a data folder: nothing is pinned. */
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
      (inbound?.pinned_tools?.pins ?? []).map((pin): [string, BundlePin] => [
        `${pin.server_id} ${pin.tool_name}`,
        pin,
      ]),
    ),
);

/**
 * Opens the file.
 *
 * @param onObserved called after each list with its changed definitions: each change once, until
 *   the tool counts as varying
 * @param onNews called when `reports` has something new
 * @param now Unix milliseconds
 * @throws when the file is damaged
 */
export function openPinnedTools(
  path: string,
  deps: {
    onObserved(tenantId: string, serverId: string, changes: readonly DefinitionChange[]): void;
    onNews(tenantId: string): void;
    now(): number;
    log: Pick<Logger, 'error'>;
  },
): PinnedTools {
  const { now, log } = deps;
  const file = openPinFile(path);
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  const unobserved = createUnobservedTools(MAX_TOOLS);
  let version = file.version();
  let lookedAt = Number.NEGATIVE_INFINITY;

  /**
   * Writes down a definition. A change of a tool that varies may be put off: that is written too,
   * so that the tool waits at every worker, and it is looked at again.
   */
  function settle({ place, tool, pin }: Look): Settled {
    const row = file.find(place);
    if (!row && file.countTools(place.tenantId, place.serverId) >= MAX_TOOLS) return SETTLED;
    const next = row ? nextPin(row, tool, pin, now()) : firstPin(tool, pin, now());
    if (next !== null) {
      file.put(place, next.row);
      const change = next.isReported ? toChange(place, next.row) : null;
      return { isWritten: true, isPutOff: next.row.put_off === 1, change };
    }
    const isOpen = row !== undefined && isPutOff(row, tool, now());
    if (row !== undefined && isOpen !== (row.put_off === 1)) file.setPutOff(place, isOpen);
    return { ...SETTLED, isPutOff: isOpen };
  }

  /** A tool to be checked; undefined where neither it nor its pin changed since the last check. */
  function lookAt(
    place: ToolPlace,
    tool: ListedTool,
    pin: BundlePin | undefined,
  ): Look | undefined {
    const key = keyOf(place);
    const text = hash('sha256', `${JSON.stringify(pin ?? null)} ${JSON.stringify(tool)}`, 'base64');
    return known.get(key) === text ? undefined : { place, tool, pin, key, text };
  }

  function observe(
    tenantId: string,
    serverId: string,
    tools: readonly ListedTool[],
    settings: BundleSettings | null,
  ): DefinitionChange[] {
    const pins = settings === null ? undefined : pinsOf(settings);
    // Another worker has written to the file, or the clock was put back: check everything again.
    const current = file.version();
    const at = now();
    if (current !== version || at < lookedAt) known.clear();
    version = current;
    lookedAt = at;
    const looks = tools.flatMap((tool) => {
      const place = { tenantId, serverId, toolName: tool.name };
      return lookAt(place, tool, pins?.get(`${serverId} ${tool.name}`)) ?? [];
    });
    if (looks.length === 0) return [];
    // One commit for a whole list, since each commit waits for the disk.
    const settled = file.commit(() => looks.map((look) => ({ ...look, ...settle(look) })));
    for (const { key, text, isPutOff } of settled) {
      if (isPutOff) known.delete(key);
      else known.set(key, text);
    }
    if (settled.some(({ isWritten }) => isWritten)) deps.onNews(tenantId);
    return settled.flatMap(({ change }) => change ?? []);
  }

  return {
    observe(tenantId, serverId, tools, settings) {
      const server = { tenantId, serverId };
      try {
        deps.onObserved(tenantId, serverId, observe(tenantId, serverId, tools, settings));
        const several = namesOfSeveral(tools);
        const isUnclear = ({ name }: ListedTool) => several.has(name);
        unobserved.note(
          server,
          tools.filter((tool) => !isUnclear(tool)),
          true,
        );
        unobserved.note(server, tools.filter(isUnclear), false);
      } catch (error) {
        unobserved.note(server, tools, false);
        log.error({ err: error, ...server }, 'definitions of tools could not be pinned');
      }
    },
    isWaiting(place, settings) {
      if (settings.inbound?.pinned_tools?.require_approval !== true) return false;
      const { serverId, toolName } = place;
      const pin = pinsOf(settings).get(`${serverId} ${toolName}`);
      if (pin?.varies === true) return false;
      // The tool's present definition is unknown, or not in the file.
      if (unobserved.has(place)) return true;
      const row = file.find(place);
      // Its server's list was not read so far, or there was no room: a change would not be noticed.
      return row === undefined || isChanged(row, pin, now());
    },
    findSeen(place) {
      if (unobserved.hasAny(place)) return undefined;
      return file.find(place)?.seen ?? null;
    },
    reports: createPinReports({ file, onMore: deps.onNews, now }),
    close: file.close,
  };
}

/** Names that one list gives to differing definitions: nobody knows which of them is called. */
function namesOfSeveral(tools: readonly ListedTool[]): Set<string> {
  const first = new Map<string, ListedTool>();
  const several = new Set<string>();
  for (const tool of tools) {
    const before = first.get(tool.name) ?? tool;
    if (before === tool) first.set(tool.name, tool);
    else if (JSON.stringify(before) !== JSON.stringify(tool)) several.add(tool.name);
  }
  return several;
}
