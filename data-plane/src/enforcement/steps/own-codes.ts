import { RPC_ERRORS } from '@governance/shared/errors';
import { errorAnswer } from '../../upstream/upstream.ts';
import type { Continue } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import type { ReceivedMessage } from '../call/received-message.ts';

/**
 * The codes of the gateway's own decisions (denied, escalated, rate limited), which no server may
 * use.
 */
const OWN_CODES: ReadonlySet<unknown> = new Set([
  RPC_ERRORS.POLICY_DENIED,
  RPC_ERRORS.ESCALATED,
  RPC_ERRORS.RATE_LIMITED,
]);
/** JSON-RPC leaves -32000 to every server; only with these words is it the gateway's own. */
const UNAUTHORIZED = /^\W*unauthorized/i;

function isOwn(code: unknown, message: unknown): boolean {
  if (OWN_CODES.has(code)) return true;
  return code === RPC_ERRORS.UNAUTHORIZED && UNAUTHORIZED.test(String(message));
}

/**
 * Replaces a server's error with one of these codes by an internal error that names the server,
 * with the original code in `data`.
 */
export function coverOwnCodes(received: ReceivedMessage): Continue<ReceivedMessage> {
  const { part, speaker } = received;
  if (part.kind !== 'error' || speaker !== 'server') return proceed(received);
  const { code, message, data } = part.value as Record<string, unknown>;
  if (!isOwn(code, message)) return proceed(received);
  const told = `The MCP server answered with an error: ${String(message)}`;
  const kept = { upstream_code: code, ...(data !== undefined && { upstream_data: data }) };
  const covered = errorAnswer(RPC_ERRORS.INTERNAL, told, kept);
  return proceed({ ...received, part: covered, replacedBy: 'own-codes' });
}
