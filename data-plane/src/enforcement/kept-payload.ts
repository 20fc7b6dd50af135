/** What is kept of a call beside its record, as those who record it see it. */
import type { PolicyInput } from '@governance/policies/contract';
import type { PayloadSealingKey } from '@governance/shared/data-protection-settings';
import type { PayloadContent } from '@governance/shared/event-payload';
import type { Answer } from './answer.ts';
import type { AgentCall, ScannedCall } from './calls.ts';

/** A tenant's data protection where something is kept. */
export interface Protection {
  mode: PayloadContent['mode'];
  sealingKey: PayloadSealingKey;
  /**
   * What may be kept of a value.
   *
   * @returns undefined where something that has to be taken out cannot be
   */
  redact(value: unknown): { readonly value: unknown; readonly isChanged: boolean } | undefined;
}

/** What is kept of one call. */
export interface KeptPayload {
  /** Of both parts, and of nothing else. */
  readonly salt: Buffer;
  readonly protection: Protection;
  /** Of the input; null where that is not kept. */
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
