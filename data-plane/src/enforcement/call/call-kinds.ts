/**
 * What a call of each judged MCP method asks for. A tool is called by its name. Every other method
 * is judged under the name `mcp:<method>`, so that no permission for a tool covers a prompt of the
 * same name. The colon, which no server id contains, keeps the two apart in permissions: without
 * it, `prompts/get` could also be the tool `get` of a server `prompts`.
 */
import type { UpstreamSession } from '../../upstream/upstream.ts';
import type { Action, Ask, Destination, JudgedCall } from './calls.ts';
import { coverMatched, type Marks } from './cover-texts.ts';
import { deriveAction, type ToolHints } from './tool-action.ts';

export const TOOL_CALL = 'tools/call';

/** The methods, beside tool calls, that are judged as reads. */
export const JUDGED_READS = [
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
] as const;
export type JudgedRead = (typeof JUDGED_READS)[number];

const READS: ReadonlySet<string> = new Set(JUDGED_READS);

/** Whether a method is judged as a read. */
export function isJudgedRead(method: string): method is JudgedRead {
  return READS.has(method);
}

/**
 * The list methods, each with the read that an agent must be permitted to see an item; null where
 * the permission for the tool itself decides.
 */
const LISTS: ReadonlyMap<string, JudgedRead | null> = new Map([
  ['tools/list', null],
  ['resources/list', 'resources/read'],
  ['resources/templates/list', 'resources/read'],
  ['prompts/list', 'prompts/get'],
]);

/** Whether a method is a list. It is recorded, and shows what an agent's permissions cover. */
export function isList(method: string): boolean {
  return LISTS.has(method);
}

/** The read that the items of a list require; null for tools. */
export function useOfList(method: string): JudgedRead | null {
  return LISTS.get(method) ?? null;
}

/**
 * The actions of the other judged methods. A server's question to a client is judged by what the
 * reply does: it leaves the agent for the server, and for sampling the agent's model works. A
 * server's task is written to where the method sends the server something.
 */
const OTHER_ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['roots/list', 'read'],
  ['elicitation/create', 'write'],
  ['sampling/createMessage', 'execute'],
  ['tasks/get', 'read'],
  ['tasks/update', 'write'],
  ['tasks/cancel', 'write'],
  // A prompt to a local model leaves the agent like any other text that it writes.
  ['localmodel/models', 'read'],
  ['localmodel/chat', 'write'],
  ['localmodel/generate', 'write'],
]);

/** The methods of the local model runtime. Both styles of its API share these names. */
export type ModelMethod = 'localmodel/models' | 'localmodel/chat' | 'localmodel/generate';

const REPEATABLE: ReadonlySet<string> = new Set([TOOL_CALL, 'resources/read', 'prompts/get']);

/**
 * Whether an agent can repeat the call to get an answer that waits for a person: the results of
 * these methods may be `input_required` (MCP 2026-07-28).
 */
export function isRepeatable(method: string): boolean {
  return REPEATABLE.has(method);
}

/** Whether a method concerns an existing task of a server. */
export function isTaskMethod(method: string): boolean {
  return method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel';
}

/** The name, in place of a tool's, of a method that calls no tool: `mcp:resources/read`. */
export function nameOfMethod(method: string): string {
  return `mcp:${method}`;
}

type Asked = Pick<Ask, 'method' | 'name' | 'args' | 'model'>;

/** The action of a call: `execute` for an unknown method. */
export function actionOf({ method, name }: Asked, hints: ToolHints | undefined): Action {
  if (method === TOOL_CALL) return deriveAction(name, hints);
  return isJudgedRead(method) || isList(method) ? 'read' : (OTHER_ACTIONS.get(method) ?? 'execute');
}

/**
 * The target of a call:
 * - tool: see `findTarget`
 * - read: the URI, the prompt's name or the log level
 * - completion: the completed item
 * - method on a task: the task's id
 * - elicitation: the page that a person is sent to
 * - language model: its name
 *
 * Only a tool's target is cut (MAX_TARGET_LENGTH): a policy may decide by the ending of the others.
 */
export function targetOf({ method, name, args, model }: Asked): string {
  if (method === TOOL_CALL) return findTarget(name, args);
  if (model !== undefined) return model.name ?? name;
  if (isList(method)) return name;
  if (!isJudgedRead(method)) {
    const found = isTaskMethod(method) ? args.taskId : args.url;
    const isTarget = isTaskMethod(method) || method === 'elicitation/create';
    return isTarget && typeof found === 'string' ? found : name;
  }
  const { uri, name: item, level, ref } = args;
  const named = (ref ?? {}) as { uri?: unknown; name?: unknown };
  const found = [uri, item, level, named.uri, named.name].find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : name;
}

/**
 * The name of a call's tool as alerts and logs may show it: the agent chose it, so it may hold what
 * DLP found. One in a call where too much was found stays, as in the record.
 */
export function shownName(call: {
  readonly ask: { readonly name: string };
  readonly dlp?: { readonly matched?: Marks | null };
}): string {
  const matched = call.dlp?.matched;
  // Most calls hold nothing that could stand in a name.
  return matched?.size ? coverMatched(call.ask.name, matched) : call.ask.name;
}

/** The members of the request's params for the server: only what was judged. */
export function membersOf({ method, name, args }: Asked): string {
  const judged = JSON.stringify(args);
  if (method === TOOL_CALL) return `"name":${JSON.stringify(name)},"arguments":${judged}`;
  return judged.slice(1, -1);
}

/**
 * The destination of calls to a server: the agent's session with it. A call is sent once.
 *
 * @param findSession throws UpstreamFailure for a server that is not there
 */
export function createServerDestination(
  findSession: (call: JudgedCall) => UpstreamSession,
): Destination {
  return {
    speaker: 'server',
    send(call, exchange) {
      const { ask } = call;
      const request = {
        method: ask.method,
        // Only the judged value is serialised: `_meta` and unknown members were not judged, so they
        // are not forwarded.
        members: membersOf(ask),
        wantsProgress: exchange.wantsProgress,
        retry: ask.retry && JSON.stringify(ask.retry).slice(1, -1),
      };
      return findSession(call).request(request, exchange);
    },
  };
}

/**
 * Names of arguments that hold a tool's target, in order of precedence. The target is
 * `request.resource` of the policy input and `target` of the audit event. It is a guess: a policy
 * that must be certain reads `request.parameters`, which has every argument.
 */
const TARGET_KEYS = [
  'path',
  'file_path',
  'filepath',
  'filePath',
  'file',
  'filename',
  'destination',
  'source',
  'directory',
  'dir',
  'uri',
  'url',
  'table',
  'table_name',
  'tableName',
  'collection',
  'bucket',
  'database',
  'recipient',
  'recipients',
  'to',
  'email',
  'channel',
  'repository',
  'repo',
  'paths',
  'files',
  'urls',
] as const;

/** Longer targets are cut; the record also has a hash of all arguments. */
const MAX_TARGET_LENGTH = 1024;

/**
 * The target of a tool call.
 *
 * @param args the call's arguments, caller-controlled
 * @returns the first target found, else the tool's name
 */
export function findTarget(toolName: string, args: Record<string, unknown>): string {
  for (const key of TARGET_KEYS) {
    // Only own members: an inherited property is not a target.
    if (!Object.hasOwn(args, key)) continue;
    const value = args[key];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string' && first !== '') return first.slice(0, MAX_TARGET_LENGTH);
  }
  return toolName;
}
