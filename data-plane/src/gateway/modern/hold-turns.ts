/**
 * Calls of modern clients that wait for people longer than a request may last: the answer
 * asks the client to repeat the request, as its era does (`input_required` with nothing to answer),
 * and it does so by itself. Proven by hold-turns.test.ts.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../../enforcement/answer.ts';
import { isRepeatable } from '../../enforcement/call-kinds.ts';
import type { Ask } from '../../enforcement/calls.ts';
import { resultOf } from '../../enforcement/refusals.ts';
import { stateOfHold } from './request-states.ts';

/**
 * @param ask as the server gets it: one that carries a server's state keeps that, and is refused
 */
export function askAgain({ method, retry }: Ask, answer: Answer): Answer {
  if (answer.kind !== 'refusal' || answer.code !== RPC_ERRORS.ESCALATED) return answer;
  const { resolution, escalation_id } = answer.data ?? {};
  if (resolution !== 'pending' || typeof escalation_id !== 'string') return answer;
  if (!isRepeatable(method) || retry !== undefined) return answer;
  return resultOf({ resultType: 'input_required', requestState: stateOfHold(escalation_id) });
}
