import { RPC_ERRORS } from '@governance/shared/errors';

/**
 * The one maker of -32003. Its message begins with these words whoever denies: a policy, or what
 * keeps this data plane from letting anybody act (`data.reason` tells them apart).
 */
export function deniedByPolicy(
  message: string,
  data?: Record<string, unknown>,
): { code: number; message: string; data?: Record<string, unknown> } {
  const denied = { code: RPC_ERRORS.POLICY_DENIED, message: `Denied by policy: ${message}` };
  return data === undefined ? denied : { ...denied, data };
}

/** What no server may say in the gateway's place: that the gateway denied or escalated a call. */
const OWN_CODES: ReadonlySet<unknown> = new Set([RPC_ERRORS.POLICY_DENIED, RPC_ERRORS.ESCALATED]);

/**
 * A server's own error as it goes on to the client. One with a code of the gateway's decisions is
 * told as what it is, an error of the server, and keeps its code in `data`.
 *
 * @param raw the JSON of the error as the server wrote it
 * @param value the same, parsed; written by the server
 */
export function ownErrorOf(raw: string, value: unknown): string {
  const error = typeof value === 'object' && value !== null ? value : {};
  const { code, message, data } = error as Record<string, unknown>;
  if (!OWN_CODES.has(code)) return raw;
  return JSON.stringify({
    code: RPC_ERRORS.INTERNAL,
    message: `The MCP server answered with an error: ${String(message)}`,
    data: { upstream_code: code, ...(data !== undefined && { upstream_data: data }) },
  });
}
