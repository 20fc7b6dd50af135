/** What is told of DLP beside the record of the call: metrics, alerts, and what spans calls. */
import { BUILTIN_PATTERNS } from '@governance/shared/detect/dlp/builtin-patterns';
import type { DlpFinding } from '@governance/shared/detect/findings';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';
import type { Caller, ClassifiedCall } from '../calls.ts';
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

/** Why there is no answer of a scan. */
export type Unscanned = 'overloaded' | 'timeout' | 'stopped';

/** What a scan is told of. */
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
  /** The requester as it may be recorded. */
  tellRequester(caller: Caller): string | null;
  /** Unix milliseconds. */
  now(): number;
}) {
  const { raiseAlert, countFinding, countUnscanned, tellRequester, now } = deps;
  return {
    /** What leaves an agent, over several calls. */
    across: createAcrossCalls({ raiseAlert, tellRequester, now }),
    /** @param done what was done about each of them */
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
    /** The tenant's own patterns took too long on a text: what they were to scan is not let through. */
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
    /** A scan had no answer: what was to be scanned is not let through. */
    unscanned({ tenantId, agent }: Caller, { serverId, eventId }: Place, reason: Unscanned): void {
      countUnscanned(reason);
      // A call that a stop of the service cuts off needs nobody's attention.
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

/** Of a call. */
export function placeOf({ id, ask }: ClassifiedCall): Place {
  return { serverId: ask.serverId, eventId: id };
}
