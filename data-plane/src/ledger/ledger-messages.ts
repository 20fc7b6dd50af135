/** What the main thread and the ledger's worker say to each other. */
import type { KeyObject } from 'node:crypto';
import type { BatchHeader } from '@governance/shared/audit-batch';
import type { LedgerFault } from './ledger-error.ts';

export interface LedgerWorkerData {
  path: string;
  signingKey: KeyObject;
  /** What the file may grow to; null: as much as the disk has. */
  limitBytes: number | null;
}

/**
 * The records of one tick. They cross as one JSON text, `[stream number, salt or null, record]`
 * each: copying a text costs a fraction of cloning thirty-member objects.
 */
export interface AppendMessage {
  op: 'append';
  id: number;
  count: number;
  entries: string;
}

/** Where a stream's records were stored at the control plane up to. */
export interface ShippedPosition {
  epoch: number;
  seq: number;
  head: string;
}

export type LedgerRequest =
  | { op: 'open'; tenantId: string; stream: string; writerVersion: string; timestamp: string }
  | { op: 'batch'; streamNo: number; limit: number }
  | { op: 'shipped'; streamNo: number; position: ShippedPosition }
  | { op: 'rewind'; streamNo: number; next: { epoch: number; seq: number } }
  | { op: 'prune'; streamNo: number; now: number; keepMs: number; limit: number }
  | { op: 'check'; streamNo: number; after: ShippedPosition | null; limit: number }
  | { op: 'space' }
  | { op: 'close' };

export type LedgerMessage = AppendMessage | (LedgerRequest & { id: number });

export interface OpenedStream {
  streamNo: number;
  epoch: number;
  /** Allowed decisions of earlier epochs without an outcome, now recorded as unknown. */
  outcomesUnknown: number;
  /** Records that wait to be shipped. */
  backlog: number;
}

/** Whether the stream is shipped again from an earlier place, and how many records that are. */
export type Rewound = { state: 'rewound'; backlog: number } | { state: 'gone' | 'ahead' };

/** How far a check of what was shipped came: `next` is null at its end. */
export interface Checked {
  records: number;
  next: ShippedPosition | null;
}

/** A batch ready to ship; its records lie one after the other in `bytes`. */
export interface PackedBatch {
  header: BatchHeader;
  signature: string;
  bytes: Uint8Array<ArrayBuffer>;
  lengths: number[];
}

export interface AppendedAnswer {
  op: 'appended';
  id: number;
  /** Of each record, in order: its seq, or 0 where it was refused. */
  seqs: number[];
  /** Of each record its hash, or why it was refused. */
  hashes: string[];
}

export type LedgerAnswer =
  | AppendedAnswer
  | { op: 'answer'; id: number; value: unknown }
  | { op: 'refused'; id: number; fault: LedgerFault; message: string }
  | { op: 'committed'; records: number; seconds: number; diskSeconds: number }
  | { op: 'fatal'; message: string };
