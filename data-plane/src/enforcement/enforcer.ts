/**
 * What the gateway does with a tool call: judge, record, forward. Nothing reaches a tool except
 * through `call`. An error on the way is never permission.
 */

import { RPC_ERRORS } from '@governance/shared/errors';
import type { Logger } from 'pino';
import type { Ledger } from '../contracts.ts';
import { LOOP_MESSAGE } from '../upstream/hops.ts';
import type { UpstreamFailureKind } from '../upstream/upstream.ts';
import { type AuditDeps, type CallJudgement, recordDecision } from './audit.ts';
import type { CallObserver } from './call-observer.ts';
import type { RawCall } from './calls.ts';
import { createDecisionLog } from './decision-log.ts';
import { deniedByPolicy, ownErrorOf } from './denied.ts';
import { type ForwardDeps, type ForwardExchange, type Forwarded, forward } from './forward.ts';
import { enforcement, type StepDeps } from './pipeline.ts';
import { formatReasons } from './steps/policy.ts';

/** What the agent gets. `status` is the HTTP status where the answer stands alone. */
export type CallAnswer =
  /** `value` is what `raw` says, parsed. */
  | { readonly kind: 'result'; readonly raw: string; readonly value: unknown }
  | { readonly kind: 'upstream-error'; readonly raw: string }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly code: number;
      readonly message: string;
      readonly data?: Record<string, unknown>;
      readonly challenge?: 'basic' | 'bearer';
    }
  | { readonly kind: 'cancelled' };

export type Verdict = CallJudgement['verdict'] | 'unauthenticated' | 'unrecorded';

export interface EnforcerDeps {
  steps: StepDeps;
  audit: AuditDeps;
  forward: ForwardDeps;
  ledger: Ledger;
  log: Pick<Logger, 'error' | 'warn' | 'debug' | 'isLevelEnabled'>;
  /** `tenantId` is null where nobody was proven to call. */
  onVerdict(verdict: Verdict, ms: number, tenantId: string | null): void;
  /** For the messages that name a limit. */
  limits: { timeoutMs: number; messageBytes: number };
  observe?: CallObserver | undefined;
}

export interface Enforcer {
  /** Never throws. */
  call(call: RawCall, exchange: ForwardExchange): Promise<CallAnswer>;
}

/** Builds the enforcer. */
export function createEnforcer(deps: EnforcerDeps): Enforcer {
  const decisions = createDecisionLog(deps.log, deps.audit.elapsed, deps.observe);
  const observe = decisions?.observe ?? deps.observe;
  return {
    async call(call, exchange) {
      observe?.(call, 'received');
      // No record, no call: the specification's fail-closed, before any work is spent.
      const condition = deps.ledger.condition();
      if (condition === 'full' || condition === 'failed') {
        decisions?.forget(call);
        return unrecorded(deps, call, `the ledger is ${condition}`);
      }
      const judgement = await enforcement.run(call, deps.steps, observe);
      if (judgement.verdict === 'deny' && judgement.error !== undefined) {
        const { step, error } = judgement;
        deps.log.error({ ...about(call), err: error, step }, 'an enforcement step threw');
      }
      let allowed: Awaited<ReturnType<typeof recordDecision>>;
      try {
        allowed = await recordDecision(judgement, deps.audit);
      } catch (error) {
        return unrecorded(deps, call, 'the ledger did not take the record', error);
      } finally {
        decisions?.judged(judgement);
      }
      const ms = deps.audit.elapsed() - call.arrivedAt;
      if (allowed !== null) {
        deps.onVerdict('allow', ms, allowed.call.tenantId);
        return forwardedAnswer(call, await forward(allowed, exchange, deps.forward), deps);
      }
      const { tenantId } = judgement.call;
      if (tenantId === undefined) deps.onVerdict('unauthenticated', ms, null);
      else deps.onVerdict(judgement.verdict, ms, tenantId);
      return refusal(judgement);
    },
  };
}

function unrecorded(deps: EnforcerDeps, call: RawCall, why: string, error?: unknown): CallAnswer {
  deps.log.error({ ...about(call), err: error, why }, 'a call was refused unrecorded');
  deps.onVerdict('unrecorded', deps.audit.elapsed() - call.arrivedAt, null);
  return {
    kind: 'error',
    status: 200,
    code: RPC_ERRORS.INTERNAL,
    message: 'The call cannot be recorded now, so it was not forwarded.',
  };
}

