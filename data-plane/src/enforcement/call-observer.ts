import type { RawCall } from './calls.ts';

/** What a call has just come through: a step of the pipeline by its name, or one of these. */
export type CallPart =
  | 'received'
  | 'record-handed-over'
  | 'record-durable'
  | 'sent-upstream'
  | 'upstream-answered'
  | 'outcome-handed-over'
  | (string & {});

/**
 * Told of each part that a call has come through, as the bench is, which measures where the time
 * goes. Production gives none, and then each part costs the test for it. Must not throw.
 */
export type CallObserver = (call: RawCall, part: CallPart) => void;
