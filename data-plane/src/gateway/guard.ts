import type { ReplicaAgent } from '../contracts.ts';
import type { Deny, RawCall } from '../enforcement/calls.ts';
import type { Credential } from '../enforcement/credentials.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import type { ForwardExchange } from '../enforcement/forward.ts';
import type { Identity } from '../enforcement/steps/authenticate.ts';

/** What stands between the gateway and everything behind it. */
export interface Guard {
  /** Who sent a request; each tool call is authenticated again on its own way. */
  identify(
    credential: Credential,
    serverId: string | null,
  ): Identity | Deny | Promise<Identity | Deny>;
  /** Why this agent may do nothing at all now, if so. */
  findBar(tenantId: string, agent: ReplicaAgent): Deny | undefined;
  /** The agent as it is now, with its roles of now. */
  findAgent(tenantId: string, agentId: string): ReplicaAgent | undefined;
  /** Judges, records and forwards a tool call. Never throws. */
  call(call: RawCall, exchange: ForwardExchange): Promise<CallAnswer>;
}
