/**
 * Calls of modern clients that wait for people longer than a request may last: the client is told
 * to repeat the request in the way of its era (`input_required` with nothing to answer), and does
 * so on its own. Proven by hold-turns.test.ts.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../../enforcement/answer.ts';
import { TOOL_CALL } from '../../enforcement/call-kinds.ts';
import type { Ask } from '../../enforcement/calls.ts';
import { resultOf } from '../../enforcement/refusals.ts';
import { stateOfHold } from './request-states.ts';

/** The methods whose results may be `input_required` (MCP 2026-07-28). */
const REPEATABLE: ReadonlySet<string> = new Set([TOOL_CALL, 'resources/read', 'prompts/get']);

/**
 * @param ask as the server gets it: one that carries a server's state keeps that, and is refused
 */
export function askAgain({ method, retry }: Ask, answer: Answer): Answer {
  if (answer.kind !== 'refusal' || answer.code !== RPC_ERRORS.ESCALATED) return answer;
  const { resolution, escalation_id } = answer.data ?? {};
  const isRepeatable = REPEATABLE.has(method) && retry === undefined;
  if (resolution !== 'pending' || typeof escalation_id !== 'string' || !isRepeatable) return answer;
  return resultOf({ resultType: 'input_required', requestState: stateOfHold(escalation_id) });
}
