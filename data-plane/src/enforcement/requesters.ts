import type { AgentCall } from './calls.ts';

/** For whom a call is made: as it is recorded, and whom else its header and its delegations name. */
export function requestersOf({ caller, requester, delegation }: AgentCall): {
  requesterId: string | null;
  otherRequesters: string[];
} {
  const requesterId = requester?.id ?? caller.requesterId;
  const named = (delegation?.links ?? []).flatMap((link) => [
    link.delegation.requester,
    link.delegation.delegator_agent_id,
  ]);
  if (caller.requesterId !== null) named.push(caller.requesterId);
  return { requesterId, otherRequesters: named.filter((name) => name !== requesterId) };
}
