import type { AgentCall, StepResult } from '../call/calls.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import { findChain, findDelegatedPlace, findSession, refused } from '../permission/eligibility.ts';
import { type SessionTokenDeps, withToken } from './workflow-session.ts';

/**
 * Step 2e: validates the delegation of a call. It has to be for the caller and of the call's
 * workflow session, and its whole chain has to be valid. Its scope is checked when the action is
 * known (4c). A delegation narrows what the agent's roles permit, and adds nothing.
 */
export function validateDelegation(
  call: AgentCall,
  deps: SessionTokenDeps,
): StepResult<AgentCall> | Promise<StepResult<AgentCall>> {
  const token = call.caller.workflow?.delegationToken ?? null;
  if (token === null) return proceed(call);
  return withToken(call, 'delegation', token, deps, (now, { subject }) => {
    const { tenantId, requesterId } = now.caller;
    const delegation = deps.replica.findDelegation(tenantId, subject);
    if (delegation === undefined) return refused('the delegation was revoked or is unknown');
    if (delegation.delegatee_agent_id !== now.agent.id) {
      return refused('the delegation is for another agent');
    }
    if (now.workflow !== undefined && now.workflow.sessionId !== delegation.workflow_session_id) {
      return refused('the delegation is of another workflow session');
    }
    const session = findSession(tenantId, delegation.workflow_session_id, deps);
    if ('kind' in session) return session;
    const chain = findChain(tenantId, delegation, deps);
    if ('kind' in chain) return chain;
    const workflow = findDelegatedPlace(now.agent.id, chain, session);
    if ('kind' in workflow) return workflow;
    const requester = {
      id: requesterId ?? delegation.requester,
      verified: requesterId === null || requesterId === delegation.requester,
    };
    return proceed(extend(now, { workflow, delegation: chain, requester }));
  });
}
