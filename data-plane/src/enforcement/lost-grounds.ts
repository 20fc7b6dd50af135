/**
 * What a judged call stood on and may have lost while it waited for its session with the server: its
 * server's registration, and the permissions of its agent's roles. Proven by waiting-calls.test.ts.
 */
import type { ActiveRules, ReplicaAgent, RulesProvider } from '../contracts.ts';
import { isList } from './call-kinds.ts';
import type { Deny, JudgedCall } from './calls.ts';
import { denied } from './eligibility.ts';
import { findLackingPermission } from './grants.ts';

/**
 * @param agent as it is now
 * @returns why the call may no longer be sent. What it never had it cannot lose: a policy or a
 * person may have allowed it all the same.
 */
export function findLostGround(
  { caller, ask, action, rules: then, agent: before }: JudgedCall,
  agent: ReplicaAgent,
  rules: RulesProvider,
): Deny | undefined {
  const now = rules.findActiveRules(caller.tenantId);
  if (now !== then && knows(then, ask.serverId) && !knows(now, ask.serverId)) {
    return denied('the MCP server is no longer registered');
  }
  // A list that shows its agent nothing any more is empty, and no error (ADR 40).
  if (agent.grants === before.grants || isList(ask.method)) return undefined;
  const lacks = (one: ReplicaAgent) => findLackingPermission(one, { ask, action, rules: now });
  const lacking = lacks(agent);
  if (lacking === undefined || lacks(before) !== undefined) return undefined;
  return {
    ...denied("the agent's roles no longer permit the call"),
    neededPermission: lacking.permission,
  };
}

/** Whether it is a server of the registry that is enabled. */
function knows(rules: ActiveRules | null, serverId: string): boolean {
  return rules !== null && Object.hasOwn(rules.settings.mcp_servers, serverId);
}
