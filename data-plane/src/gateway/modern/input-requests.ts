/**
 * What a modern server asks of a client in a result: `input_required`, and a task that waits for
 * input. Each question is judged and recorded before the client sees it, like one that a legacy
 * server sends; the answers come with a request that is judged itself.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { RawCall } from '../../enforcement/calls.ts';
import type { CallAnswer } from '../../enforcement/enforcer.ts';
import { Cancellation } from '../../upstream/upstream.ts';
import { askedCall, canAnswer } from '../askable.ts';
import type { Guard } from '../guard.ts';
import { isObject } from '../json-rpc.ts';

export interface InputDeps {
  guard: Pick<Guard, 'call'>;
  /** Unix milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  elapsed(): number;
}

/** Questions of one result, at most. */
const MAX_QUESTIONS = 16;

/**
 * Judges what a result asks for.
 *
 * @param inputRequests as the server wrote them; undefined where it only wants to be asked again
 * @returns why the client does not get the result; null where it does
 */
export async function judgeInputRequests(
  deps: InputDeps,
  call: RawCall,
  inputRequests: unknown,
): Promise<CallAnswer | null> {
  if (inputRequests === undefined) return null;
  if (!isObject(inputRequests))
    return refused('The MCP server gave an answer that is not valid MCP.');
  const questions = Object.values(inputRequests);
  if (questions.length > MAX_QUESTIONS) {
    return refused(`The MCP server asks for more than ${MAX_QUESTIONS} things at once.`);
  }
  const capabilities = call.peer?.capabilities ?? {};
  for (const question of questions) {
    const method = isObject(question) ? question.method : undefined;
    if (!isObject(question) || typeof method !== 'string') {
      return refused('The MCP server gave an answer that is not valid MCP.');
    }
    const { params = {} } = question;
    if (!isObject(params)) return refused('The MCP server gave an answer that is not valid MCP.');
    if (!canAnswer(capabilities, method, params)) {
      const name = method.slice(0, 64);
      return refused(`The MCP server asks for ${name}, which this client did not declare.`);
    }
    const asked = askedCall(call, call.serverId, { method, params }, deps, SHOWN);
    const exchange = {
      cancellation: new Cancellation(),
      wantsProgress: false,
      onNotification: () => undefined,
    };
    const judged = await deps.guard.call(asked, exchange);
    if (judged.kind === 'error') {
      return { ...judged, message: `The MCP server asks for ${method}: ${judged.message}` };
    }
    if (judged.kind !== 'result') return refused('What the MCP server asks for was not judged.');
  }
  return null;
}

/** The client has it with the result; its answer is a request of its own. */
const SHOWN: NonNullable<RawCall['recipient']> = {
  request: async () => ({ kind: 'result', raw: '{}', value: {} }),
};

function refused(message: string): CallAnswer {
  return { kind: 'error', status: 200, code: RPC_ERRORS.INTERNAL, message };
}
