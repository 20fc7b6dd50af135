/**
 * The course of a call whose result is held: recorded as such, waited for, and handed over once.
 */
import type { Logger } from 'pino';
import { type Answer, type Cancelled, isRefusal, type Refusal } from './answer.ts';
import type { AllowedCall } from './audit.ts';
import type { Destination, Exchange, HoldGrant, RawCall } from './calls.ts';
import type { HeldAnswer, ResultHolds } from './holds.ts';
import { blocked, type OutcomeDeps, type Passed, recordOutcome } from './outcome.ts';
import { internalRefusal } from './refusals.ts';

/** A released result answers by itself: no other destination is asked. */
const NOWHERE: Destination = {
  speaker: 'gateway',
  send: async ({ id }) => {
    throw internalRefusal('The result cannot be handed over.', { event_id: id });
  },
};

const NOT_RELEASED = 'injection: its result was not released';

export interface ResultWaitsDeps {
  results: ResultHolds;
  outcome: OutcomeDeps;
  log: Pick<Logger, 'error'>;
  runAgain(
    call: Pick<RawCall, 'caller' | 'ask'>,
    destination: Destination,
    exchange: Exchange,
    held: HoldGrant,
  ): Promise<Answer>;
}

export type ResultWaits = ReturnType<typeof createResultWaits>;

export function createResultWaits({ results, outcome, log, runAgain }: ResultWaitsDeps) {
  function handOver(call: RawCall, exchange: Exchange, held: HoldGrant): Promise<Answer> {
    return runAgain(call, NOWHERE, exchange, withPolicies(held, call.grant));
  }

  async function wait(call: RawCall, held: HeldAnswer, exchange: Exchange): Promise<Answer> {
    const end = await held.wait();
    return 'kind' in end ? end : handOver(call, exchange, end);
  }

  return {
    /** Judges the call again, and answers it with its released result. */
    handOver,

    /** Waits for the person, once the outcome was passed to the ledger. */
    wait,

    /** Holds a result for a person. What cannot be held is blocked. */
    async hold(
      allowed: AllowedCall,
      sent: Answer,
      passed: Passed,
      exchange: Exchange,
    ): Promise<HeldAnswer | Passed> {
      const { call } = allowed;
      const { findings, step, blocked: why = '' } = passed;
      if (!('raw' in sent) || findings === undefined) return passed;
      try {
        const held = await results.hold(allowed, sent, findings, exchange);
        return isRefusal(held) ? { ...blocked(call, step, why, held), findings } : held;
      } catch (error) {
        log.error({ err: error, event_id: call.id }, 'a result could not be held');
        return passed;
      }
    },

    /**
     * Answers an allowed call whose result is already held: nothing is sent.
     *
     * @param ended how that ended, where it has
     */
    async join(
      allowed: AllowedCall,
      held: HeldAnswer,
      ended: Refusal | Cancelled | null,
      exchange: Exchange,
    ): Promise<Answer> {
      const { call } = allowed;
      const sent = ended ?? ({ kind: 'cancelled' } as const);
      const became = ended ? { blocked: NOT_RELEASED } : { heldAs: held.escalationId };
      recordOutcome(allowed, sent, { answer: sent, ...became }, outcome.elapsed(), outcome);
      return ended ?? wait(call, held, exchange);
    },
  };
}

/** The approval of a result, with what was approved of its call. */
function withPolicies(ofResult: HoldGrant, ofCall: HoldGrant | undefined): HoldGrant {
  if (ofCall === undefined) return ofResult;
  return { ...ofResult, policyIds: new Set([...ofResult.policyIds, ...ofCall.policyIds]) };
}
