import { coversTool, resourcesOf } from '@governance/shared/delegation-scope';
import { isList } from '../call-kinds.ts';
import type { ClassifiedCall, Continue, DelegationLink, Deny } from '../calls.ts';
import { findLackingPermission, permissionsFor } from '../grants.ts';
import { proceed } from '../pipeline-builder.ts';
import type { WorkflowAlerts } from '../workflow-alerts.ts';
import { denied } from '../workflow-standing.ts';

export interface ScopeProbeDeps {
  workflowAlerts: Pick<WorkflowAlerts, 'scopeProbe'>;
}

/**
 * Step 4c: a delegated call has to lie within each scope of its chain, and each delegator has to be
 * permitted it now. So nobody passes on what they may not do themselves, and what the agent's own
 * roles permit is asked by policy all the same. Calls outside of a scope are counted. Proven by
 * scope-probe.test.ts (what passes is permitted to every delegator of the chain).
 */
export function countScopeProbes<C extends ClassifiedCall>(
  call: C,
  deps: ScopeProbeDeps,
): Continue<C> | Deny {
  const { delegation, ask } = call;
  // A list shows and does nothing.
  if (delegation === undefined || isList(ask.method)) return proceed(call);
  const outside = delegation.links.find((link) => !isInScope(call, link));
  if (outside !== undefined) {
    const probe = { action: call.action, outside_of: outside.delegation.id };
    deps.workflowAlerts.scopeProbe(call, delegation.held.id, probe);
    return denied('the delegation does not cover this call');
  }
  const isPermitted = delegation.links.every(
    ({ delegator }) => findLackingPermission(delegator, call) === undefined,
  );
  return isPermitted ? proceed(call) : denied('a delegator may not do this itself');
}

function isInScope({ ask }: ClassifiedCall, { delegation }: DelegationLink): boolean {
  if (!coversTool(delegation, ask.serverId, ask.name)) return false;
  const scopes = resourcesOf(delegation);
  if (scopes === null) return true;
  return scopes !== 'none' && permissionsFor([{ permissions: ['*'], scopes }], ask).length > 0;
}
