/** The messages between the ledger's threads. */
import type { KeyObject } from 'node:crypto';
import type { BatchHeader } from '@governance/shared/audit-batch';
import type { ChainPosition } from '@governance/shared/hash-chain';

export interface LedgerWorkerData {
  path: string;
  signingKey: KeyObject;
  /** Size limit of the file; null: as much as the disk has. */
  limitBytes: number | null;
}

/** Up to where a stream's records were stored at the control plane. */
export type ShippedPosition = ChainPosition;

export interface OpenedStream {
  streamNo: number;
  epoch: number;
  /** Allowed decisions of earlier epochs without an outcome, now recorded as unknown. */
  outcomesUnknown: number;
  /** Records that wait to be shipped. */
  backlog: number;
}

/**
 * Whether the stream is shipped again from an earlier position, and how many records that affects.
 */
export type Rewound = { state: 'rewound'; backlog: number } | { state: 'gone' | 'ahead' };

/** Progress of checking shipped records: `next` is null at the end. */
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
