/** What policies are told of a call's workflow; docs/policy-contract.md has it for their authors. */
import type { PolicyInput } from '@governance/policies/contract';
import type { AgentCall } from './calls.ts';

export function workflowInput({ workflow }: AgentCall): PolicyInput['workflow'] {
  if (workflow === undefined) return null;
  return {
    id: workflow.workflowId,
    session_id: workflow.sessionId,
    role: workflow.role,
    causal_depth: workflow.causalDepth,
    parent_event_id: workflow.parentEventId,
  };
}

export function delegationInput({ delegation }: AgentCall): PolicyInput['delegation'] {
  if (delegation === undefined) return null;
  const { held, links } = delegation;
  return {
    id: held.id,
    depth: links.length,
    delegator_agent_id: held.delegator_agent_id,
    /** From the first. */
    delegators: links.map((link) => link.delegation.delegator_agent_id),
    tools: held.tools,
    resources: held.resources,
  };
}
