/**
 * Publishes to subscribers (the bench, SERVICE_DEBUG) which stage a call has passed. Without
 * subscribers each stage costs one check. A subscriber must not throw.
 */
import { channel } from 'node:diagnostics_channel';
import type { RawCall } from './calls.ts';

/** A step of the pipeline by its name, or one of these stages. */
export type CallStage =
  | 'received'
  | 'record-handed-over'
  | 'record-durable'
  | 'sent-upstream'
  | 'upstream-answered'
  | 'outcome-handed-over'
  | (string & {});

export interface PassedStage {
  readonly call: RawCall;
  readonly stage: CallStage;
}

/** `node:diagnostics_channel` of that name; its messages are `PassedStage`. */
export const CALL_STAGES = 'agent-governance:call-stage';

const stages = channel(CALL_STAGES);

/** Publishes that a call has passed a stage. */
export function publishStage(call: RawCall, stage: CallStage): void {
  if (stages.hasSubscribers) stages.publish({ call, stage } satisfies PassedStage);
}

/** The publisher of a pipeline's steps; undefined without subscribers. */
export function stepPublisher(): ((call: RawCall, step: string) => void) | undefined {
  return stages.hasSubscribers ? publishStage : undefined;
}
