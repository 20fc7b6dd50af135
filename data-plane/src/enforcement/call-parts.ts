/**
 * Publishes to subscribers (the bench, SERVICE_DEBUG) which stage a call has passed. Without
 * subscribers each stage costs one check. A subscriber must not throw.
 */
import { channel } from 'node:diagnostics_channel';
import type { RawCall } from './calls.ts';

/** A step of the pipeline by its name, or one of these stages. */
export type CallPart =
  | 'received'
  | 'record-handed-over'
  | 'record-durable'
  | 'sent-upstream'
  | 'upstream-answered'
  | 'outcome-handed-over'
  | (string & {});

export interface PassedPart {
  readonly call: RawCall;
  readonly part: CallPart;
}

/** `node:diagnostics_channel` of that name; its messages are `PassedPart`. */
export const CALL_PARTS = 'agent-governance:call-part';

const parts = channel(CALL_PARTS);

/** Publishes that a call has passed a stage. */
export function tellPart(call: RawCall, part: CallPart): void {
  if (parts.hasSubscribers) parts.publish({ call, part } satisfies PassedPart);
}

/** The publisher of a pipeline's steps; undefined without subscribers. */
export function stepTeller(): ((call: RawCall, step: string) => void) | undefined {
  return parts.hasSubscribers ? tellPart : undefined;
}
