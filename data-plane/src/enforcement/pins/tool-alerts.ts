/**
 * Bounds the alerts about changed tools of one server, so that it hides neither those about others
 * nor other alerts: ten of one severity an hour, and the further tools together. Proven by
 * tool-alerts.test.ts.
 */

import { uuidv7 } from '@governance/shared/ids';
import type { Severity } from '@governance/shared/ledger/ledger-record';
import { HOUR_MS } from '@governance/shared/time/durations';
import { LRUCache } from 'lru-cache';
import type { Alert } from '../../alerts/alert.ts';
import type { RaiseAlert } from '../../alerts/raise-alert.ts';

/** Alerts of one tool each, of one server and severity. */
const MAX_ALONE = 10;
/** Each stays open until it is resolved, and a data plane has a limit of open alerts. */
const TOGETHER_MS = 10 * 60_000;
/** Tools that one alert names. */
const MAX_NAMED = 30;
const MAX_SHOWN_NAME = 128;
const MAX_SERVERS = 10_000;

export interface ToolAlert {
  readonly toolName: string;
  readonly alert: Alert;
}

/** Raises what there is to say of a server's tools, and what was left from before. Never throws. */
export type RaiseToolAlerts = (
  tenantId: string,
  serverId: string,
  alerts: readonly ToolAlert[],
) => void;

interface RaisedAlerts {
  since: number;
  /** Since then, each with one tool. */
  alone: number;
  togetherAt: number;
  /** Not raised yet; names are kept of some. */
  left: number;
  named: ReturnType<typeof nameOf>[];
}

/** @param now Unix milliseconds */
export function createToolAlerts(deps: { raise: RaiseAlert; now(): number }): RaiseToolAlerts {
  const servers = new LRUCache<string, Map<Severity, RaisedAlerts>>({ max: MAX_SERVERS });

  function severitiesOf(tenantId: string, serverId: string): Map<Severity, RaisedAlerts> {
    const key = `${tenantId} ${serverId}`;
    const known = servers.get(key) ?? new Map<Severity, RaisedAlerts>();
    servers.set(key, known);
    return known;
  }

  /** @returns whether the alert may be raised by itself */
  function takePlace(raised: RaisedAlerts): boolean {
    const age = deps.now() - raised.since;
    if (age >= HOUR_MS || age < 0) Object.assign(raised, { since: deps.now(), alone: 0 });
    if (raised.alone >= MAX_ALONE) return false;
    raised.alone++;
    return true;
  }

  function raiseTogether(
    tenantId: string,
    serverId: string,
    severity: Severity,
    raised: RaisedAlerts,
  ): void {
    if (raised.left === 0 || Math.abs(deps.now() - raised.togetherAt) < TOGETHER_MS) return;
    deps.raise(tenantId, {
      alert_type: 'TOOL_DEFINITION_CHANGED',
      severity,
      title: 'Further tools of a server have changed; the list of its tools shows all of them',
      details: { mcp_server: serverId, tools: raised.left, first: raised.named },
      // One of its own: under a known key it is not shown while the one before is unresolved.
      dedupe_key: `tools-changed:${serverId}:${severity}:${uuidv7(deps.now())}`,
    });
    Object.assign(raised, { togetherAt: deps.now(), left: 0, named: [] });
  }

  return (tenantId, serverId, alerts) => {
    const severities = severitiesOf(tenantId, serverId);
    for (const one of alerts) {
      const { severity } = one.alert;
      const raised = severities.get(severity) ?? nothingRaised();
      severities.set(severity, raised);
      if (takePlace(raised)) {
        deps.raise(tenantId, one.alert);
        continue;
      }
      raised.left++;
      if (raised.named.length < MAX_NAMED) raised.named.push(nameOf(one));
    }
    for (const [severity, raised] of severities)
      raiseTogether(tenantId, serverId, severity, raised);
  };
}

const nothingRaised = (): RaisedAlerts => ({
  since: Number.NEGATIVE_INFINITY,
  alone: 0,
  togetherAt: Number.NEGATIVE_INFINITY,
  left: 0,
  named: [],
});

function nameOf({ toolName, alert }: ToolAlert) {
  return {
    // caller-controlled
    tool_name: toolName.slice(0, MAX_SHOWN_NAME).toWellFormed(),
    seen_hash: alert.details.seen_hash ?? null,
  };
}
