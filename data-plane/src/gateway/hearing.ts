import type { RulesProvider } from '../contracts.ts';
import type { Caller } from '../enforcement/calls.ts';
import { isServerVisible } from '../enforcement/grants.ts';
import type { Door } from '../enforcement/steps/authenticate.ts';

/**
 * Listens to the servers of a path for as long as the agent's roles cover anything there.
 *
 * @param listen starts listening, and returns the unsubscribe
 */
export function createHearing(
  caller: Caller,
  { door, rules }: { door: Pick<Door, 'grantsOf'>; rules: RulesProvider },
  listen: () => () => void,
) {
  let stopListening: (() => void) | null = null;
  let isOver = false;
  return {
    /** Checks the agent's roles again. */
    review(): void {
      const { tenantId, serverId } = caller;
      const isVisible =
        serverId === null ||
        isServerVisible(door.grantsOf(caller), serverId, rules.findActiveRules(tenantId));
      if (!isOver && isVisible) stopListening ??= listen();
      else {
        stopListening?.();
        stopListening = null;
      }
    },
    end(): void {
      isOver = true;
      stopListening?.();
      stopListening = null;
    },
  };
}
