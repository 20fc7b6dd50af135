import { RPC_ERRORS } from '@governance/shared/errors';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type Answer, isRefusal } from '../enforcement/call/answer.ts';
import type { Caller, Deny } from '../enforcement/call/calls.ts';
import type { Enforcer } from '../enforcement/enforcer.ts';
import {
  type AnswerLimits,
  deniedByPolicy,
  failedAnswer,
  internalRefusal,
} from '../enforcement/record/refusals.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import { UpstreamFailure } from '../upstream/upstream.ts';
import { sendError } from './answer.ts';
import { GatewayError, parseBody, readMessage } from './json-rpc.ts';
import { isKnownMethod, routeRefused } from './router.ts';

/** The error that a client sees for a request that threw; internals go to the log only. */
export type AnswerFailure = (error: unknown, caller: Caller, method: string) => Promise<Answer>;

/**
 * Builds it. An agent that may not act, or no longer after a wait, gets that refusal whatever was
 * thrown: it learns neither what is wrong with its request nor what a server said.
 */
export function createFailures(deps: {
  enforcer: Pick<Enforcer, 'call'>;
  door: Pick<Door, 'findIneligibility'>;
  limits: AnswerLimits;
  log: Pick<Logger, 'error'>;
}): AnswerFailure {
  return async (error, caller, method) => {
    const ineligible = deps.door.findIneligibility(caller);
    if (ineligible !== undefined) {
      return answerIneligible(deps.enforcer, caller, ineligible, method);
    }
    if (isRefusal(error)) return error;
    if (error instanceof UpstreamFailure) return failedAnswer(error, null, deps.limits);
    deps.log.error({ err: error, reqId: caller.requestId }, 'a request failed');
    return internalRefusal('Internal error');
  };
}

/**
 * The error for a request whose agent may not act. Where this data plane lets nobody act, that is
 * no 401: the client's credentials are good, and it must keep them.
 *
 * @param status where it is the data plane: 200 for the answer to a JSON-RPC request
 */
export function ineligibleError(deny: Deny, status: 200 | 403 = 200): GatewayError {
  if (deny.cause !== 'plane') {
    const { message, challenge = 'bearer' } = deny;
    return new GatewayError(401, message, RPC_ERRORS.UNAUTHORIZED, challenge);
  }
  const { message, code, data } = deniedByPolicy(
    deny.message,
    deny.planeReason && { reason: deny.planeReason },
  );
  return new GatewayError(status, message, code, undefined, data);
}

/**
 * Answers a request that was not judged and whose agent may not act, and records it. Where the data
 * plane denies all calls, only calls are recorded.
 */
async function answerIneligible(
  enforcer: Pick<Enforcer, 'call'>,
  caller: Caller,
  ineligible: Deny,
  method: string,
): Promise<Answer> {
  if (ineligible.cause !== 'plane' && isKnownMethod(method)) {
    const { ask, destination } = routeRefused(caller, method);
    await enforcer.call(caller, ask, destination);
  }
  return ineligibleError(ineligible);
}

/**
 * Answers a caller of whom only the token is known, since this data plane denies all calls and
 * receives no facts about agents any more: nothing is done, and there is no agent to record it for.
 *
 * @param maxNodes values and keys of a message, at most
 */
export function answerDenied(
  denial: Deny,
  request: FastifyRequest,
  reply: FastifyReply,
  maxNodes: number,
): void {
  if (request.method !== 'POST') throw ineligibleError(denial, 403);
  const message = readMessage(parseBody(request.body, maxNodes));
  if (message.kind === 'notification' || message.kind === 'response') {
    reply.code(202).send();
    return;
  }
  const error = ineligibleError(denial);
  sendError(reply, error.status, message.id, error);
}
