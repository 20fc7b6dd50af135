/**
 * What the agent gets in place of a server's answer or message: the same shape, without the
 * server's text.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { isObject, LOG_LEVELS } from '../../upstream/message.ts';
import { errorAnswer } from '../../upstream/upstream.ts';
import { isTaskMethod, TOOL_CALL } from '../call/call-kinds.ts';
import type { JudgedCall } from '../call/calls.ts';
import type { ReceivedMessage, ReceivedPart } from '../call/received-message.ts';
import { resultOf } from '../record/refusals.ts';

/** Why something is replaced: the classes of the findings, or a blocked source. */
export type Why = { readonly classes: readonly string[] } | 'blocked-source';

/** @returns null for a shape that cannot carry a notice: the part is then blocked */
export function replacementOf({ part, call }: ReceivedMessage, why: Why): ReceivedPart | null {
  switch (part.kind) {
    case 'notification':
      return inPlaceOfNotification(part, noticeOf('This message', why));
    case 'error': {
      const notice = noticeOf('The text of this error', why, call?.id);
      const { code } = part.value as Record<string, unknown>;
      return errorAnswer(code, notice);
    }
    case 'result': {
      if (call === null || !isObject(part.value)) return null;
      const notice = noticeOf('The result', why, call.id);
      const value = inPlaceOfResult(call, part.value, notice, why === 'blocked-source');
      return value && resultOf(value);
    }
  }
}

function noticeOf(what: string, why: Why, eventId?: string): string {
  const event = eventId === undefined ? '' : ` The call itself was made; event ${eventId}.`;
  return `[${what} is withheld by the gateway: ${describeWhy(why)}.${event}]`;
}

/** The reason in words, for the agent. */
export function describeWhy(why: Why): string {
  if (why === 'blocked-source') return 'its source is blocked';
  return `it looks like an injection (${why.classes.join(', ')})`;
}

function inPlaceOfResult(
  { ask }: JudgedCall,
  given: Record<string, unknown>,
  notice: string,
  isBlocked: boolean,
): Record<string, unknown> | null {
  const { resultType } = given;
  if (resultType === 'input_required') return null;
  // A task's id does not say which URI the task reads, so nobody gets that of a blocked source.
  const isTask = resultType === 'task' && !isBlocked;
  const of = typeof resultType === 'string' && { resultType: isTask ? 'task' : 'complete' };
  if (isTask || isTaskMethod(ask.method)) return inPlaceOfTask(given, notice, of);
  const text = { type: 'text', text: notice };
  switch (ask.method) {
    case TOOL_CALL:
      // An error needs no structured content, even where the tool has an output schema.
      return { ...of, content: [text], isError: true };
    case 'resources/read':
      return { ...of, contents: [{ uri: ask.args.uri, mimeType: 'text/plain', text: notice }] };
    case 'prompts/get':
      return { ...of, messages: [{ role: 'user', content: text }] };
    case 'completion/complete':
      return { ...of, completion: { values: [] } };
    case 'resources/subscribe':
    case 'resources/unsubscribe':
    case 'logging/setLevel':
      return { ...of };
    default:
      return null;
  }
}

const TASK_STATES: ReadonlySet<unknown> = new Set(['working', 'completed', 'failed', 'cancelled']);
const TASK_TIMES = ['createdAt', 'lastUpdatedAt'] as const;
const TASK_NUMBERS = ['ttl', 'ttlMs', 'pollInterval', 'pollIntervalMs'] as const;
const TASK_ID = /^[A-Za-z0-9_.:~-]{1,128}$/;

/** A task keeps its id, state and times, and loses its texts. */
function inPlaceOfTask(
  given: Record<string, unknown>,
  notice: string,
  of: object | false,
): Record<string, unknown> | null {
  const { taskId, status } = given;
  if (typeof taskId !== 'string' || !TASK_ID.test(taskId) || !TASK_STATES.has(status)) return null;
  const task: Record<string, unknown> = { ...of, taskId, status, statusMessage: notice };
  for (const name of TASK_TIMES) {
    const time = given[name];
    if (typeof time === 'string' && time.length <= 40 && !Number.isNaN(Date.parse(time))) {
      task[name] = new Date(Date.parse(time)).toISOString();
    }
  }
  for (const name of TASK_NUMBERS) {
    if (typeof given[name] === 'number' || given[name] === null) task[name] = given[name];
  }
  if (isObject(given.result)) {
    task.result = { content: [{ type: 'text', text: notice }], isError: true };
  }
  if (isObject(given.error)) {
    const { code } = given.error;
    task.error = { code: Number.isInteger(code) ? code : RPC_ERRORS.INTERNAL, message: notice };
  }
  return task;
}

const LEVELS: ReadonlySet<unknown> = new Set(LOG_LEVELS);

function inPlaceOfNotification(
  { method, params = {} }: Extract<ReceivedPart, { kind: 'notification' }>,
  notice: string,
): ReceivedPart | null {
  if (method === 'notifications/progress') {
    const { progressToken, progress, total } = params;
    const done = typeof progress === 'number' ? progress : 0;
    const numbers = { progress: done, ...(typeof total === 'number' && { total }) };
    return { kind: 'notification', method, params: { progressToken, ...numbers, message: notice } };
  }
  if (method === 'notifications/message') {
    const level = LEVELS.has(params.level) ? params.level : 'info';
    return { kind: 'notification', method, params: { level, data: notice } };
  }
  return null;
}
