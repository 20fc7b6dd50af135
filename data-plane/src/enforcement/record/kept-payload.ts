/** The interface to what is kept of a call beside its record (payloads/). */
import type { PolicyInput } from '@governance/policies/contract';
import type { PayloadContent } from '@governance/shared/evidence/event-payload';
import type { IdentifierHash } from '@governance/shared/keys/identifier-hash';
import type { PayloadSealingKey } from '@governance/shared/settings/data-protection-settings';
import type { ReplicaAgent } from '../../contracts.ts';
import type { Answer } from '../call/answer.ts';
import type { AgentCall, Caller, ScannedCall } from '../call/calls.ts';

/** The people and agents that a value may name. */
export interface Identified {
  /** What the value is: members of a decision, the policy input, or a result. */
  readonly part: 'members' | 'input' | 'result';
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

/** What is removed or hashed. Plain data: another thread may get it. */
export interface ProtectionRules {
  /** Names of members that are removed. */
  readonly fields: readonly string[];
  readonly takesOutMatches: boolean;
  readonly hashes: boolean;
}

/** Removes or hashes what may not be kept of a value. */
export type Protect = (value: unknown, identified: Identified) => Protected;

/** A tenant's data protection. */
export interface Protection {
  readonly rules: ProtectionRules;
  readonly protect: Protect;
  /** The DLP settings as JSON, for another thread. */
  dlpSettings(): string;
}

/** How a tenant's payloads are kept. */
export interface Keeping {
  readonly mode: PayloadContent['mode'];
  readonly sealingKey: PayloadSealingKey;
  /** Null where nothing is removed or hashed. */
  readonly protection: Protection | null;
}

/** A tenant's key for hashing identifiers. */
export interface IdentifierKey {
  readonly tenantId: string;
  readonly key: Uint8Array;
}

/** A value that would hold up other calls if it were protected on the main thread. */
export interface LargeValue {
  readonly caller: Caller;
  readonly protection: Protection;
  readonly identified: Omit<Identified, 'hash'>;
  /** The value as JSON. Called at its turn, so that what waits is not copied. */
  json(): string;
  /** Called where identifiers are hashed; null where there is no key. */
  key(): IdentifierKey | null;
}

/** Protects large values on another thread. */
export interface LargeValues {
  isLarge(value: unknown, protection: Protection): boolean;
  /**
   * Never rejects.
   *
   * @returns the protected value as JSON, of members of a decision these alone; undefined where
   *   something cannot be removed, or the thread gave no answer
   */
  protect(large: LargeValue): Promise<string | undefined>;
}

/**
 * Why a payload is not kept. `settings_changed`: while it was prepared, its tenant's data protection
 * changed.
 */
export type NotKept = 'no_room' | 'too_large' | 'not_redactable' | 'settings_changed';

/** The text that is kept of a part, or why none is. */
export type KeptText = { readonly text: string } | { readonly notKept: NotKept };

/** What is kept of a call's input, as soon as its decision is recorded. */
export interface ProtectedInput {
  readonly keeping: Keeping;
  readonly input: KeptText;
}

/** What is kept of one call beside its record. */
export interface KeptPayload {
  /** The salt of the digests of input and result, used for nothing else. */
  readonly salt: Buffer;
  readonly keeping: Keeping;
  /** The digest of the input; null where the input is not kept. */
  readonly digest: string | null;
}

export interface PayloadKeeper {
  /**
   * Prepares an input. A promise only where it is large.
   *
   * @returns null where the tenant keeps nothing of such a call
   */
  protectInput(
    call: AgentCall & Partial<ScannedCall>,
    inputOf: (call: ScannedCall) => PolicyInput,
  ): ProtectedInput | Promise<ProtectedInput> | null;
  /** Keeps a prepared input. */
  keepInput(call: AgentCall, prepared: ProtectedInput | null): KeptPayload | null;
  /**
   * Keeps a result. A promise only where it is large: its answer need not wait for it. It never
   * rejects.
   *
   * @param heldBytes that are counted as memory for the answer already
   * @returns the digest for the outcome; null where the result is not kept
   */
  keepResult(
    call: ScannedCall,
    kept: KeptPayload | null,
    sent: Answer,
    heldBytes: number,
  ): string | Promise<string | null> | null;
}
