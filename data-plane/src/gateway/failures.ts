import { RPC_ERRORS } from '@governance/shared/errors';
import type { Logger } from 'pino';
import { type CallAnswer, failureMessage } from '../enforcement/enforcer.ts';
import { UpstreamFailure, type UpstreamLimits } from '../upstream/upstream.ts';
import { GatewayError } from './json-rpc.ts';

/** What a client is told of a request that threw; what it must not know goes to the log. */
export type AnswerFailure = (error: unknown, requestId: string) => CallAnswer;

/** Builds it. */
export function createFailures(deps: {
  limits: UpstreamLimits;
  log: Pick<Logger, 'error'>;
}): AnswerFailure {
  return (error, requestId) => {
    if (error instanceof GatewayError) {
      const { status, code, message, challenge, data } = error;
      const more = { ...(data && { data }), ...(challenge && { challenge }) };
      return { kind: 'error', status, code, message, ...more };
    }
    if (error instanceof UpstreamFailure) {
      const { kind } = error;
      const isNamed = kind === 'unsupported' || kind === 'busy';
      const message = isNamed ? error.message : failureMessage(kind, deps.limits);
      const code = kind === 'unsupported' ? RPC_ERRORS.METHOD_NOT_FOUND : RPC_ERRORS.INTERNAL;
      // The gateway before this one knows it by that, and says the same.
      const data = kind === 'loop' ? { data: { failure: kind } } : {};
      return { kind: 'error', status: 200, code, message, ...data };
    }
    deps.log.error({ err: error, reqId: requestId }, 'a request failed');
    return { kind: 'error', status: 200, code: RPC_ERRORS.INTERNAL, message: 'Internal error' };
  };
}
