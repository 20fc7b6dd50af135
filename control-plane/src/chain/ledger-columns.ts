/**
 * The columns of ledger_records that come from a record's bytes, so that events can be found by
 * index. The bytes are authoritative: verification recomputes the columns from them.
 */
import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';

export interface LedgerColumns {
  type: string;
  id: string;
  /** The record's subject, such as the decision that an outcome belongs to. */
  subjectId: string | null;
  agentId: string | null;
  policyResult: string | null;
  /** ISO 8601, by the writer's clock. */
  eventTime: string;
}

/**
 * The type of a row whose record could not be read or stored: it keeps the record's place in the
 * chain and its bytes, and is never shown as an event.
 */
export const QUARANTINED = 'quarantined';

/** The columns of a quarantined row, derived from the record's hash alone. */
export function quarantinedColumns(hash: string): LedgerColumns {
  return {
    type: QUARANTINED,
    id: idOfHash(hash),
    subjectId: null,
    agentId: null,
    policyResult: null,
    // The record's time is unknown: a constant, so that verification computes the same one.
    eventTime: '1970-01-01T00:00:00.000Z',
  };
}

/** A UUID of version 8 from the hash's first 128 bits. */
function idOfHash(hash: string): string {
  const digits = hash.slice(0, 12);
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digits.slice(0, 8)}-${digits.slice(8)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
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
    case 'hold_opened':
    case 'result_held':
      columns.agentId = record.agent_id;
      columns.subjectId = record.event_id;
      break;
    case 'hold_resolved':
    case 'answer_started':
      columns.subjectId = record.event_id;
      break;
    case 'alert':
    case 'rate_limited':
      columns.agentId = record.agent_id;
      break;
  }
  return columns;
}
