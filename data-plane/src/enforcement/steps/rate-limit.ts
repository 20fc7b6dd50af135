import { isQuestion } from '@governance/shared/mcp/server-questions';
import { DEFAULT_RATE_LIMITS } from '@governance/shared/settings/rate-limit-settings';
import type { RulesProvider } from '../../contracts.ts';
import type { AgentCall, Continue, Deny, ExceededLimit } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import type { CallRates } from '../permission/call-rates.ts';

export interface RateLimitDeps {
  rules: Pick<RulesProvider, 'findActiveRules'>;
  rates: CallRates;
}

/**
 * Denies calls of an agent that exceeds its rate limit. Right after the kill switch, so that such a
 * call costs as little as one of a suspended agent. Every judged method counts, except a server's
 * question to the agent's client, which the agent did not cause, and a call that is judged again
 * after an approval.
 */
export function limitRate<C extends AgentCall>(call: C, deps: RateLimitDeps): Continue<C> | Deny {
  return findExcess(call, deps) ?? proceed(call);
}

/**
 * Counts a denied call of an agent that may not act. Denied calls count like allowed ones: beyond
 * the limit they are only counted, not recorded one by one, so that such an agent cannot fill the
 * ledger either.
 */
export function countDenied(call: AgentCall, denial: Deny, deps: RateLimitDeps): Deny {
  if (call.grant !== undefined || isQuestion(call.ask.method)) return denial;
  const exceeded = takeOne(call, deps);
  return exceeded === undefined ? denial : { ...denial, exceeded };
}

/** Counts a request of an agent. @returns the denial where the agent exceeds its limit */
export function findExcess(
  call: Pick<AgentCall, 'caller' | 'agent'> & Partial<Pick<AgentCall, 'ask' | 'grant'>>,
  deps: RateLimitDeps,
): Deny | undefined {
  const { ask, grant } = call;
  if (grant !== undefined || (ask !== undefined && isQuestion(ask.method))) return undefined;
  const exceeded = takeOne(call, deps);
  if (exceeded === undefined) return undefined;
  const { requests, window_seconds, tier, retryAfter } = exceeded;
  return {
    kind: 'deny',
    cause: 'rate',
    message: `Rate limit exceeded: ${requests} requests in ${window_seconds} s for risk tier ${tier}. Try again in ${retryAfter} s.`,
    reasons: [],
    exceeded,
  };
}

function takeOne(
  { caller, agent }: Pick<AgentCall, 'caller' | 'agent'>,
  { rules, rates }: RateLimitDeps,
): ExceededLimit | undefined {
  const active = rules.findActiveRules(caller.tenantId);
  const { enabled, limits } = active?.settings.rate_limits ?? DEFAULT_RATE_LIMITS;
  if (!enabled) return undefined;
  const tier = agent.risk_tier;
  const limit = limits[tier];
  const retryAfter = rates.take(caller.key, limit);
  return retryAfter === null ? undefined : { ...limit, tier, retryAfter };
}
