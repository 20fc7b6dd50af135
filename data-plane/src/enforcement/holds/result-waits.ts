/**
 * What happens to a call whose result is held: the hold is recorded, the client waits, and a
 * released result is handed over once.
 */
import type { Logger } from 'pino';
import { type Answer, type Cancelled, isRefusal, type Refusal } from '../call/answer.ts';
import type { Destination, Exchange, HoldGrant, RawCall } from '../call/calls.ts';
import type { AllowedCall } from '../record/audit.ts';
import { blocked, type OutcomeDeps, type Passed, recordOutcome } from '../record/outcome.ts';
import { internalRefusal } from '../record/refusals.ts';
import type { HeldAnswer, ResultHolds } from './holds.ts';

/** Never asked where a result was released, since the grant has its own destination. */
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
    return runAgain(call, NOWHERE, exchange, withReasons(held, call.grant));
  }

  async function wait(call: RawCall, held: HeldAnswer, exchange: Exchange): Promise<Answer> {
    const end = await held.wait();
    return 'kind' in end ? end : handOver(call, exchange, end);
  }

  return {
    /** Judges the call again, and answers it with its released result. */
    handOver,

    /** Waits for the person. To be called when the outcome was handed over to the ledger. */
    wait,

    /** Holds a result for a person. @returns the blocked answer where it cannot be held */
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
     * Answers an allowed call whose result is already held. Nothing is sent to the server.
     *
     * @param ended the answer where the hold has ended without a release; null where it is pending
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
      const passed = { answer: sent, ...became };
      recordOutcome(allowed, { sent, passed, sentAt: outcome.elapsed() }, outcome);
      return ended ?? wait(call, held, exchange);
    },
  };
}

/** The approval of a result, with the reasons that were approved for its call. */
function withReasons(ofResult: HoldGrant, ofCall: HoldGrant | undefined): HoldGrant {
  if (ofCall === undefined) return ofResult;
  return { ...ofResult, asked: new Set([...ofResult.asked, ...ofCall.asked]) };
}
