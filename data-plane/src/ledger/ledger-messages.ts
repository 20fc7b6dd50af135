/** The messages between the ledger's threads. */
import type { KeyObject } from 'node:crypto';
import { BATCH_LIMITS } from '@governance/shared/channel/channel-routes';
import type { BatchHeader } from '@governance/shared/ledger/audit-batch';
import type { ChainPosition } from '@governance/shared/ledger/hash-chain';

/** Bytes of the records of one batch, at most. */
export const MAX_BATCH_BYTES = BATCH_LIMITS.bytes / 2;

export interface LedgerWorkerData {
  path: string;
  signingKey: KeyObject;
  /** Size limit of the file; null: as much as the disk has. */
  limitBytes: number | null;
}

/** The last record of a stream that is stored at the control plane. */
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
 * The answer to a request to ship again from an earlier position: `rewound`, with the number of
 * records to ship; `gone`, when they are no longer kept; `ahead`, when it was not shipped that far.
 */
export type Rewound = { state: 'rewound'; backlog: number } | { state: 'gone' | 'ahead' };

/** Progress of checking shipped records: `next` is null at the end. */
export interface Checked {
  records: number;
  next: ShippedPosition | null;
}

/** A signed batch; its records lie one after the other in `bytes`, with their lengths beside. */
export interface PackedBatch {
  header: BatchHeader;
  signature: string;
  bytes: Uint8Array<ArrayBuffer>;
  lengths: number[];
}
