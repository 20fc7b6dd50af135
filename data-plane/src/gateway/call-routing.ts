/** Shared by the gateway's services: rules, servers and time limits. */

import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import { RPC_ERRORS } from '@governance/shared/errors';
import { inTime } from '@governance/shared/time/in-time';
import type { ActiveRules, RulesProvider } from '../contracts.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import { isTooFar, LOOP_MESSAGE } from '../upstream/hops.ts';
import type { UpstreamPool } from '../upstream/sessions/pool.ts';
import {
  type Asker,
  Cancellation,
  UpstreamFailure,
  type UpstreamSession,
} from '../upstream/upstream.ts';
import { GatewayError } from './json-rpc.ts';

/** A slower server is left out of a joined list. */
const LIST_TIMEOUT_MS = 10_000;
/** What has arrived by then is shown, even if more would come. */
export const LIST_PART_MS = 9_000;

/** An error of the client's params. */
export function badParams(message: string): GatewayError {
  return new GatewayError(200, message, RPC_ERRORS.INVALID_PARAMS);
}

/** The rules of the caller's tenant. Throws GatewayError where there are none. */
export function requireRules(rules: RulesProvider, caller: Caller): ActiveRules {
  const active = rules.findActiveRules(caller.tenantId);
  if (active === null) {
    throw new GatewayError(200, 'No policy bundle is active yet.', RPC_ERRORS.INTERNAL);
  }
  return active;
}

/** The caller's session with a server. Throws UpstreamFailure where there can be none. */
export function sessionWith(
  pool: Pick<UpstreamPool, 'getSession'>,
  { tenantId, agent, peer, era, hops }: Caller,
  server: McpServerSetting,
): UpstreamSession {
  return pool.getSession({ tenantId, server, agentId: agent.id, peer, era, hops });
}

/** On whose behalf a server is asked for what is no call: its session, or what it can do. */
export function askerFor(caller: Caller, door: Pick<Door, 'findIneligibility'>): Asker {
  return {
    cancellation: new Cancellation(),
    findIneligibility: () => door.findIneligibility(caller)?.message,
  };
}

/** Refuses to contact servers for a caller that passed through too many gateways. */
export function requireFewHops({ hops, serverId }: Caller): void {
  if (isTooFar({ hops, serverId })) throw new UpstreamFailure('loop', LOOP_MESSAGE);
}

/** Waits no longer than a joined list may. Calls `onLate` when it gives up. */
export function answerInTime<T>(
  work: Promise<T>,
  onLate?: () => void,
  limitMs = LIST_TIMEOUT_MS,
): Promise<T> {
  return inTime(work, limitMs, () => {
    onLate?.();
    throw new UpstreamFailure('timeout', 'the answer did not come in time');
  });
}
