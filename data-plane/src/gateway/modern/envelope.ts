/**
 * What a modern client sends with each request instead of once at initialization (MCP 2026-07-28,
 * basic protocol, `_meta`): its revision, its capabilities, and what it wants to be notified of.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { RPC_ERRORS } from '@governance/shared/errors';
import type { CallRetry } from '../../enforcement/call/calls.ts';
import { LEGACY_REVISIONS, MODERN_REVISION } from '../../upstream/era.ts';
import { isObject, LOG_LEVELS } from '../../upstream/message.ts';
import { badParams } from '../call-routing.ts';
import { type ClientRequest, GatewayError, progressTokenOf, type RpcId } from '../json-rpc.ts';
import { checkHeaders, mismatch } from './headers.ts';

/** Every revision that the gateway speaks, the preferred one first. */
export const SUPPORTED_REVISIONS = [MODERN_REVISION, ...LEGACY_REVISIONS] as const;

const PREFIX = 'io.modelcontextprotocol/';
/** The member of `_meta` that a modern request has. */
export const VERSION_KEY = `${PREFIX}protocolVersion`;
const CAPABILITIES_KEY = `${PREFIX}clientCapabilities`;
const CLIENT_INFO = `${PREFIX}clientInfo`;
const LOG_LEVEL = `${PREFIX}logLevel`;

/** A request whose common members were read and found valid. */
export interface ModernRequest extends Omit<ClientRequest, 'kind'> {
  /** What the client declared. Caller-controlled. */
  capabilities: Record<string, unknown>;
  logLevel: (typeof LOG_LEVELS)[number] | undefined;
  progressToken: RpcId | undefined;
  /** Headers that repeat its arguments are checked against them. */
  headers: IncomingHttpHeaders;
}

/**
 * Reads the members that every request carries.
 *
 * @throws GatewayError 400 with -32020, -32022 or -32602
 */
export function readEnvelope(
  headers: IncomingHttpHeaders,
  { id, method, params }: ClientRequest,
): ModernRequest {
  const meta = isObject(params._meta) ? params._meta : {};
  const version = meta[VERSION_KEY];
  const header = headers['mcp-protocol-version'];
  if (version !== undefined && header !== undefined && header !== version) {
    throw mismatch(`The header MCP-Protocol-Version is not _meta["${VERSION_KEY}"] of the body.`);
  }
  const missing = [VERSION_KEY, CAPABILITIES_KEY].filter((name) => meta[name] === undefined);
  if (missing.length > 0) throw malformed(`_meta lacks ${missing.join(' and ')}.`);
  if (typeof version !== 'string') throw malformed(`_meta["${VERSION_KEY}"] must be a text.`);
  if (version !== MODERN_REVISION) throw unsupported(version);
  checkHeaders(headers, method, params);
  const capabilities = meta[CAPABILITIES_KEY];
  if (!isObject(capabilities)) throw malformed(`_meta["${CAPABILITIES_KEY}"] must be an object.`);
  const info = meta[CLIENT_INFO];
  if (info !== undefined && !isObject(info)) {
    throw malformed(`_meta["${CLIENT_INFO}"] must be an object.`);
  }
  return {
    id,
    method,
    params,
    capabilities,
    logLevel: readLogLevel(meta[LOG_LEVEL]),
    progressToken: progressTokenOf(params),
    headers,
  };
}

/**
 * The input of a client that repeats a request after it was asked for input.
 *
 * @throws GatewayError -32602
 */
export function readRetry(params: Record<string, unknown>): CallRetry | undefined {
  const { inputResponses, requestState } = params;
  if (inputResponses === undefined && requestState === undefined) return undefined;
  if (inputResponses !== undefined && !isResponses(inputResponses)) {
    throw badParams('inputResponses must be an object of objects');
  }
  if (requestState !== undefined && typeof requestState !== 'string') {
    throw badParams('requestState must be a text');
  }
  return {
    ...(inputResponses !== undefined && { inputResponses }),
    ...(requestState !== undefined && { requestState }),
  };
}

/** Whether these are answers to a server's questions: a result for each. */
export function isResponses(value: unknown): value is Record<string, Record<string, unknown>> {
  return isObject(value) && Object.values(value).every(isObject);
}

function readLogLevel(value: unknown): (typeof LOG_LEVELS)[number] | undefined {
  if (value === undefined) return undefined;
  const level = LOG_LEVELS.find((one) => one === value);
  if (level === undefined) {
    throw malformed(`_meta["${LOG_LEVEL}"] is one of ${LOG_LEVELS.join(', ')}.`);
  }
  return level;
}

function malformed(message: string): GatewayError {
  return new GatewayError(400, message, RPC_ERRORS.INVALID_PARAMS);
}

function unsupported(requested: string): GatewayError {
  const data = { supported: [...SUPPORTED_REVISIONS], requested: requested.slice(0, 64) };
  const { UNSUPPORTED_PROTOCOL_VERSION: code } = RPC_ERRORS;
  return new GatewayError(400, 'Unsupported protocol version', code, undefined, data);
}
