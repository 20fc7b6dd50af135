import { RPC_ERRORS } from '@governance/shared/errors';
import { parseStrictJson, StrictJsonError } from '@governance/shared/strict-json';
import { GatewayError } from './json-rpc.ts';

const MAX_DEPTH = 64;

/**
 * The one place where a client's bytes become a value.
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
