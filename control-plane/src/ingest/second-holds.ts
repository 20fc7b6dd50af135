/**
 * Finds holds under the id of one that the control plane has otherwise. An approval is of the hold
 * that it has, and verifiers would find it to be of another one.
 */
import type { LedgerRecord } from '@governance/shared/ledger-record';
import { readAsVerifiers } from '../chain/ledger-row.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type { CheckedBatch } from './batch-check.ts';
import type { FoundFaults, ReferenceFault } from './reference-faults.ts';

/** A hold that a batch opens. */
export interface OpenedHold {
  seq: number;
  hash: string;
  hold: Extract<LedgerRecord, { type: 'hold_opened' }>;
  isQuarantined: boolean;
}

export function findHolds({ records }: Pick<CheckedBatch, 'records'>): OpenedHold[] {
  return records.flatMap(({ seq, hash, record, bytes, fault }): OpenedHold[] => {
    const isQuarantined = fault !== null;
    const hold = isQuarantined ? readAsVerifiers(bytes) : record;
    return hold?.type === 'hold_opened' ? [{ seq, hash, hold, isQuarantined }] : [];
  });
}

export async function findSecondHolds(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  holds: readonly OpenedHold[],
): Promise<FoundFaults> {
  const ids = [...new Set(holds.map(({ hold }) => hold.escalation_id))];
  const rows = await db.escalation.findMany({
    where: { tenantId, id: { in: ids }, deploymentId: stream },
    select: { id: true, eventId: true, instructionHash: true },
  });
  const stored = new Map(rows.map((row) => [row.id, row]));
  const first = new Map<string, OpenedHold>();
  const found: FoundFaults = { faults: [], doubts: [] };
  for (const one of holds) {
    const { hold, isQuarantined } = one;
    const { escalation_id: id, event_id, instruction_hash } = hold;
    const row = stored.get(id);
    const before = first.get(id);
    if (!before) first.set(id, one);
    const isSame = (known: { event_id: string; instruction_hash: string }) =>
      known.event_id === event_id && known.instruction_hash === instruction_hash;
    if (row) {
      if (!isSame({ event_id: row.eventId, instruction_hash: row.instructionHash }))
        found.faults.push(toFault(one));
    }
    // Which of them will be stored is not known yet; without a hold, none contradicts the approval.
    else if (isQuarantined) found.doubts.push(toFault(one));
    else if (before && !isSame(before.hold)) found.doubts.push(toFault(before), toFault(one));
  }
  return found;
}

const toFault = ({ seq, hash, hold }: OpenedHold): ReferenceFault => ({
  ...{ seq, hash, check: 'approval.binding', reference: hold.escalation_id },
  reason: 'opens a hold under the id of another one',
});
