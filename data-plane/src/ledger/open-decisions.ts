/**
 * The allowed calls of a stream without a recorded outcome. A call that ends soon needs no row on
 * disk: only calls still open after `SPILL_AFTER` records are written to a table, together with the
 * position up to which this was done. A start reads the table, and the records after the position.
 * Memory holds only the open calls since that position. Proven by open-decisions.test.ts.
 */
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import type { prepareStatements } from './ledger-schema.ts';

/** Limits the number of records that a start reads. */
export const SPILL_AFTER = 4_096;

type Statements = Pick<
  ReturnType<typeof prepareStatements>,
  'insertOpen' | 'deleteOpen' | 'moveOpen'
>;

export type OpenDecisions = ReturnType<typeof createOpenDecisions>;

/** Whether a record opens or closes a call, and which; null for other records. */
export type CallMark = { opens: string } | { closes: string } | null;

export function callMark(record: UnchainedRecord): CallMark {
  if (record.type === 'outcome') return { closes: record.event_id };
  const isOpen = record.type === 'decision' && record.policy_result === 'allow';
  return isOpen ? { opens: record.id } : null;
}

export function createOpenDecisions(sql: Statements, streamNo: number) {
  const open = new Set<string>();
  let records = 0;

  function spill({ epoch, seq }: { epoch: number; seq: number }): void {
    for (const id of open) sql.insertOpen.run(eventIdBytes(id), streamNo);
    sql.moveOpen.run(epoch, seq, streamNo);
  }

  return {
    /**
     * Writes all open calls to the table, within a transaction. After it, everything up to the
     * stream's end may be pruned.
     *
     * @returns a function to call once it is committed
     */
    spill: (end: { epoch: number; seq: number }): (() => void) => {
      if (records > 0) spill(end);
      return () => {
        open.clear();
        records = 0;
      };
    },
    /**
     * Writes the changes of open calls, within the transaction that writes the records.
     *
     * @param marks one for each of the records
     * @param before the end of the stream before them
     * @returns a function to call once it is committed
     */
    write: (marks: readonly CallMark[], before: { epoch: number; seq: number }): (() => void) => {
      const spills = records >= SPILL_AFTER;
      if (spills) spill(before);
      const opened = new Set<string>();
      for (const mark of marks) {
        if (mark === null) continue;
        if ('opens' in mark) opened.add(mark.opens);
        else if (!opened.delete(mark.closes) && (spills || !open.has(mark.closes))) {
          sql.deleteOpen.run(eventIdBytes(mark.closes));
        }
      }
      return () => {
        if (spills) open.clear();
        records = (spills ? 0 : records) + marks.length;
        for (const mark of marks) if (mark && 'closes' in mark) open.delete(mark.closes);
        for (const id of opened) open.add(id);
      };
    },
  };
}

export function eventIdBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}

export function eventIdText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
