/** The records with which a stream begins an epoch. */

import { uuidv7 } from '@governance/shared/ids';
import type { ChainPosition } from '@governance/shared/ledger/hash-chain';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { LedgerError } from './ledger-error.ts';
import type { FoundStream } from './ledger-reader.ts';
import { callMark } from './open-decisions.ts';
import { type Place, writeRecord } from './record-text.ts';

export interface OpenRequest {
  tenantId: string;
  stream: string;
  writerVersion: string;
  timestamp: string;
}

/** The first record of the next epoch, and one for each call that the previous one left open. */
export function writeOpening(request: OpenRequest, found: FoundStream | null) {
  const { tenantId, stream, timestamp } = request;
  const epoch = (found?.end?.epoch ?? 0) + 1;
  const place = { tenant_id: tenantId, stream, epoch };
  const records = [
    epochStart(found?.end ?? null, request),
    ...(found?.open ?? []).map((eventId) => outcomeUnknown(eventId, timestamp)),
  ];
  return { epoch, records: records.map((record) => writeStored(place, record)) };
}

/** A record built from stored values is invalid only if these are damaged. */
function writeStored(place: Place, record: UnchainedRecord) {
  try {
    return { id: record.id, text: writeRecord(place, record), mark: callMark(record) };
  } catch (cause) {
    throw new LedgerError('damaged', `an open decision: ${String(cause)}`, { cause });
  }
}

function epochStart(
  before: ChainPosition | null,
  { writerVersion, timestamp }: OpenRequest,
): UnchainedRecord {
  return {
    type: 'epoch_start',
    id: uuidv7(),
    timestamp,
    bundle_revision: null,
    previous: before && { epoch: before.epoch, last_seq: before.seq, head: before.head },
    reason: before ? 'boot' : 'created',
    writer_version: writerVersion,
  };
}

/** The process ended between an allowed decision and its outcome: the outcome is unknown. */
function outcomeUnknown(eventId: string, timestamp: string): UnchainedRecord {
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
