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

/**
 * Raises POLICY_OUT_OF_FUEL: a policy computed past its budget. The calls themselves are denied
 * and recorded; this tells a person that a policy has to be changed.
 */
export function createFuelAlert({ ledger, writes, now }: AlertDeps) {
  const raised = new LRUCache<string, number>({ max: 10_000 });
  return (call: ClassifiedCall): void => {
    const revision = call.rules?.revision ?? null;
    // One open alert for each set of sources: a new bundle may have cured it.
    const dedupeKey = `policy-out-of-fuel:${call.rules?.digest ?? 'none'}`;
    const key = `${call.tenantId} ${dedupeKey}`;
    if ((raised.get(key) ?? Number.NEGATIVE_INFINITY) + REPEAT_MS > now()) return;
    raised.set(key, now());
    const record: Extract<UnchainedRecord, { type: 'alert' }> = {
      type: 'alert',
      id: uuidv7(now()),
      timestamp: new Date(now()).toISOString(),
      bundle_revision: revision,
      alert_type: 'POLICY_OUT_OF_FUEL',
      severity: 'high',
      agent_id: call.agent.id,
      title: 'A policy used up its computing budget and its calls are denied',
      details: {
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
