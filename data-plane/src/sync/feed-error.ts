export type FeedFault =
  /** Older, by more than is allowed for, than one that was verified before: replayed. */
  | 'statement_stale'
  /** The entries do not lead to what the control plane signed. */
  | 'digest_mismatch'
  /** Entries are missing between those that came. */
  | 'page_incomplete'
  /** The head lies before what was read. */
  | 'feed_behind'
  | 'snapshot_incomplete'
  | 'snapshot_digest'
  | 'snapshot_malformed'
  /** The control plane refuses what its own snapshot said. */
  | 'snapshot_refused_again';

/** Something of the feed that is not applied; what was known stays in force. */
export class FeedRefusedError extends Error {
  readonly code: FeedFault;

  constructor(code: FeedFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FeedRefusedError';
    this.code = code;
  }
}
