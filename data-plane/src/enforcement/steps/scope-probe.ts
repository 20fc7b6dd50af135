import {
  coversTool,
  DELEGATOR_LACKS,
  resourcesOf,
} from '@governance/shared/tokens/delegation-scope';
import { isList } from '../call/call-kinds.ts';
import type { ClassifiedCall, Continue, DelegationLink, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { denied } from '../permission/eligibility.ts';
import { findLackingPermission, permissionsFor, serversOf } from '../permission/permits.ts';

/**
 * Step 4c: a delegated call has to be within the scope of every delegation of its chain, and every
 * delegator has to be permitted the call now, so that no delegator passes on what it may not do
 * itself. Policy still judges the agent's own roles. The control plane counts calls outside a
 * scope, over all data planes, from their records. Proven by scope-probe.test.ts (what passes is
 * permitted to every delegator of the chain).
 */
export function checkDelegatedScope<C extends ClassifiedCall>(call: C): Continue<C> | Deny {
  const { delegation, ask } = call;
  // A list only shows tools and does nothing.
  if (delegation === undefined || isList(ask.method)) return proceed(call);
  if (!delegation.links.every((link) => isInScope(call, link))) {
    return denied('the delegation does not cover this call');
  }
  const isPermitted = delegation.links.every(
    ({ delegator }) => findLackingPermission(delegator, call) === undefined,
  );
  return isPermitted ? proceed(call) : denied(DELEGATOR_LACKS);
}

function isInScope({ ask, rules }: ClassifiedCall, { delegation }: DelegationLink): boolean {
  if (!coversTool(delegation, ask.serverId, ask.name, serversOf(rules))) return false;
  const scopes = resourcesOf(delegation);
  if (scopes === null) return true;
  return (
    scopes !== 'none' && permissionsFor([{ permissions: ['*'], scopes }], ask, rules).length > 0
  );
}
