/**
 * How the enforcer holds calls and results. A held call waits for a person; a parked call
 * (gateway/modern/parked-calls.ts) waits for its client. The enforcer judges, opens the hold,
 * records both, waits, and with a grant judges again: a denial still wins, and an escalation for a
 * new reason asks again.
 */
import type { AskedReasons } from '../../holds/asked-reasons.ts';
import type { UpstreamAnswer } from '../../upstream/upstream.ts';
import type { Cancelled, Refusal } from '../call/answer.ts';
import type { Exchange, HoldGrant } from '../call/calls.ts';
import type { Findings } from '../call/received-message.ts';
import type { AllowedCall, CallJudgement, DecisionHold } from '../record/audit.ts';
import { internalRefusal, refusalOf } from '../record/refusals.ts';
import type { KnownCall } from './call-binding.ts';

export type Escalated = Extract<CallJudgement, { verdict: 'escalate' }>;

/** The hold of a call whose decision is not recorded yet. */
export interface OpenedHold extends DecisionHold {
  /** Drops the hold, when the decision could not be recorded. */
  drop(): void;
  /**
   * Waits for the person. To be called when the decision is on disk. Never rejects. The hold stays
   * if the client leaves.
   *
   * @returns the grant of an approval; else the answer for the agent
   */
  wait(): Promise<HoldGrant | Refusal | Cancelled>;
}

/** The held result of a call. */
export interface HeldAnswer extends OpenedHold {
  /** The reasons that were approved for the call. */
  readonly asked: AskedReasons;
  /** Whether nobody has decided yet. */
  isPending(): boolean;
}

/** Holds results for people. The call of a held result is not made again. */
export interface ResultHolds {
  /**
   * Keeps a result until a person decides.
   *
   * @returns a refusal where the result cannot be held: it is blocked
   * @throws where the hold could not be recorded: the result is then blocked too
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
   * @param exchange of the waiting client
   * @returns a refusal where the call cannot be held
   */
  open(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal;
  readonly results: ResultHolds;
}

/** Used where no person can be asked: a call that needs an approval is refused. */
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
