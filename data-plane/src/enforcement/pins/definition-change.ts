/** A change of a tool's definition, and the alert about it. */
import type { ToolDifference } from '@governance/shared/mcp/tool-pins';
import type { Alert } from '../../alerts/alert.ts';
import type { ToolPlace } from '../tools/tool-definitions.ts';
import type { PinRow } from './pin-file.ts';
import { differenceOfPin } from './pin-reports.ts';
import type { ToolAlert } from './tool-alerts.ts';

/** A tool whose definition differs from its pin, or matches it again. */
export interface DefinitionChange {
  readonly place: ToolPlace;
  readonly pinnedHash: string;
  readonly seenHash: string;
  readonly firstSeenAt: string;
  readonly seenAt: string;
  /** The members that differ; empty where the definition matches its pin again. */
  readonly changed: readonly string[];
  readonly difference: ToolDifference;
  /** Whether the tool has changed so often that further changes are not reported. */
  readonly varies: boolean;
}

/** The change that a stored row describes. */
export function toChange(place: ToolPlace, row: PinRow): DefinitionChange {
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

/** The alert about a change: hashes, names of members, and their texts where they differ. */
export function changeAlert(change: DefinitionChange): ToolAlert {
  const { place, pinnedHash, seenHash, firstSeenAt, seenAt, changed, varies } = change;
  const { serverId, toolName } = place;
  const isBack = pinnedHash === seenHash && !varies;
  const alert: Alert = {
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
  return { toolName, alert };
}

/** The alert about a tool whose action was set for another definition. */
export function lapseAlert({ serverId, toolName }: ToolPlace): ToolAlert {
  const alert: Alert = {
    alert_type: 'TOOL_DEFINITION_CHANGED',
    severity: 'high',
    title: 'A tool has changed since its action was set; the setting can now only raise it',
    details: { mcp_server: serverId, tool_name: toolName },
    dedupe_key: `tool-definition-changed:${serverId}/${toolName}`,
  };
  return { toolName, alert };
}

function titleOf(isBack: boolean, varies: boolean): string {
  if (varies) return 'The definition of a tool keeps changing; further changes raise no alert';
  return isBack
    ? 'The definition of a tool matches its pin again'
    : 'The definition of a tool differs from its pin';
}
