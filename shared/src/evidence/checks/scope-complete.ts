/**
 * `scope.complete`: a contiguous package holds every leaf of its range with all its records, and
 * what its streams had before lies before its time. A selective one holds nothing outside its
 * scope; that it left nothing out cannot be shown.
 */
import type { LedgerRecord } from '../../ledger/ledger-record.ts';
import { EVIDENCE_MEMBERS } from '../evidence-package.ts';
import type { Check, Tally } from './check.ts';
import { type Evidence, recordsOf } from './evidence.ts';
import { lineOf } from './location.ts';

const { proofs, batches, events } = EVIDENCE_MEMBERS;

export function checkScope(tally: Tally, evidence: Evidence): Check {
  let next = 0;
  let inRange = 0;
  let whole = 0;
  let expected = 0;
  let records = 0;
  const isSelective = () => evidence.manifest.scope.kind === 'selective';

  function isInScope(record: LedgerRecord | null): boolean {
    if (record?.type !== 'decision') return record !== null;
    const { from, to, filter } = evidence.manifest.scope;
    if (record.timestamp < from || record.timestamp >= to) return false;
    const { agent_ids, workflow_session_id } = filter ?? {};
    if (agent_ids && !agent_ids.includes(record.agent_id)) return false;
    return workflow_session_id === undefined || record.workflow_session_id === workflow_session_id;
  }

  return {
    documents: () => {
      const { scope, log, volume } = evidence.manifest;
      next = log.start;
      if (scope.from >= scope.to || volume.number > volume.of) {
        tally.fail('the scope is not possible', { member: EVIDENCE_MEMBERS.manifest });
      }
      if ((volume.number === 1) !== (volume.previous === null)) {
        tally.fail('the volume before is not named', { member: EVIDENCE_MEMBERS.manifest });
      }
      if (isSelective()) {
        tally.skip('the package is selective: that nothing was left out cannot be shown');
        if (evidence.proofs.boundaries.length > 0) {
          tally.fail('a selective package shows what was before its streams', { member: proofs });
        }
      } else if (scope.filter !== null) {
        tally.fail('a contiguous package has a filter', { member: EVIDENCE_MEMBERS.manifest });
      }
    },
    batch: (batch) => {
      if (!batch.isInRange) return;
      if (batch.leafIndex === next) tally.ok();
      else tally.fail('a leaf of the range is missing', lineOf(batches, batch.line));
      next = batch.leafIndex + 1;
      inRange++;
      expected += recordsOf(batch);
    },
    batchesEnd: () => {
      if (!isSelective() && next !== evidence.manifest.log.end) {
        tally.fail('the last leaves of the range are missing', { member: batches });
      }
    },
    event: ({ line, record, batch, index }) => {
      records++;
      if (batch && index === recordsOf(batch) - 1) whole++;
      if (isSelective() && !isInScope(record)) {
        tally.fail('the record is not of the scope', lineOf(events, line));
      }
    },
    eventsEnd: () => {
      if (isSelective()) return;
      // Each batch separately: in a sum, one with more records than it claims would hide one with
      // fewer.
      if (records === expected && whole === inRange) tally.ok();
      else tally.fail('the batches have another number of records', { member: events });
      for (const { index, fault, isBefore } of evidence.boundaries) {
        // Later volumes begin in the middle of the time.
        const isFirst = evidence.manifest.volume.number === 1;
        if (fault === undefined && (isBefore || !isFirst)) tally.ok();
        else {
          const what = fault ?? 'a record of the time comes before the package';
          tally.fail(what, { member: proofs, path: `boundaries/${index}` });
        }
      }
    },
  };
}
