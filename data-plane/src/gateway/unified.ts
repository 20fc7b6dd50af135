/**
 * Names at the unified gateway. Every resource name there carries its server (ADR 27):
 * `mcp+<server_id>+<uri>`, in lists, results and updates, and in clients' requests. A server can
 * therefore neither hide nor capture another's resources.
 */
import type { ActiveRules } from '../contracts.ts';
import type { Answer } from '../enforcement/call/answer.ts';
import { isTaskMethod, TOOL_CALL } from '../enforcement/call/call-kinds.ts';
import type { Ask, Caller, Exchange } from '../enforcement/call/calls.ts';
import { findServer, isServerVisible } from '../enforcement/permission/permits.ts';
import { isObject } from '../upstream/message.ts';
import type { UpstreamNotification } from '../upstream/upstream.ts';
import { withMember } from './json-members.ts';
import { unifiedName } from './servers.ts';

const SCHEME = 'mcp+';

/** The URI (or URI template) of a server's resource at the unified gateway. */
export function unifiedUri(serverId: string, uri: string): string {
  return `${SCHEME}${serverId}+${uri}`;
}

/**
 * Splits such a URI.
 *
 * @returns undefined when it names no registered server, and the agent may learn that: `findNamed`
 */
export function splitUnifiedUri(
  { agent }: Pick<Caller, 'agent'>,
  rules: ActiveRules,
  text: string,
): { serverId: string; uri: string } | undefined {
  if (!text.startsWith(SCHEME)) return undefined;
  // Server ids contain no plus sign.
  const end = text.indexOf('+', SCHEME.length);
  const serverId = text.slice(SCHEME.length, end);
  const uri = text.slice(end + 1);
  if (end < 0 || serverId === '' || uri === '') return undefined;
  const isRegistered = findServer(rules, serverId) !== undefined;
  const isTaken = isRegistered || !isServerVisible(agent.permits, serverId, rules);
  return isTaken ? { serverId, uri } : undefined;
}

/** A message that a server sent unprompted, as clients of the unified gateway see it. */
export function unifiedNotification(
  serverId: string,
  { method, params }: UpstreamNotification,
): UpstreamNotification {
  if (method === 'notifications/resources/updated' && typeof params?.uri === 'string') {
    return { method, params: { ...params, uri: unifiedUri(serverId, params.uri) } };
  }
  if (method === 'notifications/message') {
    const { logger } = params ?? {};
    const name = typeof logger === 'string' ? `${serverId}__${logger}` : serverId;
    return { method, params: { ...params, logger: name } };
  }
  return { method, params };
}

/** The exchange of a call of the unified gateway: what is said meanwhile has the gateway's names. */
export function unifiedExchange({ serverId }: Ask, exchange: Exchange): Exchange {
  return {
    ...exchange,
    onNotification: (notification) =>
      exchange.onNotification(unifiedNotification(serverId, notification)),
  };
}

/** The answer of such a call, in the gateway's names. */
export function unifiedAnswer({ serverId, method }: Ask, answer: Answer): Answer {
  if (answer.kind !== 'result') return answer;
  const { raw, value } = answer;
  if (isTaskOf(method, value)) return withUnifiedTask(serverId, raw, value);
  return { ...answer, raw: withUnifiedUris(method, serverId, raw, value) };
}

function isTaskOf(method: string, value: unknown): value is { taskId: string; result?: unknown } {
  if (!isObject(value) || typeof value.taskId !== 'string') return false;
  return isTaskMethod(method) || value.resultType === 'task';
}

/** A task carries its server in its id; its result is that of a tool call. */
function withUnifiedTask(
  serverId: string,
  raw: string,
  value: { taskId: string; result?: unknown },
): Answer {
  const taskId = unifiedName(serverId, value.taskId);
  const named = { ...value, taskId };
  const text = withMember(raw, value, 'taskId', taskId);
  const { result } = value;
  if (!isObject(result)) return { kind: 'result', raw: text, value: named };
  const written = JSON.stringify(result);
  const renamed = withUnifiedUris(TOOL_CALL, serverId, written, result);
  // An answer that names no resource keeps the server's exact text.
  if (renamed === written) return { kind: 'result', raw: text, value: named };
  const whole = { ...named, result: JSON.parse(renamed) as unknown };
  return { kind: 'result', raw: withMember(text, named, 'result', whole.result), value: whole };
}

/** The member of a result that names resources. */
const NAMING_MEMBERS: Record<string, string> = {
  [TOOL_CALL]: 'content',
  'resources/read': 'contents',
  'prompts/get': 'messages',
};

/**
 * A result with its resources in names of the unified gateway. Only that one member is serialised
 * again, and only where it names a resource: everything else keeps the server's text.
 */
function withUnifiedUris(method: string, serverId: string, raw: string, value: unknown): string {
  const member = NAMING_MEMBERS[method];
  const items = member !== undefined && isObject(value) ? value[member] : undefined;
  if (member === undefined || !Array.isArray(items)) return raw;
  let found = false;
  const rename = (part: unknown): unknown => {
    if (!isObject(part) || typeof part.uri !== 'string') return part;
    found = true;
    return { ...part, uri: unifiedUri(serverId, part.uri) };
  };
  const renameBlock = (block: unknown): unknown => {
    if (!isObject(block)) return block;
    if (block.type === 'resource_link') return rename(block);
    return block.type === 'resource' ? { ...block, resource: rename(block.resource) } : block;
  };
  const renameMessage = (message: unknown): unknown =>
    isObject(message) ? { ...message, content: renameBlock(message.content) } : message;
  const renameItem = { content: renameBlock, contents: rename, messages: renameMessage }[member];
  const renamed = renameItem === undefined ? items : items.map(renameItem);
  return found ? withMember(raw, value as Record<string, unknown>, member, renamed) : raw;
}
