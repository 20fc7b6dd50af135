export type LedgerFault =
  /** The record itself cannot be chained; others are unaffected. */
  | 'record_refused'
  /** The disk is over its upper watermark, or had no room for the commit. */
  | 'full'
  /** More records are waiting than the queue may hold. */
  | 'overloaded'
  /** The stored records of the stream differ from what was chained. */
  | 'damaged'
  /** No stream was opened for the tenant. */
  | 'stream_unknown'
  | 'stopped'
  /** The disk can no longer be trusted: this process records nothing more. */
  | 'failed';

/** Why a record was not made durable. The call it belongs to is denied. */
export class LedgerError extends Error {
  readonly fault: LedgerFault;

  constructor(fault: LedgerFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LedgerError';
    this.fault = fault;
  }
}

/** Ends the message of a damage that refuses a start. */
export const WHAT_TO_DO =
  'Keep the folder as evidence and run "npm run data-plane -- register-anew" to go on with a new stream (docs/operations/ledger-and-disk.md, "When a ledger is damaged")';

/** Stored bytes differ from what was chained: the disk, or a person, changed them. */
export class LedgerDamagedError extends Error {
  override readonly name = 'LedgerDamagedError';
}
