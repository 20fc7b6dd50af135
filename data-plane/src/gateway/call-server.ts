/** The one way from a client's request to the enforcement path, whatever its method. */
import { uuidv7 } from '@governance/shared/ids';
import type { RawCall } from '../enforcement/calls.ts';
import type { CallAnswer } from '../enforcement/enforcer.ts';
import type { ForwardExchange } from '../enforcement/forward.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';
import { callUnified } from './unified.ts';

/**
 * Judges, records and forwards what a caller asks of a server.
 *
 * @param asked in the server's own names
 */
export function callServer(
  { guard, now }: { guard: Pick<Guard, 'call'>; now(): number },
  caller: Caller,
  sessionId: string | null,
  asked: Pick<RawCall, 'serverId' | 'method' | 'toolName' | 'args' | 'retry' | 'recipient'>,
  exchange: ForwardExchange,
): Promise<CallAnswer> {
  const call: RawCall = {
    id: uuidv7(now()),
    arrivedAt: caller.arrivedAt,
    credential: caller.credential,
    audienceServerId: caller.serverId,
    ...asked,
    sessionId,
    requesterId: caller.requesterId,
    requestId: caller.requestId,
    peer: caller.peer,
    owner: `${caller.tenantId} ${caller.agent.id}`,
    era: caller.era,
    hops: caller.hops,
  };
  return caller.serverId === null ? callUnified(guard, call, exchange) : guard.call(call, exchange);
}
