import { isTooFar, LOOP_MESSAGE } from '../../upstream/hops.ts';
import type { AgentCall, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';

/** Denies a call that has passed too many gateways, since it may loop until all are busy. */
export function checkHops<C extends AgentCall>(call: C): Continue<C> | Deny {
  if (!isTooFar(call.caller)) return proceed(call);
  return { kind: 'deny', cause: 'loop', message: LOOP_MESSAGE, reasons: [] };
}
