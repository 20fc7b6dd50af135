/**
 * The headers in which a modern client repeats what its body says (MCP 2026-07-28, Streamable HTTP,
 * request metadata). Policy judges the body: a header that differs is refused, since a proxy in
 * front of the gateway may have acted on it.
 */

import type { IncomingHttpHeaders } from 'node:http';
import { RPC_ERRORS } from '@governance/shared/errors';
import { NAMED_BY } from '../../upstream/modern/envelope.ts';
import { type ToolHeader, textOf, valueAt } from '../../upstream/modern/tool-headers.ts';
import { GatewayError } from '../json-rpc.ts';

const SENTINEL = /^=\?base64\?(.*)\?=$/s;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Decodes a header's value; undefined where the encoding is invalid. */
function decodeHeader(value: string): string | undefined {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!BASE64.test(encoded)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Buffer.from(encoded, 'base64'),
    );
  } catch {
    return undefined;
  }
}

/**
 * Refuses an MCP header that occurs more than once: Node joins two values into one, and whatever
 * stands before the gateway may have gone by either.
 *
 * @param rawHeaders names and values in turn, as they came
 * @throws GatewayError 400, -32020
 */
export function refuseRepeated(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!name.startsWith('mcp-')) continue;
    if (seen.has(name)) throw mismatch(`A header occurs twice: ${name.slice(0, 64)}.`);
    seen.add(name);
  }
}

/**
 * Checks the standard headers of a request against its body.
 *
 * @throws GatewayError 400, -32020
 */
export function checkHeaders(
  headers: IncomingHttpHeaders,
  method: string,
  params: Record<string, unknown>,
): void {
  if (headers['mcp-protocol-version'] === undefined) {
    throw mismatch('The header MCP-Protocol-Version is missing.');
  }
  const named = headers['mcp-method'];
  if (named === undefined) throw mismatch('The header Mcp-Method is missing.');
  if (named !== method) {
    throw mismatch(`The header Mcp-Method is not the method of the body, ${method}.`);
  }
  const member = NAMED_BY.get(method);
  const value = member === undefined ? undefined : params[member];
  // If the body names nothing, the params are invalid, and that error is reported.
  if (typeof value !== 'string') return;
  const name = headers['mcp-name'];
  if (typeof name !== 'string') throw mismatch('The header Mcp-Name is missing.');
  const decoded = decodeHeader(name);
  if (decoded === undefined) throw mismatch('The header Mcp-Name is not valid base64 of UTF-8.');
  if (decoded !== value) {
    throw mismatch(`The header Mcp-Name is not the ${member} of the body.`);
  }
}

const DECIMAL = /^-?\d{1,20}(?:\.\d{1,20})?$/;

/**
 * Checks the headers that repeat a call's arguments, as its tool's schema declares them. Headers
 * that it does not declare mean nothing, and none is forwarded: the gateway writes its own. An error
 * names no header that the client did not send: the server chose the name.
 *
 * @throws GatewayError 400, -32020
 */
export function checkParamHeaders(
  headers: IncomingHttpHeaders,
  declared: readonly ToolHeader[],
  args: unknown,
): void {
  for (const { path, name } of declared) {
    const value = valueAt(args, path);
    const text = textOf(value);
    if (text === null) continue;
    const header = headers[name];
    const at = path.join('.');
    if (typeof header !== 'string') {
      throw mismatch(`The header of the argument ${at} (x-mcp-header) is missing.`);
    }
    const decoded = decodeHeader(header);
    if (decoded === undefined) throw mismatch(`The header ${name} is not valid base64 of UTF-8.`);
    const isSame =
      typeof value === 'number' && DECIMAL.test(decoded)
        ? Number(decoded) === value
        : decoded === text;
    if (!isSame) throw mismatch(`The header ${name} is not the argument ${at} of the body.`);
  }
}

/** The error for headers that contradict the body. */
export function mismatch(message: string): GatewayError {
  return new GatewayError(400, message, RPC_ERRORS.HEADER_MISMATCH);
}
