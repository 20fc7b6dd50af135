import { effectiveAgentStatus } from '@governance/shared/facts';
import type { FindDenial, Replica, ReplicaAgent } from '../../contracts.ts';
import { type AgentCall, type Continue, type Deny, proceed } from '../calls.ts';

export interface KillSwitchDeps {
  replica: Pick<Replica, 'findKillSwitch'>;
  findDenial: FindDenial;
}

/**
 * Whether this data plane may let anybody of the tenant act: its rules are not too old, it was not
 * revoked, its stream is its own, and the operator did not engage the local kill switch.
 */
export function checkStanding<C extends AgentCall>(
  call: C,
  deps: Pick<KillSwitchDeps, 'findDenial'>,
): Continue<C> | Deny {
  return call.bar ?? findPlaneBar(call.tenantId, deps) ?? proceed(call);
}

/** Why nobody of the tenant may act here, if so. */
export function findPlaneBar(
  tenantId: string,
  { findDenial }: Pick<KillSwitchDeps, 'findDenial'>,
): Deny | undefined {
  const denial = findDenial(tenantId);
  if (denial === null) return undefined;
  const { reason, message } = denial;
  const said = { kind: 'deny', reasons: [], detail: `${reason}: ${message}` } as const;
  // The local switch answers as the tenant's does.
  return reason === 'local_kill_switch'
    ? { ...said, cause: 'barred', message: `Unauthorized: ${message}`, challenge: 'bearer' }
    : { ...said, cause: 'plane', message, planeReason: reason };
}

/**
 * Right after authentication: a suspended or deprovisioned agent, or one that the tenant's kill
 * switch caught, gets nowhere. Its calls are recorded, since it is known whose they are.
 */
export function checkKillSwitch<C extends AgentCall>(
  call: C,
  deps: KillSwitchDeps,
): Continue<C> | Deny {
  return findBar(call.tenantId, call.agent, deps) ?? proceed(call);
}

/** The denial of an agent that may not act now, whatever the cause; undefined for one that may. */
export function findBar(
  tenantId: string,
  agent: ReplicaAgent,
  { replica, findDenial }: KillSwitchDeps,
): Deny | undefined {
  const plane = findPlaneBar(tenantId, { findDenial });
  if (plane) return plane;
  const killSwitch = replica.findKillSwitch(tenantId) ?? null;
  const status = effectiveAgentStatus(agent, killSwitch);
  if (status === 'active') return undefined;
  const isCaught = agent.status === 'active';
  return {
    kind: 'deny',
    cause: 'barred',
    message: `Unauthorized: the agent is ${status}.`,
    reasons: [],
    detail: isCaught ? 'the kill switch is engaged' : `the agent is ${status}`,
    challenge: 'bearer',
  };
}

/**
 * The call's agent as it is known now, for a call that had to wait: what an administrator changed
 * meanwhile holds for it.
 *
 * @returns the denial where it may not act any more, or where its credential was replaced
 */
export function findAgentNow(
  { tenantId, agent: then }: AgentCall,
  deps: KillSwitchDeps & { replica: Pick<Replica, 'findAgent'> },
): ReplicaAgent | Deny {
  const agent = deps.replica.findAgent(tenantId, then.id);
  if (agent === undefined || agent.credential_version !== then.credential_version) {
    return {
      kind: 'deny',
      cause: 'unauthenticated',
      message: 'Unauthorized: the credential is no longer valid.',
      reasons: [],
      detail: agent === undefined ? 'unknown_agent' : 'credential_rotated',
      challenge: 'bearer',
    };
  }
  return findBar(tenantId, agent, deps) ?? agent;
}
