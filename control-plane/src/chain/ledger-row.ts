import { isUtf8 } from 'node:buffer';
import { isCanonicalText } from '@governance/shared/json/canonical-json';
import { checkJsonBounds } from '@governance/shared/json/strict-json';
import {
  checkRecord,
  type LedgerRecord,
  MAX_RECORD_BYTES,
  parseRecord,
} from '@governance/shared/ledger/ledger-record';

/** A row of ledger_records, as listed and streamed. */
export interface LedgerRow {
  position: number;
  type: string;
  id: string;
  agentId: string | null;
  policyResult: string | null;
  eventTime: Date;
  receivedAt: Date;
  stream: string;
  epoch: number;
  seq: number;
  hash: string;
  prevHash: string;
  bytes: Uint8Array;
  /** Whether it names an agent that the tenant never had; looked up when events are shown. */
  isAgentUnknown?: boolean;
}

/** A row as PostgreSQL gives it to raw SQL. */
export interface RawLedgerRow {
  position: bigint;
  type: string;
  id: string;
  agent_id: string | null;
  policy_result: string | null;
  event_time: Date;
  received_at: Date;
  stream: string;
  epoch: number;
  seq: bigint;
  hash: string;
  prev_hash: string;
  bytes: Uint8Array;
}

export function toLedgerRow(row: RawLedgerRow): LedgerRow {
  return {
    position: Number(row.position),
    type: row.type,
    id: row.id,
    agentId: row.agent_id,
    policyResult: row.policy_result,
    eventTime: row.event_time,
    receivedAt: row.received_at,
    stream: row.stream,
    epoch: row.epoch,
    seq: Number(row.seq),
    hash: row.hash,
    prevHash: row.prev_hash,
    bytes: row.bytes,
  };
}

/** The part of a row that links it into its chain. */
export type StoredLink = Pick<
  LedgerRow,
  'stream' | 'epoch' | 'seq' | 'hash' | 'prevHash' | 'bytes'
>;

export interface QuarantineTrial {
  /** Whether a record belongs in quarantine: it cannot be read, or cannot be stored. */
  belongsInQuarantine(tenantId: string, record: StoredLink): Promise<boolean>;
}

/** Limit for records of earlier versions, which wrote alerts of this size into the admin chain. */
const MAX_STORED_BYTES = 16 * 1024 * 1024;

/** Limits for the same records: nesting depth, and the number of values and keys. */
const STORED_BOUNDS = { maxDepth: 10_000, maxNodes: 2_000_000 };

/**
 * Reads a record with the wider limits of earlier versions: nested deeper, and with keys of any
 * length. No verifier reads such a record.
 *
 * @returns undefined where earlier versions could not read it either
 */
export function readAsEarlier(bytes: Uint8Array): LedgerRecord | undefined {
  if (bytes.byteLength > MAX_STORED_BYTES || !isUtf8(bytes)) return undefined;
  try {
    const text = Buffer.from(bytes).toString('utf8');
    checkJsonBounds(text, STORED_BOUNDS);
    const value: unknown = JSON.parse(text);
    // A text that two parsers may read differently (with a duplicate key, say) is not canonical.
    return isCanonicalText(text, value) ? checkRecord(value) : undefined;
  } catch {
    return undefined;
  }
}

/** @returns undefined when the bytes are not a record of the schema (a tampered row) */
export function readRecord(bytes: Uint8Array): LedgerRecord | undefined {
  try {
    return checkRecord(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}

/**
 * Reads a record as verifiers do, whether or not it is in quarantine here.
 *
 * @returns undefined where verifiers cannot read it
 */
export function readAsVerifiers(bytes: Uint8Array): LedgerRecord | undefined {
  if (bytes.byteLength > MAX_RECORD_BYTES) return undefined;
  try {
    return parseRecord(bytes);
  } catch {
    return undefined;
  }
}
