/**
 * Checks what a data plane may record. A violation keeps its place in the chain: a record that no
 * data plane may write goes to quarantine; an agent that the tenant never had, and an impossible
 * time, are marked wherever the record is shown. One alert is raised per kind and stream, and the
 * stream continues. Proven by violations.pg.test.ts.
 */
import type { Severity } from '@governance/shared/ledger/ledger-record';
import { LRUCache } from 'lru-cache';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { isTimeImpossible } from '../platform/database/record-time.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { CheckedBatch, CheckedRecord } from './batch-check.ts';

type ViolationKind = 'forbidden' | 'agent_unknown' | 'time_impossible';

export interface Violation {
  /** One of the kinds above, or a projection's: names the alert's details and its key. */
  kind: string;
  alert: ViolationAlert;
  /** How many records of the batch; 1 or more. */
  records: number;
  first: { epoch: number; seq: number; hash: string; reason: string };
}

interface ViolationAlert {
  alertType: string;
  severity: Severity;
  title: string;
}

/** @returns the agents that a batch's records name */
export function agentsOf({ records }: CheckedBatch): Set<string> {
  const agents = new Set<string>();
  for (const { columns } of records) if (columns.agentId !== null) agents.add(columns.agentId);
  return agents;
}

/**
 * @param unknownAgents in lower case
 * @param at the time of receipt, in milliseconds
 * @returns each kind of violation among the records, with its first
 */
export function findViolations(
  { header, records }: CheckedBatch,
  unknownAgents: ReadonlySet<string>,
  at: number,
): Violation[] {
  const found = new Map<ViolationKind, Violation>();
  const note = (kind: ViolationKind, { seq, hash }: CheckedRecord, reason: string) => {
    const known = found.get(kind);
    if (known) known.records += 1;
    else {
      const first = { epoch: header.epoch, seq, hash, reason };
      found.set(kind, { kind, alert: ALERTS[kind], records: 1, first });
    }
  };
  for (const record of records) {
    const { fault, columns } = record;
    if (fault?.kind === 'forbidden') note('forbidden', record, fault.reason);
    if (fault !== null) continue;
    if (columns.agentId !== null && unknownAgents.has(columns.agentId.toLowerCase())) {
      note('agent_unknown', record, `names the agent ${columns.agentId}`);
    }
    if (isTimeImpossible(Date.parse(columns.eventTime), at)) {
      note('time_impossible', record, `says ${columns.eventTime}`);
    }
  }
  return [...found.values()];
}

/** Marks records of unknown agents, so that projections do not name them. */
export function markUnknownAgents(
  batch: CheckedBatch,
  unknownAgents: ReadonlySet<string>,
): CheckedBatch {
  if (unknownAgents.size === 0) return batch;
  const records = batch.records.map((record): CheckedRecord => {
    const { agentId } = record.columns;
    const isAgentUnknown = agentId !== null && unknownAgents.has(agentId.toLowerCase());
    return isAgentUnknown ? { ...record, isAgentUnknown } : record;
  });
  return { ...batch, records };
}

const ALERTS: Record<ViolationKind, ViolationAlert> = {
  forbidden: {
    alertType: 'DATA_PLANE_VIOLATION',
    severity: 'critical',
    title: 'A data plane wrote a record that no data plane may write; it is in quarantine',
  },
  agent_unknown: {
    alertType: 'DATA_PLANE_VIOLATION',
    severity: 'high',
    title: 'A data plane recorded calls of agents that this tenant never had',
  },
  time_impossible: {
    alertType: 'DATA_PLANE_VIOLATION',
    severity: 'medium',
    title: 'A data plane wrote times later than their receipt: its clock, or its claim, is wrong',
  },
};

/**
 * A data plane with a wrong clock causes a violation with every batch: it is reported once in this
 * time.
 */
const REPEAT_MS = 60_000;
const KEPT = 10_000;

export interface ViolationAlerts {
  /** Raises alerts of violations: one per stream and kind while it is unresolved. */
  raise(tenantId: string, stream: string, violations: readonly Violation[]): Promise<void>;
}

export function createViolationAlerts(deps: {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}): ViolationAlerts {
  const raisedLately = new LRUCache<string, true>({ max: KEPT, ttl: REPEAT_MS });
  return {
    raise: async (tenantId, stream, violations) => {
      const due = violations.filter(
        ({ kind }) => !raisedLately.get(`${tenantId}/${stream}/${kind}`),
      );
      if (due.length === 0) return;
      await deps.db.inTenant(systemScope(tenantId), async (tx) => {
        for (const { kind, alert, records, first } of due) {
          await raiseAlert(tx, {
            ...alert,
            agentId: null,
            details: { deployment_id: stream, violation: kind, records, first },
            dedupeKey: `data-plane-violation/${stream}/${kind}`,
            now: deps.now(),
          });
        }
      });
      // After the commit: what was not reported is reported when the batch is sent again.
      for (const { kind } of due) raisedLately.set(`${tenantId}/${stream}/${kind}`, true);
    },
  };
}
