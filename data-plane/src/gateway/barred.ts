/**
 * How a request is answered whose agent may do nothing at all. Where it is the data plane that may
 * let nobody act, that is no 401: the client's credentials are good, and it must keep them.
 */
import { RPC_ERRORS } from '@governance/shared/errors';
import type { Deny } from '../enforcement/calls.ts';
import { deniedByPolicy } from '../enforcement/denied.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { GatewayError } from './json-rpc.ts';

/** Why the caller may do nothing now, if so. */
export function barOf(caller: Caller, guard: Pick<Guard, 'findBar'>): Deny | undefined {
  return caller.bar ?? guard.findBar(caller.tenantId, caller.agent);
}

/** @param status where it is the data plane: 200 for the answer to a JSON-RPC request */
export function barred(bar: Deny, status: 200 | 403 = 200): GatewayError {
  if (bar.cause !== 'plane') {
    return new GatewayError(401, bar.message, RPC_ERRORS.UNAUTHORIZED, bar.challenge ?? 'bearer');
  }
  const data = bar.planeReason && { reason: bar.planeReason };
  const denied = deniedByPolicy(bar.message, data);
  return new GatewayError(status, denied.message, denied.code, undefined, denied.data);
}
