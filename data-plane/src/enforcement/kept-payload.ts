/** What is kept of a call beside its record, as the recorder sees it. */
import type { PolicyInput } from '@governance/policies/contract';
import type { PayloadSealingKey } from '@governance/shared/data-protection-settings';
import type { PayloadContent } from '@governance/shared/event-payload';
import type { IdentifierHash } from '@governance/shared/identifier-hash';
import type { ReplicaAgent } from '../contracts.ts';
import type { Answer } from './answer.ts';
import type { AgentCall, ScannedCall } from './calls.ts';

/** The people and agents that a value may name. */
export interface Identified {
  /** What the value is: members of a record, the policy input, or a result. */
  readonly said: 'members' | 'input' | 'result';
  readonly agent: Pick<ReplicaAgent, 'id' | 'name' | 'owner'> | null;
  /** The recorded requester. */
  readonly requesterId: string | null;
  /** Others that the call claimed to be for. */
  readonly otherRequesters: readonly string[];
  /** The tenant's hash. */
  readonly hash: IdentifierHash;
}

/** What is left of a value; undefined where something must be removed but cannot be. */
export type Protected = { readonly value: unknown; readonly isChanged: boolean } | undefined;

/** A tenant's data protection for what is kept. */
export interface Protection {
  mode: PayloadContent['mode'];
  sealingKey: PayloadSealingKey;
  /** What may be kept of a value. */
  protect(value: unknown, identified: Identified): Protected;
}

/** What is kept of one call. */
export interface KeptPayload {
  /** The salt of both parts, used for nothing else. */
  readonly salt: Buffer;
  readonly protection: Protection;
  /** The digest of the input; null where that is not kept. */
  readonly digest: string | null;
}

export interface PayloadKeeper {
  /** @returns null where the tenant keeps nothing of such a call */
  keepInput(
    call: AgentCall & Partial<ScannedCall>,
    inputOf: (call: ScannedCall) => PolicyInput,
  ): KeptPayload | null;
  /** @returns the digest for the outcome; null where the result is not kept */
  keepResult(call: ScannedCall, kept: KeptPayload | null, sent: Answer): string | null;
}
