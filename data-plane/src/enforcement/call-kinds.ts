/**
 * What a call of each judged MCP method asks for. A tool is called by its name; everything else is
 * a read under the name of its method, so that no permission for a tool covers a prompt of the same
 * name. The colon, which no server id contains, keeps the two apart in permissions: `prompts/get`
 * would also be the tool `get` of a server `prompts`.
 */
import type { UpstreamSession } from '../upstream/upstream.ts';
import type { Action, Ask, Destination, JudgedCall } from './calls.ts';
import { deriveAction, type ToolHints } from './tool-action.ts';

export const TOOL_CALL = 'tools/call';

/** The methods beside tool calls that are judged, each as a read. */
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
 * The list methods, each with the read that an agent must be permitted for an item to be shown;
 * null: the tool's own permission decides.
 */
const LISTS: ReadonlyMap<string, JudgedRead | null> = new Map([
  ['tools/list', null],
  ['resources/list', 'resources/read'],
  ['resources/templates/list', 'resources/read'],
  ['prompts/list', 'prompts/get'],
]);

/** Whether a method is a list, which is recorded, and shows what an agent's permissions cover. */
export function isList(method: string): boolean {
  return LISTS.has(method);
}

/** The read that the items of a list require; null for tools. */
export function useOfList(method: string): JudgedRead | null {
  return LISTS.get(method) ?? null;
}

/**
 * What servers may ask of a client, and the action as which it is judged: the reply leaves the
 * agent for the server, and sampling makes its model work. Also the methods on a server's task: an
 * update sends it something.
 */
const OTHER_ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['roots/list', 'read'],
  ['elicitation/create', 'write'],
  ['sampling/createMessage', 'execute'],
  ['tasks/get', 'read'],
  ['tasks/update', 'write'],
  ['tasks/cancel', 'write'],
  // A prompt leaves the agent like anything else that it writes.
  ['localmodel/models', 'read'],
  ['localmodel/chat', 'write'],
  ['localmodel/generate', 'write'],
]);

/** The methods of the local model runtime. Both styles of its API share these names. */
export type ModelMethod = 'localmodel/models' | 'localmodel/chat' | 'localmodel/generate';

const REPEATABLE: ReadonlySet<string> = new Set([TOOL_CALL, 'resources/read', 'prompts/get']);

/**
 * Whether an agent can repeat the call for an answer that waits for a person: these methods' results
 * may be `input_required` (MCP 2026-07-28).
 */
export function isRepeatable(method: string): boolean {
  return REPEATABLE.has(method);
}

const QUESTIONS: ReadonlySet<string> = new Set([
  'roots/list',
  'elicitation/create',
  'sampling/createMessage',
]);

/** Whether a method is a server's question to a client: its params come from the server. */
export function isQuestion(method: string): boolean {
  return QUESTIONS.has(method);
}

/** Whether a method concerns an existing task of a server. */
export function isTaskMethod(method: string): boolean {
  return method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel';
}

/** Stands in for the tool's name of a method that calls none: `mcp:resources/read`. */
export function nameOfMethod(method: string): string {
  return `mcp:${method}`;
}

type Asked = Pick<Ask, 'method' | 'name' | 'args' | 'model'>;

/** The action of a call. An unknown one is `execute`. */
export function actionOf({ method, name }: Asked, hints: ToolHints | undefined): Action {
  if (method === TOOL_CALL) return deriveAction(name, hints);
  return isJudgedRead(method) || isList(method) ? 'read' : (OTHER_ACTIONS.get(method) ?? 'execute');
}

/**
 * The target of a call: of a read the URI, the prompt's name or the level; of a completion the
 * completed item; of an elicitation the page that a person is sent to; of a language model its
 * name. It is never cut, since a policy may decide by its ending.
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

/** The members of the request's params for the server: what was judged, and nothing else. */
export function membersOf({ method, name, args }: Asked): string {
  const judged = JSON.stringify(args);
  if (method === TOOL_CALL) return `"name":${JSON.stringify(name)},"arguments":${judged}`;
  return judged.slice(1, -1);
}

/**
 * The destination that is the agent's session with the server of the call. A call is sent once.
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
        // The serialisation of the judged value and nothing else: `_meta` and unknown members were
        // not judged, so they are not forwarded.
        members: membersOf(ask),
        wantsProgress: exchange.wantsProgress,
        retry: ask.retry && JSON.stringify(ask.retry).slice(1, -1),
      };
      return findSession(call).request(request, exchange);
    },
  };
}

/**
 * The target of a call, for `request.resource` of the policy input and `target` of the audit event.
 * A guess by the argument's name, in this order; a policy that must be certain reads
 * `request.parameters`, which has every argument.
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

/** Longer targets are cut: the whole arguments are hashed into the record anyway. */
const MAX_TARGET_LENGTH = 1024;

/**
 * @param args the call's arguments, caller-controlled
 * @returns the first target found, else the tool's name
 */
export function findTarget(toolName: string, args: Record<string, unknown>): string {
  for (const key of TARGET_KEYS) {
    // Only own members: an inherited property is no target.
    if (!Object.hasOwn(args, key)) continue;
    const value = args[key];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof first === 'string' && first !== '') return first.slice(0, MAX_TARGET_LENGTH);
  }
  return toolName;
}
