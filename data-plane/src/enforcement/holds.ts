/**
 * A held call waits for a person; a parked one (gateway/modern/parked-calls.ts) waits for its
 * client. The enforcer judges, opens the hold, records both, waits, and with a grant judges again: a
 * denial wins then too, and an escalation for another reason asks again.
 */
import type { UpstreamAnswer } from '../upstream/upstream.ts';
import type { Cancelled, Refusal } from './answer.ts';
import type { AllowedCall, CallJudgement, DecisionHold } from './audit.ts';
import type { KnownCall } from './call-binding.ts';
import type { Exchange, HoldGrant } from './calls.ts';
import { internalRefusal, refusalOf } from './refusals.ts';
import type { Findings } from './said.ts';

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

/** A call's place at its result, which is held. */
export interface HeldAnswer extends OpenedHold {
  /** What was approved of the call. */
  readonly policyIds: ReadonlySet<string>;
  /** Whether nobody has decided yet. */
  isPending(): boolean;
}

/** Results that wait for people: their calls are not made again. */
export interface ResultHolds {
  /**
   * Keeps a result and has it wait.
   *
   * @returns the refusal of one that cannot be held: it is blocked
   * @throws where it could not be recorded: it is blocked as well
   */
  hold(
    allowed: AllowedCall,
    sent: UpstreamAnswer,
    findings: Findings,
    exchange: Exchange,
  ): Promise<HeldAnswer | Refusal>;
  /** The result of the same call that is held, if there is one. */
  find(call: KnownCall, exchange: Exchange): HeldAnswer | null;
}

export interface Holds {
  /**
   * Holds an escalated call.
   *
   * @param exchange of the client that waits
   * @returns the refusal of one that cannot be held
   */
  open(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal;
  readonly results: ResultHolds;
}

/** Where nobody can be asked, what needs a person's consent does not happen. */
export const NOBODY_TO_ASK: Holds = {
  open: refusalOf,
  results: {
    hold: async ({ call }) =>
      internalRefusal('The call was made, and the gateway blocked its answer.', {
        event_id: call.id,
        failure: 'blocked',
      }),
    find: () => null,
  },
};