/** What every log line of a call says. */
function about(call: RawCall) {
  return { reqId: call.requestId, event_id: call.id, server: call.serverId };
}

function refusal(judgement: CallJudgement): CallAnswer {
  switch (judgement.verdict) {
    case 'deny': {
      const { call, deny } = judgement;
      if (deny.cause === 'unauthenticated' || deny.cause === 'barred') {
        const { message, challenge } = deny;
        return { kind: 'error', status: 401, code: RPC_ERRORS.UNAUTHORIZED, message, challenge };
      }
      if (deny.cause === 'arguments') {
        const code = RPC_ERRORS.INVALID_PARAMS;
        const data = { event_id: call.id };
        return { kind: 'error', status: 200, code, message: deny.message, data };
      }
      if (deny.cause === 'loop') {
        const data = { event_id: call.id, failure: 'loop' };
        const code = RPC_ERRORS.INTERNAL;
        return { kind: 'error', status: 200, code, message: deny.message, data };
      }
      // A failed first step leaves no event: there is nobody to record it for.
      const eventId = call.agent === undefined ? null : call.id;
      return {
        kind: 'error',
        status: 200,
        ...deniedByPolicy(deny.message, {
          event_id: eventId,
          reasons: deny.reasons,
          ...(deny.planeReason && { reason: deny.planeReason }),
          ...(deny.neededPermission && { needed_permission: deny.neededPermission }),
        }),
      };
    }
    case 'escalate': {
      const { call, escalate } = judgement;
      return {
        kind: 'error',
        status: 200,
        code: RPC_ERRORS.ESCALATED,
        message: `Escalated: ${formatReasons(escalate.reasons)}. The call was not forwarded.`,
        // Nobody can be asked yet, so what needs a person's consent does not happen.
        data: { resolution: 'denied', event_id: call.id, reasons: escalate.reasons },
      };
    }
    case 'allow':
      // Allowed and yet not granted by the audit: never forwarded.
      return {
        kind: 'error',
        status: 200,
        code: RPC_ERRORS.INTERNAL,
        message: 'The call was not recorded, so it was not forwarded.',
      };
  }
}

function forwardedAnswer(call: RawCall, forwarded: Forwarded, deps: EnforcerDeps): CallAnswer {
  if (forwarded.kind === 'answer') {
    const { kind, raw, value } = forwarded.answer;
    if (kind === 'result') return { kind, raw, value };
    // What a client answers to a server is the client's own.
    const isOfServer = call.recipient === undefined;
    return { kind: 'upstream-error', raw: isOfServer ? ownErrorOf(raw, value) : raw };
  }
  const { failure, detail } = forwarded;
  if (failure === 'cancelled') return { kind: 'cancelled' };
  if (failure === 'barred') {
    const code = RPC_ERRORS.UNAUTHORIZED;
    return { kind: 'error', status: 401, code, message: detail, challenge: 'bearer' };
  }
  // Who is refused as busy asks often: the record says so, and the log is no place for each.
  if (failure !== 'busy') deps.log.warn({ ...about(call), failure, detail }, 'no upstream answer');
  if (failure === 'unsupported') {
    const data = { event_id: call.id, failure };
    return { kind: 'error', status: 200, code: RPC_ERRORS.METHOD_NOT_FOUND, message: detail, data };
  }
  return {
    kind: 'error',
    status: 200,
    code: RPC_ERRORS.INTERNAL,
    message: failure === 'busy' ? detail : failureMessage(failure, deps.limits),
    data: { event_id: call.id, failure },
  };
}

/** What an agent is told when there is no answer; where the server is stays inside. */
export function failureMessage(
  failure: UpstreamFailureKind,
  limits: { timeoutMs: number; messageBytes: number },
): string {
  switch (failure) {
    case 'timeout':
      return `The MCP server did not answer within ${limits.timeoutMs / 1000} s.`;
    case 'too_large':
      return `The answer is larger than ${limits.messageBytes} bytes and was blocked.`;
    case 'malformed':
      return 'The MCP server gave an answer that is not valid MCP.';
    case 'refused':
      return 'The MCP server refused the gateway.';
    case 'cancelled':
      return 'The call was cancelled.';
    case 'unsupported':
      return 'The revision of MCP that the server speaks has no such thing.';
    case 'busy':
      return 'Busy: too many requests are under way. Try again later.';
    case 'loop':
      return LOOP_MESSAGE;
    case 'barred':
      return 'Unauthorized: the agent may not act any more.';
    case 'unreachable':
      return 'The MCP server cannot be reached.';
  }
}
