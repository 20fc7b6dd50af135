/**
 * A held call waits for a person; a parked one (gateway/modern/parked-calls.ts) waits for its
 * client. The enforcer judges and records, holds, and with a grant judges again: a denial wins then
 * too, and an escalation for another reason asks again.
 */
import type { Refusal } from './answer.ts';
import type { CallJudgement } from './audit.ts';
import type { Exchange, HoldGrant } from './calls.ts';
import { refusalOf } from './refusals.ts';

export type Escalated = Extract<CallJudgement, { verdict: 'escalate' }>;

export interface Holds {
  /**
   * Asks a person about an escalated call, whose decision is on disk. Never rejects.
   *
   * @param exchange of the client that waits: where it goes away the hold is left
   * @returns the grant of an approval; else what the agent is answered
   */
  hold(escalated: Escalated, exchange: Exchange): Promise<HoldGrant | Refusal>;
}

/** Nobody can be asked yet, so what needs a person's consent does not happen. */
export const NOBODY_TO_ASK: Holds = {
  hold: async (escalated) => refusalOf(escalated),
};
