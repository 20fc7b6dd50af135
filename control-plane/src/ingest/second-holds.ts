/**
 * Finds holds under the id of one that the control plane has otherwise. An approval is of the hold
 * that it has, and verifiers would find it to be of another one.
 */
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { CheckedBatch } from './batch-check.ts';
import type { FoundFaults, ReferenceFault } from './reference-faults.ts';

/** What becomes an escalation. */
export const HELD_TYPES = ['hold_opened', 'result_held'] as const;

/**
 * The limit of pending escalations of one data plane, so that a hostile one cannot crowd out the
 * others. A data plane itself holds at most 1,000.
 */
export const MAX_PENDING_OF_STREAM = 2_000;

type Hold = Extract<LedgerRecord, { type: (typeof HELD_TYPES)[number] }>;

const isHold = (record: LedgerRecord | null | undefined): record is Hold =>
  record?.type === 'hold_opened' || record?.type === 'result_held';

/** A hold that a batch opens. */
export interface OpenedHold {
  seq: number;
  hash: string;
  hold: Hold;
  isQuarantined: boolean;
}

export function findHolds({ records }: Pick<CheckedBatch, 'records'>): OpenedHold[] {
  return records.flatMap(({ seq, hash, record, shown, fault }): OpenedHold[] => {
    const isQuarantined = fault !== null;
    const hold = isQuarantined ? shown?.record : record;
    return isHold(hold) ? [{ seq, hash, hold, isQuarantined }] : [];
  });
}

/** @param from the first seq that is not stored */
export async function findSecondHolds(
  tx: TenantTransaction,
  batch: Pick<CheckedBatch, 'header' | 'records'>,
  from: number,
): Promise<FoundFaults> {
  const { db, scope } = tx;
  const of = { tenantId: scope.tenantId, deploymentId: batch.header.stream };
  const fresh = batch.records.filter(({ seq }) => seq >= from);
  const holds = findHolds({ records: fresh });
  const ids = [...new Set(holds.map(({ hold }) => hold.escalation_id))];
  const rows = await db.escalation.findMany({
    where: { ...of, id: { in: ids } },
    select: { id: true, held: true, eventId: true, instructionHash: true },
  });
  const stored = new Map(
    rows.map(({ id, held, eventId, instructionHash }) => {
      const type = held === 'result' ? 'result_held' : 'hold_opened';
      return [id, { type, event_id: eventId, instruction_hash: instructionHash } as const];
    }),
  );
  const first = new Map<string, OpenedHold>();
  const isCrowded = rows.length < ids.length && (await mayBeCrowded(tx, of, fresh));
  const found: FoundFaults = { faults: [], doubts: [] };
  for (const one of holds) {
    const { hold, isQuarantined } = one;
    const { escalation_id: id, type, event_id, instruction_hash } = hold;
    const row = stored.get(id);
    const before = first.get(id);
    if (!before) first.set(id, one);
    const isSame = (known: Pick<Hold, 'type' | 'event_id' | 'instruction_hash'>) =>
      known.type === type &&
      known.event_id === event_id &&
      known.instruction_hash === instruction_hash;
    if (row) {
      if (!isSame(row)) found.faults.push(toFault(one));
    }
    // Which of them will be stored is not known yet, and another may be kept later under the id of
    // one that is not; without a hold, none contradicts the approval.
    else if (isQuarantined || isCrowded) found.doubts.push(toFault(one, NOT_KEPT));
    else if (before && !isSame(before.hold)) found.doubts.push(toFault(before), toFault(one));
  }
  return found;
}

/** Whether the projection may find no room for one of these records, which it then does not keep. */
async function mayBeCrowded(
  { db }: TenantTransaction,
  of: { tenantId: string; deploymentId: string },
  records: CheckedBatch['records'],
): Promise<boolean> {
  const added = records.filter(({ record }) => isHold(record)).length;
  const pending = await db.escalation.count({ where: { ...of, status: 'pending' } });
  return pending + added > MAX_PENDING_OF_STREAM;
}

const SECOND = 'opens a hold under the id of another one';
const NOT_KEPT = 'opens a hold that may not be kept';

const toFault = ({ seq, hash, hold }: OpenedHold, reason = SECOND): ReferenceFault => ({
  ...{ seq, hash, check: 'approval.binding', reference: hold.escalation_id, reason },
});
