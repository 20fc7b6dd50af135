/**
 * The gateway with enforcement off, so that the bench can measure what enforcement costs on the
 * same code. Nothing is authenticated, judged or recorded. No setting leads here: only a program
 * that builds the data plane itself can ask for it.
 */

import type { UpstreamSession } from '../upstream/upstream.ts';
import { membersOf, retryMembersOf } from './call-kinds.ts';
import type { RawCall } from './calls.ts';
import type { CallAnswer } from './enforcer.ts';
import type { ForwardExchange } from './forward.ts';
import type { Identity } from './steps/authenticate.ts';

export interface UnenforcedDeps {
  /** Whom every caller counts as. */
  identity: Identity;
  findSession(call: RawCall & Identity): UpstreamSession;
}

/** Builds a guard that guards nothing. */
export function createUnenforced({ identity, findSession }: UnenforcedDeps) {
  return {
    identify: () => identity,
    findBar: () => undefined,
    findAgent: () => identity.agent,
    async call(call: RawCall, exchange: ForwardExchange): Promise<CallAnswer> {
      try {
        const session = call.recipient ?? findSession({ ...call, ...identity });
        const answer = await session.request(
          {
            method: call.method,
            members: membersOf(call),
            wantsProgress: exchange.wantsProgress,
            retry: retryMembersOf(call),
          },
          exchange,
        );
        const { kind, raw, value } = answer;
        return kind === 'result' ? { kind, raw, value } : { kind: 'upstream-error', raw };
      } catch (error) {
        const message = error instanceof Error ? error.message : 'failed';
        return { kind: 'error', status: 200, code: -32603, message };
      }
    },
  };
}
