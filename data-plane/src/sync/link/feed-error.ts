import { CodedError } from '@governance/shared/coded-error';

/** Why feed data is refused, in addition to faults of a statement's signature. */
const FEED_FAULTS = [
  // A statement came without its signature, or none came.
  'statement_stripped',
  // The answer is for another data plane of the tenant.
  'statement_wrong_deployment',
  // Older, beyond the tolerance, than one that was verified before: replayed.
  'statement_stale',
  // The entries do not lead to the signed digest.
  'digest_mismatch',
  // Entries in between are missing.
  'page_incomplete',
  // The head is behind what was read.
  'feed_behind',
  'snapshot_incomplete',
  'snapshot_digest',
  'snapshot_malformed',
  'snapshot_too_large',
  // The control plane refuses to continue from its own snapshot.
  'snapshot_refused_again',
] as const;
export type FeedFault = (typeof FEED_FAULTS)[number];

/** Every code of a refusal on the feed; docs/errors.md says what each means (refusals.test.ts). */
export const FEED_REFUSALS = [
  'statement_unsigned',
  'statement_unknown_key',
  'statement_bad_signature',
  'statement_wrong_tenant',
  ...FEED_FAULTS,
  'answer_malformed',
  'answer_too_large',
] as const;

/** Feed data that is not applied; what was known stays in force. */
export class FeedRefusedError extends CodedError<FeedFault> {}
