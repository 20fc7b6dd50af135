import { LOCAL_MODELS, neededForModels } from '@governance/shared/mcp/local-models';
import { coversTool } from '@governance/shared/tokens/delegation-scope';
import { ACTIONS, coversCall } from '@governance/shared/tokens/permission';
import { isList } from '../call/call-kinds.ts';
import type { ClassifiedCall, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { denied } from '../permission/eligibility.ts';
import { serversOf } from '../permission/permits.ts';

/**
 * Denies calls that an agent may not make in its workflow, a limit in addition to its roles. Runs
 * directly after `classify`, which determines the action. Lists pass, since they only show tools.
 */
export function checkWorkflowActions<C extends ClassifiedCall>(call: C): Continue<C> | Deny {
  const { workflow } = call;
  if (workflow === undefined || isList(call.ask.method)) return proceed(call);
  const isAllowed = (allowed: readonly string[]) =>
    allowed.some((entry) => allowsCall(entry, call)) || permitsModels(allowed, call);
  if (workflow.allowedActions !== null && !isAllowed(workflow.allowedActions)) {
    return denied('the agent may not do this in its workflow');
  }
  // A delegator cannot delegate what it may not do in the workflow itself.
  if (workflow.delegatorsActions.every(isAllowed)) return proceed(call);
  return denied('a delegator may not do this in the workflow');
}

/** @param entry an action, `*`, a permission like `files:read`, or a server or tool */
function allowsCall(entry: string, { ask, action, rules }: ClassifiedCall): boolean {
  if (ACTIONS.includes(entry)) return entry === action;
  const { serverId, name } = ask;
  const servers = serversOf(rules);
  return (
    coversCall(entry, serverId, name, action, servers) ||
    coversTool({ tools: [entry] }, serverId, name, servers)
  );
}

/** Calls to local models are judged by permissions for `web`, and may be allowed by the same. */
function permitsModels(
  allowed: readonly string[],
  { ask, action, rules }: ClassifiedCall,
): boolean {
  if (ask.serverId !== LOCAL_MODELS.serverId) return false;
  const servers = serversOf(rules);
  return neededForModels(action).every((need) =>
    allowed.some((entry) => coversCall(entry, need.serverId, ask.name, need.action, servers)),
  );
}
