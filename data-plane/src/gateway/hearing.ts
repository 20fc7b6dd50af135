/**
 * What a client may hear on a stream, which outlives the roles that its agent had when it began. Of
 * a server that they cover no more it hears nothing, from the next notification on.
 */
import { coversCall } from '@governance/shared/permission';
import type { RulesProvider } from '../contracts.ts';
import { nameOfMethod } from '../enforcement/call-kinds.ts';
import { permissionsFor } from '../enforcement/grants.ts';
import { isListVisible, isServerVisible } from '../enforcement/tool-visibility.ts';
import type { UpstreamNotification } from '../upstream/upstream.ts';
import type { Caller } from './caller.ts';
import type { Guard } from './guard.ts';

const LISTS: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'tools/list',
  'notifications/resources/list_changed': 'resources/list',
  'notifications/prompts/list_changed': 'prompts/list',
};

export interface HearingDeps {
  guard: Pick<Guard, 'findAgent'>;
  rules: RulesProvider;
}

/** Whether a client may hear what a server sent, by the roles that its agent has now. */
export function mayHear(
  { tenantId, agent }: Pick<Caller, 'tenantId' | 'agent'>,
  { guard, rules }: HearingDeps,
  serverId: string,
  { method, params }: UpstreamNotification,
): boolean {
  const grants = guard.findAgent(tenantId, agent.id)?.grants ?? [];
  const registry = rules.findActiveRules(tenantId);
  const list = LISTS[method];
  if (list !== undefined) return isListVisible(grants, serverId, list, registry);
  if (method !== 'notifications/resources/updated') {
    return isServerVisible(grants, serverId, registry);
  }
  const subscribed = 'resources/subscribe';
  const toolName = nameOfMethod(subscribed);
  const args = { uri: params?.uri };
  return permissionsFor(grants, { serverId, method: subscribed, toolName, args }).some(
    (permission) => coversCall(permission, serverId, toolName, 'read'),
  );
}

/**
 * Listens to the servers of a path for as long as its agent may use anything there.
 *
 * @param listen begins to listen, and returns how to end it
 */
export function createHearing(
  caller: Pick<Caller, 'tenantId' | 'agent' | 'serverId'>,
  { guard, rules }: HearingDeps,
  listen: () => () => void,
) {
  let stopListening: (() => void) | null = null;
  let isOver = false;
  return {
    /** Looks at the agent's roles again. */
    review(): void {
      const { tenantId, agent, serverId } = caller;
      const grants = guard.findAgent(tenantId, agent.id)?.grants ?? [];
      const isVisible =
        serverId === null || isServerVisible(grants, serverId, rules.findActiveRules(tenantId));
      const isWanted = !isOver && isVisible;
      if (isWanted) stopListening ??= listen();
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
