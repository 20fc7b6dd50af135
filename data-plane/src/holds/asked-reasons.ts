/**
 * What a person was asked about a call. A reason counts as asked where its message was shown, and
 * where its policy is in the revision that was asked about: such a message may contain the time.
 * Only digests of messages are kept, since they may repeat arguments. Proven by asked-again.test.ts.
 */
import { hash } from 'node:crypto';
import type { PolicyReason } from '@governance/policies/contract';
import { BLAST_RADIUS } from '@governance/shared/channel/exceptions';

/** The reasons of a call, and the revision of the bundle that gave them. */
export interface Question {
  readonly reasons: readonly PolicyReason[];
  readonly revision: number;
}

/** The names of all reasons that were asked. */
export type AskedReasons = ReadonlySet<string>;

export const NOTHING_ASKED: AskedReasons = new Set();

export function askedBy({ reasons, revision }: Question): AskedReasons {
  return new Set(reasons.flatMap((reason) => namesOf(reason, revision)));
}

export function wasAsked(asked: AskedReasons, { reasons, revision }: Question): boolean {
  return reasons.every((reason) => namesOf(reason, revision).some((name) => asked.has(name)));
}

function namesOf({ policy_id, message }: PolicyReason, revision: number): string[] {
  const shown = hash('sha256', JSON.stringify([policy_id, message]));
  // All reasons of the reach share one id, so only their messages tell them apart.
  return policy_id === BLAST_RADIUS ? [shown] : [shown, `${policy_id} ${revision}`];
}
