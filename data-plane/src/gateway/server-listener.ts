import type { RulesProvider } from '../contracts.ts';
import type { Caller } from '../enforcement/call/calls.ts';
import type { Enforcer } from '../enforcement/enforcer.ts';
import { isServerVisible } from '../enforcement/permission/permits.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';
import type { UpstreamPool } from '../upstream/sessions/pool.ts';
import type { UpstreamNotification } from '../upstream/upstream.ts';
import { unifiedNotification } from './unified.ts';

export interface ServerListenerDeps {
  enforcer: Pick<Enforcer, 'listen'>;
  door: Pick<Door, 'permitsOf'>;
  rules: RulesProvider;
  pool: Pick<UpstreamPool, 'listen'>;
}

/**
 * Listens to the servers of a path for as long as the agent's roles cover anything there.
 *
 * @param take gets a message as clients of the path see it, its server, and the original
 */
export function createServerListener(
  caller: Caller,
  { enforcer, door, rules, pool }: ServerListenerDeps,
  take: (shown: UpstreamNotification, from: string, original: UpstreamNotification) => void,
) {
  const { tenantId, agent, serverId, peer, hops } = caller;
  const listening = enforcer.listen(caller, (from, original) =>
    take(serverId === null ? unifiedNotification(from, original) : original, from, original),
  );
  let stopListening: (() => void) | null = null;
  let isOver = false;
  const stop = () => {
    stopListening?.();
    stopListening = null;
  };
  return {
    /** Checks the agent's roles again. */
    review(): void {
      const isVisible =
        serverId === null ||
        isServerVisible(door.permitsOf(caller), serverId, rules.findActiveRules(tenantId));
      if (!isOver && isVisible) {
        stopListening ??= pool.listen({
          tenantId,
          agentId: agent.id,
          serverId,
          onNotification: listening.receive,
          peerId: peer?.id,
          hops,
        });
      } else stop();
    },
    end(): void {
      isOver = true;
      stop();
      listening.end();
    },
  };
}
