/**
 * JSON-RPC 2.0 as the gateway reads and writes it. Envelopes are checked by hand: this is the
 * hottest path of the product, and the shapes are few.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import { parseStrictJson, StrictJsonError } from '@governance/shared/json/strict-json';
import { isStorableText } from '@governance/shared/text';
import type { Answer, Refusal } from '../enforcement/call/answer.ts';
import { isObject } from '../upstream/message.ts';

export type RpcId = string | number;

export type ClientMessage =
  | {
      kind: 'request';
      id: RpcId;
      method: string;
      params: Record<string, unknown>;
    }
  | { kind: 'notification'; method: string; params: Record<string, unknown> }
  /**
   * A reply to a server's request. `value` is the result or error; null where it is not an object.
   */
  | { kind: 'response'; id: unknown; ok: boolean; value: Record<string, unknown> | null }
  | { kind: 'invalid'; id: RpcId | null; why: string };

export type ClientRequest = Extract<ClientMessage, { kind: 'request' }>;

const MAX_ID_LENGTH = 256;
const MAX_METHOD_LENGTH = 128;
const MAX_DEPTH = 64;

/** Reads one message. `value` is caller-controlled, but strict JSON. */
export function readMessage(value: unknown): ClientMessage {
  if (!isObject(value)) return invalid(null, 'a message must be an object');
  const { id, method, params } = value;
  const hasId = Object.hasOwn(value, 'id');
  const known = isId(id) ? id : null;
  if (value.jsonrpc !== '2.0') return invalid(known, 'jsonrpc must be "2.0"');
  if (method === undefined) {
    const ok = Object.hasOwn(value, 'result');
    const part = ok ? value.result : value.error;
    if (!hasId || part === undefined) return invalid(known, 'method is missing');
    return { kind: 'response', id, ok, value: isObject(part) ? part : null };
  }
  if (typeof method !== 'string' || method.length > MAX_METHOD_LENGTH || !isStorableText(method)) {
    return invalid(known, 'method must be a text');
  }
  if (params !== undefined && !isObject(params)) return invalid(known, 'params must be an object');
  if (!hasId) return { kind: 'notification', method, params: params ?? {} };
  if (known === null) return invalid(null, 'id must be a text or a whole number');
  return { kind: 'request', id: known, method, params: params ?? {} };
}

/**
 * The id of a single request, whatever is wrong with the rest of it.
 *
 * @param body parsed, caller-controlled
 */
export function idOf(body: unknown): RpcId | null {
  const message = readMessage(body);
  return message.kind === 'request' || message.kind === 'invalid' ? message.id : null;
}

function invalid(id: RpcId | null, why: string): ClientMessage {
  return { kind: 'invalid', id, why };
}

function isId(value: unknown): value is RpcId {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return typeof value === 'string' && value.length <= MAX_ID_LENGTH;
}

/** The token under which a request wants its progress. */
export function progressTokenOf({ _meta }: Record<string, unknown>): RpcId | undefined {
  const token = isObject(_meta) ? _meta.progressToken : undefined;
  return typeof token === 'string' || typeof token === 'number' ? token : undefined;
}

/** A response around a result that is JSON text already. */
export function resultText(id: RpcId, raw: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${raw}}`;
}

/** The response to a call; null where none is expected any more. */
export function answerText(id: RpcId, answer: Answer): string | null {
  switch (answer.kind) {
    case 'result':
      return resultText(id, answer.raw);
    case 'error':
      return `{"jsonrpc":"2.0","id":${idText(id)},"error":${answer.raw}}`;
    case 'refusal':
      return errorText(id, answer.code, answer.message, answer.data);
    case 'cancelled':
    case 'model':
      return null;
  }
}

/** An error response. */
export function errorText(
  id: RpcId | null,
  code: number,
  message: string,
  data?: Record<string, unknown>,
): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message, data } });
}

/** A notification. */
export function notificationText(
  method: string,
  params: Record<string, unknown> | undefined,
): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

function idText(id: RpcId): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

/** A refusal as an exception: of a whole request, or of what it asks for. */
export class GatewayError extends Error implements Refusal {
  readonly kind = 'refusal';
  readonly status: number;
  readonly code: number;
  readonly challenge: 'basic' | 'bearer' | undefined;
  readonly data: Record<string, unknown> | undefined;

  constructor(
    status: number,
    message: string,
    code: number = RPC_ERRORS.INVALID_REQUEST,
    challenge?: 'basic' | 'bearer',
    data?: Record<string, unknown>,
  ) {
    super(message);
    this.name = 'GatewayError';
    this.status = status;
    this.code = code;
    this.challenge = challenge;
    this.data = data;
  }
}

/**
 * The only place where a client's bytes become a value.
 *
 * @param maxNodes values and keys of a message or batch, at most
 * @throws GatewayError 400 with -32700 or -32600
 */
export function parseBody(body: unknown, maxNodes: number): unknown {
  if (!(body instanceof Uint8Array)) {
    throw new GatewayError(400, 'The body is missing.', RPC_ERRORS.PARSE_ERROR);
  }
  try {
    return parseStrictJson(body, { maxDepth: MAX_DEPTH, maxNodes });
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    const isUnreadable = error.reason === 'syntax' || error.reason === 'utf8';
    const code = isUnreadable ? RPC_ERRORS.PARSE_ERROR : RPC_ERRORS.INVALID_REQUEST;
    throw new GatewayError(400, error.message, code);
  }
}
