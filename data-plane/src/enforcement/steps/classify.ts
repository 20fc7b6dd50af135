import type { RulesProvider } from '../../contracts.ts';
import { actionOf, TOOL_CALL, targetOf } from '../call/call-kinds.ts';
import type { AgentCall, ClassifiedCall, StepResult } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import { asksForDryRun, operationOf, type ToolHints } from '../call/tool-action.ts';
import { type CallNowDeps, findCallNow } from '../permission/eligibility.ts';

export interface ClassifyDeps extends CallNowDeps {
  rules: RulesProvider;
  catalogue: {
    /** The hints for a tool; asks the server where its list is unknown or outdated. */
    findHints(
      call: AgentCall,
      rules: ReturnType<RulesProvider['findActiveRules']>,
    ): ToolHints | undefined | Promise<ToolHints | undefined>;
  };
}

/**
 * Determines a call's rules, action and target, once for all later steps. A server that had to be
 * asked for its tools can draw that out, so agent, workflow and rules are looked up again after it.
 */
export function classify(
  call: AgentCall,
  deps: ClassifyDeps,
): StepResult<ClassifiedCall> | Promise<StepResult<ClassifiedCall>> {
  const { ask } = call;
  const { tenantId } = call.caller;
  const rules = deps.rules.findActiveRules(tenantId);
  const hints = ask.method === TOOL_CALL ? deps.catalogue.findHints(call, rules) : undefined;
  const describe = (hinted: ToolHints | undefined) => ({
    action: actionOf(ask, hinted),
    target: targetOf(ask),
    operation: ask.method === TOOL_CALL ? operationOf(ask.name, ask.args, hinted) : undefined,
    isDryRun: asksForDryRun(ask.args, hinted),
  });
  if (!(hints instanceof Promise)) return proceed(extend(call, { rules, ...describe(hints) }));
  return hints.then((hinted) => {
    const now = findCallNow(call, deps);
    if ('kind' in now) return now;
    const rulesNow = deps.rules.findActiveRules(tenantId);
    return proceed(extend(call, { ...now, rules: rulesNow, ...describe(hinted) }));
  });
}
