/**
 * A held call waits for a person; a parked one (gateway/modern/parked-calls.ts) waits for its
 * client. The enforcer judges, opens the hold, records both, waits, and with a grant judges again:
 * a denial still wins, and an escalation for a new reason asks again.
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
  /** The decision could not be recorded: the hold is dropped. */
  drop(): void;
  /**
   * Waits for the person, once the decision is on disk. Never rejects. The hold stays if the client
   * leaves.
   *
   * @returns the grant of an approval; else what the agent is answered
   */
  wait(): Promise<HoldGrant | Refusal | Cancelled>;
}

/** A call's place at its held result. */
export interface HeldAnswer extends OpenedHold {
  /** The policies whose reasons were approved for the call. */
  readonly policyIds: ReadonlySet<string>;
  /** Whether nobody has decided yet. */
  isPending(): boolean;
}

/** Results that wait for people: their calls are not made again. */
export interface ResultHolds {
  /**
   * Keeps a result until a person decides.
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
  /** The held result of the same call, if there is one. */
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

/** Where nobody can be asked, a call that needs approval is not made. */
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
