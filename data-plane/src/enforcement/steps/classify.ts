import type { RulesProvider } from '../../contracts.ts';
import { type AgentCall, type ClassifiedCall, type Continue, proceed } from '../calls.ts';
import { deriveAction, type ToolHints } from '../tool-action.ts';
import { findTarget } from '../tool-target.ts';

export interface ClassifyDeps {
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
 * action and its target.
 */
export function classify(
  call: AgentCall,
  deps: ClassifyDeps,
): Continue<ClassifiedCall> | Promise<Continue<ClassifiedCall>> {
  const rules = deps.rules.findActiveRules(call.tenantId);
  const hints = deps.catalogue.findHints(call, rules);
  const target = findTarget(call.toolName, call.args);
  const finish = (found: ToolHints | undefined) =>
    proceed({ ...call, rules, action: deriveAction(call.toolName, found), target });
  return hints instanceof Promise ? hints.then(finish) : finish(hints);
}
