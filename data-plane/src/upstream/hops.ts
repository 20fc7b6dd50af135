/**
 * How many gateways a request has passed. A registered server may be a gateway, even this one, so
 * that a request could loop: each gateway states the count in a header of its requests, and refuses
 * a request that has passed too many. Proven by gateway-loop.test.ts.
 */

/** Set on every request to an MCP server over HTTP, counting this gateway. */
export const HOPS_HEADER = 'x-governance-hops';

/** Gateways before this one, at most. */
const MAX_HOPS = 4;
/** Fewer at the unified path, where one request becomes one for each server. */
const MAX_UNIFIED_HOPS = 1;

/**
 * Reads the header of a request. An inflated number is only refused sooner; an unreadable one
 * counts as too many.
 *
 * @param header caller-controlled
 * @returns at most one more than MAX_HOPS, so that sessions can be told apart by it
 */
export function readHops(header: string | string[] | undefined): number {
  if (header === undefined) return 0;
  if (typeof header !== 'string' || !/^\d{1,2}$/.test(header)) return MAX_HOPS + 1;
  return Math.min(Number(header), MAX_HOPS + 1);
}

/**
 * Whether a request has passed too many gateways to be sent on.
 *
 * @param request the server of its path; null at the path of all servers
 */
export function isTooFar({
  hops,
  serverId,
}: {
  readonly hops: number;
  readonly serverId: string | null;
}): boolean {
  return hops > (serverId === null ? MAX_UNIFIED_HOPS : MAX_HOPS);
}

/** The message for the first caller of the loop. */
export const LOOP_MESSAGE =
  'The request has passed too many gateways: an MCP server leads back to a gateway before it.';

/** Whether a JSON-RPC error is a gateway's report of a loop. */
export function isLoopError(error: unknown): boolean {
  const { data } = error as { data?: { failure?: unknown } | null };
  return typeof data === 'object' && data !== null && data.failure === 'loop';
}
