/** What DLP reports beside the call's record: metrics, alerts, and values sent piece by piece. */
import { BUILTIN_PATTERNS } from '@governance/shared/detect/dlp/builtin-patterns';
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { Caller, ClassifiedCall } from '../call/calls.ts';
import { createAcrossCalls } from './across-calls.ts';

export type DlpDirection = 'outbound' | 'result';
export type DlpDone = 'blocked' | 'warned' | 'logged' | 'redacted';

/** Counts one finding. `pattern` is a built-in pattern's name, or `custom`. */
export type CountFinding = (
  pattern: string,
  severity: DlpFinding['severity'],
  direction: DlpDirection,
  action: DlpDone,
) => void;

/** Why a scan did not finish. */
export type Unscanned = 'overloaded' | 'timeout' | 'stopped';

/** The call or message that was scanned. */
export interface Place {
  serverId: string;
  eventId: string | null;
}

export type DlpWatch = ReturnType<typeof createDlpWatch>;

const BUILTINS = new Set(BUILTIN_PATTERNS.map(({ name }) => name));

export function createDlpWatch(deps: {
  raiseAlert: RaiseAlert;
  countFinding: CountFinding;
  countUnscanned(reason: Unscanned): void;
  /** The requester, in a form that may be recorded. */
  protectRequester(caller: Caller): string | null;
  /** Unix milliseconds. */
  now(): number;
}) {
  const { raiseAlert, countFinding, countUnscanned, protectRequester, now } = deps;
  return {
    /** Examines what an agent sends over several calls. */
    across: createAcrossCalls({ raiseAlert, protectRequester, now }),
    /** @param done what was done about each of the findings */
    count(
      findings: readonly DlpFinding[],
      direction: DlpDirection,
      done: (finding: DlpFinding) => DlpDone,
    ): void {
      for (const finding of findings) {
        const { pattern, severity } = finding;
        const label = BUILTINS.has(pattern) ? pattern : 'custom';
        countFinding(label, severity, direction, done(finding));
      }
    },
    /** Alerts that the tenant's own patterns took too long on a text, which was blocked. */
    gaveUp({ tenantId, agent }: Caller, { serverId, eventId }: Place): void {
      raiseAlert(tenantId, {
        alert_type: 'DLP_PATTERNS_GAVE_UP',
        severity: 'high',
        title: 'A DLP pattern of the tenant takes too long, and the text was blocked',
        agent_id: agent.id,
        details: { mcp_server: serverId, event_id: eventId },
        dedupe_key: 'dlp-patterns-gave-up',
      });
    },
    /** Counts a scan that did not finish, whose text was blocked, and raises an alert. */
    unscanned({ tenantId, agent }: Caller, { serverId, eventId }: Place, reason: Unscanned): void {
      countUnscanned(reason);
      // A call that the service's stop cut off needs no alert.
      if (reason === 'stopped') return;
      raiseAlert(tenantId, {
        alert_type: 'DLP_SCAN_FAILED',
        severity: 'high',
        title: 'A scan for sensitive data did not finish, and its text was blocked',
        agent_id: agent.id,
        details: { mcp_server: serverId, event_id: eventId, reason },
        dedupe_key: `dlp-scan-failed:${reason}`,
      });
    },
  };
}

/** The place of a call. */
export function placeOf({ id, ask }: ClassifiedCall): Place {
  return { serverId: ask.serverId, eventId: id };
}
