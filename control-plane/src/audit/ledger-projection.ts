/**
 * The columns of ledger_records that are taken out of a record's bytes, so that events can be
 * found by index. The bytes stay the truth: verification recomputes these columns from them.
 */
import { canonicalize } from '@governance/shared/canonical-json';
import type { AlertRecord, LedgerRecord } from '@governance/shared/ledger-record';

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

/**
 * The type of a row whose record could not be read or stored: it holds the record's place in the
 * chain and its bytes, and is shown to nobody as an event.
 */
export const QUARANTINED = 'quarantined';

/** The columns of such a row; nothing of the record is trusted but its hash. */
export function quarantinedColumns(hash: string): LedgerColumns {
  return {
    type: QUARANTINED,
    id: idOfHash(hash),
    subjectId: null,
    agentId: null,
    policyResult: null,
    // No time is known, and verification has to come to the same one.
    eventTime: '1970-01-01T00:00:00.000Z',
  };
}

/** A UUID of version 8 from the hash's first 128 bits. */
function idOfHash(hash: string): string {
  const digits = hash.slice(0, 12);
  const variant = ((Number.parseInt(hash.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return `${digits.slice(0, 8)}-${digits.slice(8)}-8${hash.slice(13, 16)}-${variant}${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** How far a writer's clock may be ahead of the receipt of its record. */
export const CLOCK_AHEAD_MS = 5 * 60_000;

/**
 * The time by which a data plane's record is listed, in milliseconds: the writer's, and the receipt
 * where the writer's cannot be. A record from the future would otherwise lead every list for ever.
 */
export function listedTime(writtenAt: number, receivedAt: number): number {
  return isTimeImpossible(writtenAt, receivedAt) ? receivedAt : writtenAt;
}

export function isTimeImpossible(writtenAt: number, receivedAt: number): boolean {
  return writtenAt > receivedAt + CLOCK_AHEAD_MS;
}

/**
 * What an alert shows of its record. A list has up to 1,000 alerts, and a record may have 256 KiB:
 * what is longer is in the audit trail alone.
 */
const MAX_ALERT_DETAILS_BYTES = 16 * 1024;
const MAX_ALERT_TITLE = 500;

/** An alert that a data plane raised, as a row of `alerts`. */
export interface ProjectedAlert {
  id: string;
  /** Of the data plane that raised it. */
  stream: string;
  alertType: string;
  severity: string;
  agentId: string | null;
  title: string;
  /** Canonical JSON. */
  details: string;
  /** Told apart from the keys of the control plane's own alerts. */
  dedupeKey: string | null;
  createdAt: string;
}

/**
 * A data plane's keys are its own: whoever holds one could otherwise open an alert under the key of
 * one that the control plane would raise about it (a fork, a break of its chain), or that another
 * data plane would raise about itself, which then would not be raised.
 *
 * @returns undefined for a record that is no alert
 */
export function projectAlert(record: LedgerRecord): ProjectedAlert | undefined {
  if (record.type !== 'alert') return undefined;
  return {
    id: record.id,
    stream: record.stream,
    alertType: record.alert_type,
    severity: record.severity,
    agentId: record.agent_id,
    title: shortTitle(record.title),
    details: shownDetails(record),
    dedupeKey:
      record.dedupe_key === null
        ? null
        : `data-plane:${record.stream.toLowerCase()}:${record.dedupe_key}`,
    createdAt: record.timestamp,
  };
}

/** An emoji may lose its second half: PostgreSQL takes no lone one. */
function shortTitle(title: string): string {
  return title.length <= MAX_ALERT_TITLE
    ? title
    : `${title.slice(0, MAX_ALERT_TITLE - 1).toWellFormed()}…`;
}

function shownDetails({ stream, epoch, seq, details }: AlertRecord): string {
  const text = canonicalize(details);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_ALERT_DETAILS_BYTES) return text;
  return canonicalize({
    left_out: 'too large for an alert',
    bytes,
    record: { stream, epoch, seq },
  });
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
