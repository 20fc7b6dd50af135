/**
 * A request to a model as a call: its body is what it asks for, which is judged whole and sent on
 * as judged. What is recorded of it is computed here, the same for both styles.
 */
import { AppError, type FieldError } from '@governance/shared/errors';
import { parseStrictJson } from '@governance/shared/json/strict-json';
import { LOCAL_MODELS } from '@governance/shared/mcp/local-models';
import { isStorableText } from '@governance/shared/text';
import type { Ask, ModelCall } from '../enforcement/call/calls.ts';
import { isObject } from '../upstream/message.ts';
import { listsModels, type ModelApi } from './model-apis.ts';

const MAX_DEPTH = 64;
const MAX_QUERY = 8192;

/** The key of the query among what is judged: no body has this member. */
const QUERY = '?';

/** Members that decide what is judged or recorded. */
const JUDGED = new Set(['model', 'messages', 'prompt', 'system', 'tools']);
const JUDGED_OF_MESSAGE = new Set(['role', 'content']);

/**
 * Reads the body of a request to a model.
 *
 * @param bytes caller-controlled; undefined where none came
 * @param maxNodes values and keys in it, at most
 * @throws StrictJsonError, or AppError for a body that is not one
 */
export function parseModelBody(
  api: ModelApi,
  bytes: Buffer | undefined,
  maxNodes: number,
): Record<string, unknown> {
  // A list has no parameters, and the runtime receives none.
  if (listsModels(api)) return {};
  if (bytes === undefined || bytes.length === 0) throw invalid([], 'must be a JSON object');
  const body = parseStrictJson(bytes, { maxDepth: MAX_DEPTH, maxNodes });
  if (!isObject(body)) throw invalid([], 'must be a JSON object');
  if (Object.hasOwn(body, QUERY)) throw invalid([QUERY], 'is no member of a request');
  if (body.model !== undefined && typeof body.model !== 'string') {
    throw invalid(['model'], 'must be the name of a model');
  }
  if (typeof body.model === 'string' && !isStorableText(body.model)) {
    throw invalid(['model'], 'must not contain NUL');
  }
  requireCase(body, JUDGED, []);
  if (Array.isArray(body.messages)) {
    for (const [index, message] of body.messages.entries()) {
      if (isObject(message)) requireCase(message, JUDGED_OF_MESSAGE, ['messages', index]);
    }
  }
  return body;
}

/**
 * Refuses `Model` beside or in place of `model`: a runtime may fold the case of keys, and would do
 * something other than what was judged.
 */
function requireCase(
  value: Record<string, unknown>,
  names: ReadonlySet<string>,
  path: (string | number)[],
): void {
  for (const key in value) {
    if (names.has(key)) continue;
    const folded = key.length > 32 ? key : key.toUpperCase().toLowerCase();
    if (names.has(folded)) throw invalid([...path, key], `must be written ${folded}`);
  }
}

function invalid(path: (string | number)[], msg: string): AppError {
  const error: FieldError = { loc: ['body', ...path], msg, type: 'invalid' };
  return new AppError('VALIDATION_FAILED', `${error.loc.join('.')}: ${msg}`, { errors: [error] });
}

/**
 * The query of a request, with its question mark; empty where there is none.
 *
 * @param url of the request, caller-controlled
 * @throws AppError for one that is too long
 */
export function readQuery(url: string): string {
  const at = url.indexOf('?');
  const query = at < 0 ? '' : url.slice(at);
  if (query.length > MAX_QUERY) {
    throw new AppError('BAD_REQUEST', `The query has more than ${MAX_QUERY} characters.`);
  }
  if (isStorableText(query)) return query;
  throw new AppError('BAD_REQUEST', 'The query has a character that no record can hold.');
}

/** What a request asks for. Its query is judged with its body. */
export function askModel(api: ModelApi, body: Record<string, unknown>, query: string): Ask {
  return {
    serverId: LOCAL_MODELS.serverId,
    method: api.method,
    name: LOCAL_MODELS.toolName,
    args: query === '' ? body : { ...body, [QUERY]: query },
    model: describeModelCall(body),
  };
}

/** The judged value as the runtime receives it: its serialisation and nothing else. */
export function sentToRuntime(
  api: ModelApi,
  args: Record<string, unknown>,
): { path: string; body: string | null } {
  const { [QUERY]: query = '', ...body } = args;
  return {
    path: `${api.path}${query as string}`,
    body: listsModels(api) ? null : JSON.stringify(body),
  };
}

/** What is recorded (specification 2, section 6). */
function describeModelCall({ model, messages, prompt, system, tools }: Record<string, unknown>) {
  const listed: unknown[] = Array.isArray(messages) ? messages : [];
  const ofPrompt = prompt === undefined ? 0 : 1;
  const isOneOfSystem = (message: unknown) => isObject(message) && message.role === 'system';
  return {
    name: typeof model === 'string' && model !== '' ? model : null,
    // A prompt has it in a member of its own.
    has_system_prompt: listed.some(isOneOfSystem) || (typeof system === 'string' && system !== ''),
    has_tools: Array.isArray(tools),
    message_count: Array.isArray(messages) ? messages.length : ofPrompt,
  } satisfies ModelCall;
}
