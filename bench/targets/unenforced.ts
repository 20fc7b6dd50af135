/**
 * The gateway without enforcement, so that the bench can measure what enforcement costs on the same
 * code. Nothing is authenticated, judged, recorded or inspected.
 */
import type { JudgedCall } from '@governance/data-plane/enforcement/call/calls';
import { quiet } from '@governance/data-plane/enforcement/enforcer';
import type { Identity } from '@governance/data-plane/enforcement/steps/authenticate';
import type { Enforcement } from '@governance/data-plane/plane/enforcement';

/** @param identity used for every caller */
export function createUnenforced(identity: Identity): Enforcement {
  return {
    door: {
      identify: () => identity,
      findIneligibility: () => undefined,
      isStillEligible: () => true,
      permitsOf: () => identity.agent.permits,
    },
    endWaits: () => undefined,
    stop: async () => undefined,
    enforcer: {
      async call(caller, ask, destination, exchange = quiet()) {
        try {
          return await destination.send({ caller, ask } as JudgedCall, exchange);
        } catch (error) {
          const message = error instanceof Error ? error.message : 'failed';
          return { kind: 'refusal', status: 200, code: -32603, message };
        }
      },
      admit: () => undefined,
      listen: (_caller, passOn) => ({ receive: passOn, end: () => undefined }),
      introduce: async (_caller, _serverId, introduction) => introduction,
    },
  };
}
