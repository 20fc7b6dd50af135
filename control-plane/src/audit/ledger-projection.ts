/**
 * The columns of ledger_records that are taken out of a record's bytes, so that events can be
 * found by index. The bytes stay the truth: verification recomputes these columns from them.
 */
import type { LedgerRecord } from '@governance/shared/ledger-record';

export interface LedgerColumns {
  type: string;
  id: string;
  /** What the record belongs to: the decision of an outcome. */
  subjectId: string | null;
  agentId: string | null;
  policyResult: string | null;
  /** ISO 8601, by the writer's clock. */
  eventTime: string;
}

export function ledgerColumns(record: LedgerRecord): LedgerColumns {
  const columns: LedgerColumns = {
    type: record.type,
    id: record.id,
    subjectId: null,
    agentId: null,
    policyResult: null,
    eventTime: record.timestamp,
  };
  switch (record.type) {
    case 'decision':
      columns.agentId = record.agent_id;
      columns.policyResult = record.policy_result;
      break;
    case 'outcome':
      columns.subjectId = record.event_id;
      break;
    case 'alert':
      columns.agentId = record.agent_id;
      break;
  }
  return columns;
}
