/** What the ledger's parts tell each other. */
import type { KeyObject } from 'node:crypto';
import type { BatchHeader } from '@governance/shared/audit-batch';
import type { ChainPosition } from '@governance/shared/hash-chain';

export interface LedgerWorkerData {
  path: string;
  signingKey: KeyObject;
  /** What the file may grow to; null: as much as the disk has. */
  limitBytes: number | null;
}

/** Where a stream's records were stored at the control plane up to. */
export type ShippedPosition = ChainPosition;

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
