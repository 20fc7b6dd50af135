import { RPC_ERRORS } from '@governance/shared/errors';
import { isQuestion } from '@governance/shared/mcp/server-questions';
import { isObject } from '../../upstream/message.ts';
import { requireEligible } from '../../upstream/upstream.ts';
import type { Answer, Refusal } from '../call/answer.ts';
import { isTaskMethod } from '../call/call-kinds.ts';
import type { Ask, Caller, Deny, Destination, JudgedCall, StepResult } from '../call/calls.ts';
import { askOf, canAnswer } from '../call/client-questions.ts';
import { proceed } from '../call/pipeline-builder.ts';
import type { ReceivedMessage } from '../call/received-message.ts';
import { denied } from '../permission/eligibility.ts';
import { internalRefusal } from '../record/refusals.ts';

export interface QuestionDeps {
  /** `Enforcer.call`. */
  judge(caller: Caller, ask: Ask, destination: Destination): Promise<Answer>;
}

/** Most questions in one result. */
const MAX_QUESTIONS = 16;

/**
 * Judges a modern server's questions to a client within a result: `input_required`, and a task that
 * waits for input. Each question is judged and recorded before the client sees it, like a question
 * of a legacy server. The client's answers come with a request that is judged itself. A refusal here
 * ends the inspection, so it repeats nothing of what the server said.
 */
export function judgeQuestions(
  received: ReceivedMessage,
  deps: QuestionDeps,
): StepResult<ReceivedMessage> | Promise<StepResult<ReceivedMessage>> {
  const { part, call, caller, speaker } = received;
  const isOfServer = speaker === 'server' && call !== null && caller.era === 'modern';
  if (part.kind !== 'result' || !isOfServer) return proceed(received);
  const { resultType, inputRequests, result } = part.value as Record<string, unknown>;
  const isOfTask = resultType === 'task' || isTaskMethod(call.ask.method);
  if (isOfTask && !isFinal(result)) return refuse(NOT_MCP);
  if (inputRequests === undefined || (resultType !== 'input_required' && !isOfTask)) {
    return proceed(received);
  }
  return judgeAll(call, inputRequests, deps).then((denied) => denied ?? proceed(received));
}

/** Whether a finished task's result asks for nothing more: questions within it are not judged. */
function isFinal(result: unknown): boolean {
  const { resultType } = isObject(result) ? result : {};
  return resultType === undefined || resultType === 'complete';
}

async function judgeAll(
  { caller, ask }: JudgedCall,
  inputRequests: unknown,
  deps: QuestionDeps,
): Promise<Deny | null> {
  if (!isObject(inputRequests)) return refuse(NOT_MCP);
  const questions = Object.values(inputRequests);
  if (questions.length > MAX_QUESTIONS) {
    return refuse(`The MCP server asks for more than ${MAX_QUESTIONS} things at once.`);
  }
  for (const question of questions) {
    const { method, params = {} } = isObject(question) ? question : {};
    if (typeof method !== 'string' || !isObject(params)) return refuse(NOT_MCP);
    if (!canAnswer(caller.peer?.capabilities ?? {}, method, params)) {
      const name = isQuestion(method) ? method : 'something that MCP does not have';
      return refuse(`The MCP server asks for ${name}, which this client did not declare.`);
    }
    const judged = await deps.judge(caller, askOf(ask.serverId, method, params), SHOWN);
    if (judged.kind === 'refusal') return refusedQuestion(method, judged);
    if (judged.kind !== 'result') return refuse('What the MCP server asks for was not judged.');
  }
  return null;
}

const NOT_MCP = 'The MCP server gave an answer that is not valid MCP.';

/** Sends nothing: the client receives the questions with the result. */
const SHOWN: Destination = {
  speaker: 'gateway',
  send: async (_call, exchange) => {
    requireEligible(exchange);
    return { kind: 'result', raw: '{}', value: {} };
  },
};

/**
 * The refusal of a question, which names the policies but not what they say: they may quote the
 * question. The record of the question has it.
 */
function refusedQuestion(method: string, judged: Refusal): Deny {
  const summary = SUMMARIES.get(judged.code);
  if (summary === undefined) {
    return refuse(`The MCP server asks for ${method}: ${judged.message}`, judged);
  }
  const { reasons, ...data } = judged.data ?? {};
  const given: unknown[] = Array.isArray(reasons) ? reasons : [];
  const named = given.filter(isObject).map(({ policy_id, policy, rule }) => {
    return { policy_id, policy, rule, message: IN_RECORD };
  });
  const names = [...new Set(named.map(({ policy }) => String(policy)))].join(', ');
  const by = names === '' ? '' : ` (${names})`;
  const message = `${summary}: the MCP server asks for ${method}${by}.`;
  return refuse(message, { ...judged, data: { ...data, reasons: named } });
}

/** The codes of refusals that have the words of policies in them. */
const SUMMARIES: ReadonlyMap<number, string> = new Map([
  [RPC_ERRORS.POLICY_DENIED, 'Denied by policy'],
  [RPC_ERRORS.ESCALATED, 'Escalated'],
]);
const IN_RECORD = 'see the record of what the MCP server asked';

function refuse(message: string, judged = internalRefusal('')): Deny {
  return { ...denied(message), refusal: { ...judged, message } };
}
