import type { PolicyFault } from '@governance/policies/contract';
import type { DataPlaneAlert } from '@governance/shared/data-plane-records';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';
import { LRUCache } from 'lru-cache';
import type { Ledger } from '../contracts.ts';
import type { ClassifiedCall } from './calls.ts';
import type { PendingWrites } from './pending-writes.ts';

export interface AlertDeps {
  ledger: Pick<Ledger, 'append'>;
  writes: PendingWrites;
  now(): number;
}

/** The same alert is recorded no more often: a hostile policy is asked at every call. */
const REPEAT_MS = 60_000;

interface PolicyAlert {
  alert_type: DataPlaneAlert;
  title: string;
  dedupe: string;
}

const OUT_OF_FUEL = {
  alert_type: 'POLICY_OUT_OF_FUEL',
  title: 'A policy used up its computing budget and its calls are denied',
  dedupe: 'policy-out-of-fuel',
} satisfies PolicyAlert;
const FAILED = {
  alert_type: 'POLICY_FAILED',
  title: 'A policy failed and the calls it failed on are denied',
  dedupe: 'policy-failed',
} satisfies PolicyAlert;

/**
 * Raises POLICY_OUT_OF_FUEL (a policy computed past its budget) or POLICY_FAILED (conflicting
 * values, too much memory, a built-in that failed). The calls themselves are denied and recorded;
 * this tells a person that a policy has to be changed.
 */
export function createPolicyFaultAlert({ ledger, writes, now }: AlertDeps) {
  const raised = new LRUCache<string, number>({ max: 10_000 });
  return (call: ClassifiedCall, fault: PolicyFault): void => {
    const { alert_type, title, dedupe } = fault === 'out_of_fuel' ? OUT_OF_FUEL : FAILED;
    const revision = call.rules?.revision ?? null;
    // One open alert for each set of sources: a new bundle may have cured it.
    const dedupeKey = `${dedupe}:${call.rules?.digest ?? 'none'}`;
    const key = `${call.tenantId} ${dedupeKey}`;
    if ((raised.get(key) ?? Number.NEGATIVE_INFINITY) + REPEAT_MS > now()) return;
    raised.set(key, now());
    const record: Extract<UnchainedRecord, { type: 'alert' }> = {
      type: 'alert',
      id: uuidv7(now()),
      timestamp: new Date(now()).toISOString(),
      bundle_revision: revision,
      alert_type,
      severity: 'high',
      agent_id: call.agent.id,
      title,
      details: {
        fault,
        event_id: call.id,
        mcp_server: call.serverId,
        tool_name: call.toolName,
        bundle_revision: revision,
      },
      dedupe_key: dedupeKey,
    };
    writes.track('alert', ledger.append(call.tenantId, record));
  };
}
