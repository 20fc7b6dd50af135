/**
 * The gateway's own answers. They reveal neither where a server is nor the internals of its
 * failure.
 */
import { formatReasons } from '@governance/policies/contract';
import { RPC_ERRORS } from '@governance/shared/errors';
import { LOOP_MESSAGE } from '../../upstream/hops.ts';
import {
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamFailureKind,
} from '../../upstream/upstream.ts';
import type { Cancelled, Refusal } from '../call/answer.ts';
import type { Deny } from '../call/calls.ts';
import type { CallJudgement } from './audit.ts';

/** For messages that name a limit. */
export interface AnswerLimits {
  timeoutMs: number;
  messageBytes: number;
}

/** A result made by the gateway itself. */
export function resultOf(value: Record<string, unknown>): UpstreamAnswer {
  return { kind: 'result', raw: JSON.stringify(value), value };
}

/** A refusal that is an ordinary JSON-RPC error. */
function rpcRefusal(code: number, message: string, data?: Record<string, unknown>): Refusal {
  return { kind: 'refusal', status: 200, code, message, data };
}

/** A refusal with the gateway's code for its own failures. */
export function internalRefusal(message: string, data?: Record<string, unknown>): Refusal {
  return rpcRefusal(RPC_ERRORS.INTERNAL, message, data);
}

/** The answer for an escalated call, whether or not a person has decided. */
export function escalatedRefusal(message: string, data: Record<string, unknown>): Refusal {
  return rpcRefusal(RPC_ERRORS.ESCALATED, message, data);
}

/**
 * The only source of -32003. The message begins with the same words whether a policy denies, or
 * this data plane denies all calls of the tenant (`data.reason` distinguishes them).
 */
export function deniedByPolicy(message: string, data?: Record<string, unknown>): Refusal {
  return rpcRefusal(RPC_ERRORS.POLICY_DENIED, `Denied by policy: ${message}`, data);
}

/** The answer for a call that was not allowed. */
export function refusalOf(judgement: CallJudgement): Refusal {
  const { call } = judgement;
  switch (judgement.verdict) {
    case 'deny': {
      // Without an authenticated agent there is no record, and so no event.
      const { deny } = judgement;
      const isEvent = call.agent !== undefined && deny.exceeded === undefined;
      return deniedAnswer(deny, isEvent ? call.id : null);
    }
    case 'escalate': {
      const { reasons } = judgement.escalate;
      const message = `Escalated: ${formatReasons(reasons)}. The call was not forwarded.`;
      return escalatedRefusal(message, { resolution: 'denied', event_id: call.id, reasons });
    }
    case 'allow':
      // Allowed, but not confirmed by the ledger: never forwarded.
      return internalRefusal('The call was not recorded, so it was not forwarded.');
  }
}

/** The answer for a denied call. @param eventId of the decision; null where none is recorded */
export function deniedAnswer(deny: Deny, eventId: string | null): Refusal {
  const { message } = deny;
  const data = { event_id: eventId };
  switch (deny.cause) {
    case 'unauthenticated':
    case 'ineligible':
      return unauthorized(message, deny.challenge);
    case 'arguments':
      return rpcRefusal(RPC_ERRORS.INVALID_PARAMS, message, data);
    case 'loop':
      return internalRefusal(message, { ...data, failure: 'loop' });
    case 'rate': {
      // No event: calls over the rate limit are counted, not recorded one by one.
      const retryAfter = { retry_after: deny.exceeded?.retryAfter ?? 1 };
      return rpcRefusal(RPC_ERRORS.RATE_LIMITED, message, retryAfter);
    }
    case 'policy':
    case 'plane':
      return deniedByPolicy(message, {
        ...data,
        reasons: deny.reasons,
        ...(deny.planeReason && { reason: deny.planeReason }),
        ...(deny.neededPermission && { needed_permission: deny.neededPermission }),
      });
  }
}

/** A refusal that asks the client to authenticate. */
export function unauthorized(message: string, challenge?: 'basic' | 'bearer'): Refusal {
  return { kind: 'refusal', status: 401, code: RPC_ERRORS.UNAUTHORIZED, message, challenge };
}

/**
 * The answer for a call that a server, or another destination, did not answer.
 *
 * @param eventId of the call's decision; null where nothing was decided
 */
export function failedAnswer(
  failure: UpstreamFailure,
  eventId: string | null,
  limits: AnswerLimits,
): Refusal | Cancelled {
  const { kind, message } = failure;
  const data = { ...(eventId !== null && { event_id: eventId }), failure: kind };
  switch (kind) {
    case 'cancelled':
      return { kind: 'cancelled', failure };
    case 'ineligible':
      return { ...unauthorized(message, 'bearer'), failure };
    case 'unsupported':
      return { ...rpcRefusal(RPC_ERRORS.METHOD_NOT_FOUND, message, data), failure };
    default:
      return { ...internalRefusal(failureMessage(kind, message, limits), data), failure };
  }
}

function failureMessage(
  kind: Exclude<UpstreamFailureKind, 'cancelled' | 'ineligible' | 'unsupported'>,
  message: string,
  limits: AnswerLimits,
): string {
  switch (kind) {
    case 'timeout':
      return `The MCP server did not answer within ${limits.timeoutMs / 1000} s.`;
    case 'too_large':
      // It may also have too many values, or be a stream of too many messages.
      return `The answer is too large (more than ${limits.messageBytes} bytes, or too many values) and was blocked.`;
    case 'malformed':
      return 'The MCP server gave an answer that is not valid MCP.';
    case 'refused':
      // Which of them, and why, only administrators may read: addresses and names are the operator's.
      return 'The MCP server refused the gateway, or the gateway may not use it: administrators see why in its health.';
    case 'busy':
    case 'no_room':
      // The message names what is used up.
      return message;
    case 'loop':
      return LOOP_MESSAGE;
    case 'unreachable':
      return 'The MCP server cannot be reached.';
  }
}

/**
 * Maps a thrown value to a failure.
 *
 * @param isCancelled whether the client cancelled. If it did not, it still expects an answer, even
 *   where the call was cancelled elsewhere
 */
export function failureOf(error: unknown, isCancelled: boolean): UpstreamFailure {
  if (error instanceof UpstreamFailure) {
    const isDue = error.kind === 'cancelled' && !isCancelled;
    return isDue ? new UpstreamFailure('unreachable', error.message) : error;
  }
  return new UpstreamFailure('malformed', error instanceof Error ? error.message : 'unknown');
}
