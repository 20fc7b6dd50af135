/**
 * The texts that clients get as `requestState`. Those of the gateway's own begin in a way that tells
 * them from a server's; a server whose own begin so (it may be such a gateway) has them renamed on
 * the way to the client, and back.
 */
import type { Answer } from '../../enforcement/answer.ts';
import type { Ask } from '../../enforcement/calls.ts';
import { isObject } from '../../upstream/message.ts';
import { withMember } from '../json-members.ts';

const PREFIX = 'gateway-';
const OF_CALL = `${PREFIX}call-`;
const OF_HOLD = `${PREFIX}hold-`;
const OF_SERVER = `${PREFIX}server-`;

/** What stands for an open call. */
export function stateOfCall(random: string): string {
  return `${OF_CALL}${random}`;
}

/** What stands for a call that waits for a person. It proves nothing: the call itself is looked up. */
export function stateOfHold(escalationId: string): string {
  return `${OF_HOLD}${escalationId}`;
}

/** The call as it was made first, where it is made again because it waited for a person. */
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

/** The answer of a server with a state that is told from the gateway's own. */
export function coverState(answer: Answer): Answer {
  if (answer.kind !== 'result' || !isObject(answer.value)) return answer;
  const { requestState: state } = answer.value;
  if (typeof state !== 'string' || !state.startsWith(PREFIX)) return answer;
  const requestState = `${OF_SERVER}${state}`;
  const raw = withMember(answer.raw, answer.value, 'requestState', requestState);
  return { kind: 'result', raw, value: { ...answer.value, requestState } };
}

/** The call with the state as its server knows it. */
export function uncoverState(ask: Ask): Ask {
  const state = ask.retry?.requestState;
  if (state === undefined || !state.startsWith(OF_SERVER)) return ask;
  return { ...ask, retry: { ...ask.retry, requestState: state.slice(OF_SERVER.length) } };
}
