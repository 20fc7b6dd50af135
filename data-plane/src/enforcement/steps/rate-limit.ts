import { DEFAULT_RATE_LIMITS } from '@governance/shared/rate-limit-settings';
import type { RulesProvider } from '../../contracts.ts';
import { isQuestion } from '../call-kinds.ts';
import type { CallRates } from '../call-rates.ts';
import type { AgentCall, Continue, Deny } from '../calls.ts';
import { proceed } from '../pipeline-builder.ts';

export interface RateLimitDeps {
  rules: Pick<RulesProvider, 'findActiveRules'>;
  rates: CallRates;
}

/**
 * Right after the kill switch: an agent that calls too often costs as little as one that must not
 * act. Every method that is judged counts; what a server asks of the agent's client does not, since
 * the agent did not choose it, and neither does a call that was counted before a person approved it.
 */
export function limitRate<C extends AgentCall>(call: C, deps: RateLimitDeps): Continue<C> | Deny {
  const { caller, agent, ask, grant } = call;
  if (grant !== undefined || isQuestion(ask.method)) return proceed(call);
  const rules = deps.rules.findActiveRules(caller.tenantId);
  const { enabled, limits } = rules?.settings.rate_limits ?? DEFAULT_RATE_LIMITS;
  if (!enabled) return proceed(call);
  const tier = agent.risk_tier;
  const limit = limits[tier];
  const retryAfter = deps.rates.take(caller.key, limit);
  if (retryAfter === null) return proceed(call);
  const { requests, window_seconds } = limit;
  return {
    kind: 'deny',
    cause: 'rate',
    message: `Rate limit exceeded: ${requests} requests in ${window_seconds} s for risk tier ${tier}. Try again in ${retryAfter} s.`,
    reasons: [],
    exceeded: { tier, requests, window_seconds, retryAfter },
  };
}
