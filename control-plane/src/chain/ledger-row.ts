import { isUtf8 } from 'node:buffer';
import { isCanonicalText } from '@governance/shared/canonical-json';
import {
  checkRecord,
  type LedgerRecord,
  MAX_RECORD_BYTES,
  parseRecord,
} from '@governance/shared/ledger-record';
import { checkJsonBounds } from '@governance/shared/strict-json';

/** A row of ledger_records, as it is listed and streamed. */
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

/** Of what earlier versions stored: they wrote alerts into the admin chain that are as large. */
const MAX_STORED_BYTES = 16 * 1024 * 1024;

/** Of the same: nesting, and values and keys. */
const STORED_BOUNDS = { maxDepth: 10_000, maxNodes: 2_000_000 };

/**
 * A record as earlier versions read it: much deeper, and with any keys. No verifier reads it.
 *
 * @returns undefined where they could not read it either
 */
export function readAsEarlier(bytes: Uint8Array): LedgerRecord | undefined {
  if (bytes.byteLength > MAX_STORED_BYTES || !isUtf8(bytes)) return undefined;
  try {
    const text = Buffer.from(bytes).toString('utf8');
    checkJsonBounds(text, STORED_BOUNDS);
    const value: unknown = JSON.parse(text);
    // A text with two readings is not its value's canonical one.
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
 * What a record says to verifiers, whatever the service made of it.
 *
 * @returns undefined where they cannot read it
 */
export function readAsVerifiers(bytes: Uint8Array): LedgerRecord | undefined {
  if (bytes.byteLength > MAX_RECORD_BYTES) return undefined;
  try {
    return parseRecord(bytes);
  } catch {
    return undefined;
  }
}
