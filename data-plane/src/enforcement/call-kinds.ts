/**
 * What a call of each judged MCP method asks for. A tool is called by its name; everything else is
 * a read under the name of its method, so that no permission for a tool covers a prompt that is
 * called the same. The colon, which no id of a server has, keeps the two apart in permissions:
 * `prompts/get` would also be the tool `get` of a server `prompts`.
 */
import type { Action, RawCall } from './calls.ts';
import { deriveAction, type ToolHints } from './tool-action.ts';
import { findTarget } from './tool-target.ts';

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
 * The lists, each with what an agent has to be allowed to do with an item for it to be shown; null:
 * a tool's own permission says so.
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

/** What one must be allowed to do with the items of a list; null for tools. */
export function useOfList(method: string): JudgedRead | null {
  return LISTS.get(method) ?? null;
}

/**
 * What servers may ask of a client, and the action as which it is judged: what comes back leaves
 * the agent for the server, and sampling makes its model work. And what is done with a task of a
 * server: an update tells it something.
 */
const OTHER_ACTIONS: ReadonlyMap<string, Action> = new Map([
  ['roots/list', 'read'],
  ['elicitation/create', 'write'],
  ['sampling/createMessage', 'execute'],
  ['tasks/get', 'read'],
  ['tasks/update', 'write'],
  ['tasks/cancel', 'write'],
]);

/** Whether a method is about a task that a server has already. */
export function isTaskMethod(method: string): method is TaskMethod {
  return method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel';
}
export type TaskMethod = 'tasks/get' | 'tasks/update' | 'tasks/cancel';

/** What stands in the tool's place for a method that calls none: `mcp:resources/read`. */
export function nameOfMethod(method: string): string {
  return `mcp:${method}`;
}

type Asked = Pick<RawCall, 'method' | 'toolName' | 'args'>;

/** The action of a call. What is not known is `execute`. */
export function actionOf({ method, toolName }: Asked, hints: ToolHints | undefined): Action {
  if (method === TOOL_CALL) return deriveAction(toolName, hints);
  return isJudgedRead(method) || isList(method) ? 'read' : (OTHER_ACTIONS.get(method) ?? 'execute');
}

/**
 * The target of a call: of a read the URI, the prompt's name or the level; of a completion what is
 * completed; of an elicitation the page that a person is sent to. These are whole, since a policy
 * may decide by how they end.
 */
export function targetOf({ method, toolName, args }: Asked): string {
  if (method === TOOL_CALL) return findTarget(toolName, args);
  if (isList(method)) return toolName;
  if (!isJudgedRead(method)) {
    const found = isTaskMethod(method) ? args.taskId : args.url;
    const isTarget = isTaskMethod(method) || method === 'elicitation/create';
    return isTarget && typeof found === 'string' ? found : toolName;
  }
  const { uri, name, level, ref } = args;
  const named = (ref ?? {}) as { uri?: unknown; name?: unknown };
  const found = [uri, name, level, named.uri, named.name].find((one) => typeof one === 'string');
  return typeof found === 'string' ? found : toolName;
}

/** The members that a request has when it is made again with what it was asked for. */
export function retryMembersOf({ retry }: Pick<RawCall, 'retry'>): string | undefined {
  return retry === undefined ? undefined : JSON.stringify(retry).slice(1, -1);
}

/** The members of the request's params for the server: what was judged, and nothing besides. */
export function membersOf({ method, toolName, args }: Asked): string {
  const judged = JSON.stringify(args);
  if (method === TOOL_CALL) return `"name":${JSON.stringify(toolName)},"arguments":${judged}`;
  return judged.slice(1, -1);
}
