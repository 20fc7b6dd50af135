/** The interface to what is kept of a call beside its record (payloads/). */
import type { PolicyInput } from '@governance/policies/contract';
import type { PayloadSealingKey } from '@governance/shared/data-protection-settings';
import type { PayloadContent } from '@governance/shared/event-payload';
import type { IdentifierHash } from '@governance/shared/identifier-hash';
import type { ReplicaAgent } from '../contracts.ts';
import type { Answer } from './answer.ts';
import type { AgentCall, ScannedCall } from './calls.ts';

/** The people and agents that a value may name. */
export interface Identified {
  /** What the value is: members of a decision, the policy input, or a result. */
  readonly said: 'members' | 'input' | 'result';
  readonly agent: Pick<ReplicaAgent, 'id' | 'name' | 'owner'> | null;
  /** The recorded requester. */
  readonly requesterId: string | null;
  /** Other requesters that the call named. */
  readonly otherRequesters: readonly string[];
  /** The tenant's hash of identifiers. */
  readonly hash: IdentifierHash;
}

/** The protected value; undefined where something must be removed but cannot be. */
export type Protected = { readonly value: unknown; readonly isChanged: boolean } | undefined;

/** A tenant's data protection for kept payloads. */
export interface Protection {
  mode: PayloadContent['mode'];
  sealingKey: PayloadSealingKey;
  /** Removes or hashes what may not be kept of a value that `needsThread` does not name. */
  protect(value: unknown, identified: Identified): Protected;
  /** Whether looking for DLP matches in a value would delay other calls. */
  needsThread(value: unknown): boolean;
  /** The same for a value that needs one. It rejects where the thread does. */
  protectLarge(
    value: unknown,
    identified: Identified,
    takeOutLarge: TakeOutLarge,
  ): Promise<Protected>;
}

/** The value without matches; undefined where one cannot be taken out. */
export type Taken = { readonly value: unknown } | undefined;

/**
 * Takes matches out on another thread, by DLP settings as JSON. It may reject: the value is not kept
 * then.
 */
export type TakeOutLarge = (value: unknown, settings: string) => Promise<Taken>;

/** What is kept of one call beside its record. */
export interface KeptPayload {
  /** The salt of the digests of input and result, used for nothing else. */
  readonly salt: Buffer;
  readonly protection: Protection;
  /** The digest of the input; null where the input is not kept. */
  readonly digest: string | null;
}

export interface PayloadKeeper {
  /** @returns null where the tenant keeps nothing of such a call */
  keepInput(
    call: AgentCall & Partial<ScannedCall>,
    inputOf: (call: ScannedCall) => PolicyInput,
  ): KeptPayload | null | Promise<KeptPayload | null>;
  /** @returns the digest for the outcome; null where the result is not kept. It never rejects. */
  keepResult(
    call: ScannedCall,
    kept: KeptPayload | null,
    sent: Answer,
  ): string | null | Promise<string | null>;
}
