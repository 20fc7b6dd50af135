/** The records with which a stream begins an epoch. */
import type { ChainPosition } from '@governance/shared/hash-chain';
import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger-record';

export function epochStart(
  before: ChainPosition | null,
  request: { writerVersion: string; timestamp: string },
): UnchainedRecord {
  return {
    type: 'epoch_start',
    id: uuidv7(),
    timestamp: request.timestamp,
    bundle_revision: null,
    previous: before && { epoch: before.epoch, last_seq: before.seq, head: before.head },
    reason: before ? 'boot' : 'created',
    writer_version: request.writerVersion,
  };
}

/** The process ended between an allowed decision and its outcome: the outcome is unknown. */
export function outcomeUnknown(eventId: string, timestamp: string): UnchainedRecord {
  return {
    type: 'outcome',
    id: uuidv7(),
    timestamp,
    bundle_revision: null,
    event_id: eventId,
    outcome: 'outcome_unknown',
    latency_ms: null,
    result_digest: null,
    result_bytes: null,
    inbound_findings_count: 0,
    result_action: null,
    inspection: null,
    model_usage: null,
    payload_digest: null,
    detail: 'The data plane stopped before the outcome was recorded.',
  };
}
