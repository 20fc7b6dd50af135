import type { Replica, RulesProvider } from '../../contracts.ts';
import { actionOf, TOOL_CALL, targetOf } from '../call-kinds.ts';
import { type AgentCall, type ClassifiedCall, extend, proceed, type StepResult } from '../calls.ts';
import type { ToolHints } from '../tool-action.ts';
import { findAgentNow, type KillSwitchDeps } from './kill-switch.ts';

export interface ClassifyDeps {
  replica: KillSwitchDeps['replica'] & Pick<Replica, 'findAgent'>;
  findDenial: KillSwitchDeps['findDenial'];
  rules: RulesProvider;
  catalogue: {
    /** What the server says of its tool; asks the server when it was never asked. */
    findHints(
      call: AgentCall,
      rules: ReturnType<RulesProvider['findActiveRules']>,
    ): ToolHints | undefined | Promise<ToolHints | undefined>;
  };
}

/**
 * Says what the call wants to do, once and for every later step: the rules it is judged under, its
 * action and its target. Where the server had to be asked first, agent and rules are those after
 * the wait, which a server can draw out.
 */
export function classify(
  call: AgentCall,
  deps: ClassifyDeps,
): StepResult<ClassifiedCall> | Promise<StepResult<ClassifiedCall>> {
  const rules = deps.rules.findActiveRules(call.tenantId);
  const hints = call.method === TOOL_CALL ? deps.catalogue.findHints(call, rules) : undefined;
  const describe = (hinted: ToolHints | undefined) => ({
    action: actionOf(call, hinted),
    target: targetOf(call),
  });
  if (!(hints instanceof Promise)) return proceed(extend(call, { rules, ...describe(hints) }));
  return hints.then((hinted) => {
    const agent = findAgentNow(call, deps);
    if ('kind' in agent) return agent;
    const rulesNow = deps.rules.findActiveRules(call.tenantId);
    return proceed(extend(call, { agent, rules: rulesNow, ...describe(hinted) }));
  });
}
