import { DEFAULT_RATE_LIMITS } from '@governance/shared/rate-limit-settings';
import type { RulesProvider } from '../../contracts.ts';
import { isQuestion } from '../call-kinds.ts';
import type { CallRates } from '../call-rates.ts';
import type { AgentCall, Continue, Deny, ExceededLimit } from '../calls.ts';
import { proceed } from '../pipeline-builder.ts';

export interface RateLimitDeps {
  rules: Pick<RulesProvider, 'findActiveRules'>;
  rates: CallRates;
}

/**
 * Right after the kill switch: an agent that calls too often costs as little as one that must not
 * act. Every judged method counts; a server's question to the agent's client does not, since the
 * agent did not choose it, and neither does a call that was counted before a person approved it.
 */
export function limitRate<C extends AgentCall>(call: C, deps: RateLimitDeps): Continue<C> | Deny {
  return findExcess(call, deps) ?? proceed(call);
}

/**
 * The denial of an agent that may not act at all. It counts like an allowed call, so that calls
 * beyond the limit are counted and not recorded one by one: a barred agent must not fill the ledger
 * either.
 */
export function countDenied(call: AgentCall, denial: Deny, deps: RateLimitDeps): Deny {
  if (call.grant !== undefined || isQuestion(call.ask.method)) return denial;
  const exceeded = takeOne(call, deps);
  return exceeded === undefined ? denial : { ...denial, exceeded };
}

/** Counts a request of an agent, and denies it if there were too many. */
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
