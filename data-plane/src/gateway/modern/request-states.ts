/**
 * The `requestState` texts given to clients. The gateway's own have a prefix that distinguishes
 * them from a server's; a server's state with the same prefix (it may be such a gateway) is renamed
 * on the way to the client, and back.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Answer } from '../../enforcement/call/answer.ts';
import { isRepeatable } from '../../enforcement/call/call-kinds.ts';
import type { Ask } from '../../enforcement/call/calls.ts';
import { resultOf } from '../../enforcement/record/refusals.ts';
import { isObject } from '../../upstream/message.ts';
import { withMember } from '../json-members.ts';

const PREFIX = 'gateway-';
const OF_CALL = `${PREFIX}call-`;
const OF_HOLD = `${PREFIX}hold-`;
const OF_SERVER = `${PREFIX}server-`;

/** The state that identifies an open call. */
export function stateOfCall(random: string): string {
  return `${OF_CALL}${random}`;
}

/**
 * Asks the client of a call that waits for a person longer than a request may last to repeat it, as
 * its era does (`input_required` with nothing to answer): it does so by itself. The state proves
 * nothing: the call itself is looked up. Proven by hold-turns.test.ts.
 *
 * @param ask as the server gets it: one that carries a server's state keeps that, and is refused
 */
export function askAgain({ method, retry }: Ask, answer: Answer): Answer {
  if (answer.kind !== 'refusal' || answer.code !== RPC_ERRORS.ESCALATED) return answer;
  const { resolution, escalation_id } = answer.data ?? {};
  if (resolution !== 'pending' || typeof escalation_id !== 'string') return answer;
  if (!isRepeatable(method) || retry !== undefined) return answer;
  const requestState = `${OF_HOLD}${escalation_id}`;
  return resultOf({ resultType: 'input_required', requestState });
}

/** The call as first made, when it is repeated because it waited for a person. */
export function withoutHoldState(ask: Ask): Ask {
  const { requestState, inputResponses } = ask.retry ?? {};
  if (!requestState?.startsWith(OF_HOLD) || inputResponses !== undefined) return ask;
  const { retry: _, ...first } = ask;
  return first;
}

/** Whether a state is the gateway's, or claims to be. */
export function isOwnState(state: string): boolean {
  return state.startsWith(PREFIX) && !state.startsWith(OF_SERVER);
}

/** The answer with the server's state made distinguishable from the gateway's. */
export function coverState(answer: Answer): Answer {
  if (answer.kind !== 'result' || !isObject(answer.value)) return answer;
  const { requestState: state } = answer.value;
  if (typeof state !== 'string' || !state.startsWith(PREFIX)) return answer;
  const requestState = `${OF_SERVER}${state}`;
  const raw = withMember(answer.raw, answer.value, 'requestState', requestState);
  return { kind: 'result', raw, value: { ...answer.value, requestState } };
}

/** The call with the state in the server's own spelling. */
export function uncoverState(ask: Ask): Ask {
  const state = ask.retry?.requestState;
  if (state === undefined || !state.startsWith(OF_SERVER)) return ask;
  return { ...ask, retry: { ...ask.retry, requestState: state.slice(OF_SERVER.length) } };
}
