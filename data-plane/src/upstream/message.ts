/**
 * JSON-RPC messages of a server, read strictly (a server is no more trusted than a client) but
 * passed on verbatim: a 64-bit number in a result must reach the agent as it was written.
 */
import { parseStrictJson, StrictJsonError } from '@governance/shared/json/strict-json';
import {
  type ServerRequest,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamNotification,
} from './upstream.ts';

export type UpstreamMessage =
  | { kind: 'response'; id: unknown; answer: UpstreamAnswer }
  | ({ kind: 'request' } & ServerRequest)
  | ({ kind: 'notification' } & UpstreamNotification);

const MAX_DEPTH = 128;
/**
 * Values and keys of a message, unless the settings say otherwise: parsing this many distinct keys
 * takes some tens of milliseconds.
 */
export const MESSAGE_NODES = 50_000;
/** Messages of a batch, which only revision 2025-03-26 has. */
const MAX_BATCH = 50;

/**
 * Reads what a server sent.
 *
 * @param text one message, or a batch of revision 2025-03-26
 * @param maxNodes values and keys in it, at most
 * @throws UpstreamFailure `malformed` when it is not JSON-RPC 2.0, `too_large` beyond `maxNodes`
 */
export function parseUpstreamMessages(text: string, maxNodes = MESSAGE_NODES): UpstreamMessage[] {
  const memberSpans: number[] = [];
  let value: unknown;
  try {
    value = parseStrictJson(text, { maxDepth: MAX_DEPTH, maxNodes, numbers: 'any', memberSpans });
  } catch (error) {
    if (error instanceof StrictJsonError && error.reason === 'nodes') throw tooManyNodes(maxNodes);
    const why = error instanceof Error ? error.message : 'unknown';
    throw new UpstreamFailure('malformed', `the server's message was refused: ${why}`);
  }
  if (!Array.isArray(value)) return [parseMessage(value, text, memberSpans)];
  if (value.length > MAX_BATCH) throw malformed(`a batch of more than ${MAX_BATCH} messages`);
  return value.map((item) => parseMessage(item, null, []));
}

function parseMessage(value: unknown, text: string | null, spans: number[]): UpstreamMessage {
  if (!isObject(value) || value.jsonrpc !== '2.0') throw malformed('no JSON-RPC 2.0 message');
  if ('method' in value) {
    const { method, id, params } = value;
    if (typeof method !== 'string') throw malformed('a method that is no text');
    if (id === undefined) {
      return { kind: 'notification', method, params: isObject(params) ? params : undefined };
    }
    if (typeof id !== 'string' && typeof id !== 'number') throw malformed('a request without id');
    return { kind: 'request', id, method, params: isObject(params) ? params : {} };
  }
  const kind = 'result' in value ? 'result' : 'error';
  if ('result' in value === 'error' in value) throw malformed('neither a result nor an error');
  const part = value[kind];
  if (!isObject(part)) throw malformed('a result or error that is no object');
  if (kind === 'error' && (!Number.isInteger(part.code) || typeof part.message !== 'string')) {
    throw malformed('an error without code or message');
  }
  const raw = rawMember(value, kind, text, spans) ?? JSON.stringify(part);
  return { kind: 'response', id: value.id, answer: { kind, raw, value: part } };
}

/** The text of a member, where the order of the parsed members is the order of the text. */
function rawMember(
  message: Record<string, unknown>,
  name: string,
  text: string | null,
  spans: number[],
): string | null {
  const names = Object.keys(message);
  const at = names.indexOf(name);
  // Keys that look like array indexes are enumerated first, whatever the text says.
  if (text === null || names.some((key) => key >= '0' && key < ':')) return null;
  return text.slice(spans[at * 2], spans[at * 2 + 1]).trim();
}

/** The levels of log messages (RFC 5424), the least severe first. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(what: string): UpstreamFailure {
  return new UpstreamFailure('malformed', `the server sent ${what}`);
}

/** The message is for operators, who can raise the limit. */
function tooManyNodes(limit: number): UpstreamFailure {
  const message = `a message of more than ${limit} values (SERVICE_MCP_MESSAGE_LIMIT_NODES)`;
  return new UpstreamFailure('too_large', message);
}
