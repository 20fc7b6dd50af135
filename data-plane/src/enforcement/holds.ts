/**
 * A held call waits for a person; a parked one (gateway/modern/parked-calls.ts) waits for its
 * client. The enforcer judges, opens the hold, records both, waits, and with a grant judges again: a
 * denial wins then too, and an escalation for another reason asks again.
 */
import type { Cancelled, Refusal } from './answer.ts';
import type { CallJudgement, DecisionHold } from './audit.ts';
import type { Exchange, HoldGrant } from './calls.ts';
import { refusalOf } from './refusals.ts';

export type Escalated = Extract<CallJudgement, { verdict: 'escalate' }>;

/** A call's place at a hold, before its decision is recorded. */
export interface OpenedHold extends DecisionHold {
  /** The decision could not be recorded: nobody holds the call. */
  drop(): void;
  /**
   * Waits for the person, once the decision is on disk. Never rejects. A client that goes away
   * leaves the hold as it is.
   *
   * @returns the grant of an approval; else what the agent is answered
   */
  wait(): Promise<HoldGrant | Refusal | Cancelled>;
}

export interface Holds {
  /**
   * Holds an escalated call.
   *
   * @param exchange of the client that waits
   * @returns the refusal of one that cannot be held
   */
  open(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal;
}

/** Where nobody can be asked, what needs a person's consent does not happen. */
export const NOBODY_TO_ASK: Holds = { open: refusalOf };
