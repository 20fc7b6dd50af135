import { coversCall } from '@governance/shared/tokens/permission';
import type { Replica, RulesProvider } from '../../contracts.ts';
import type { UpstreamNotification } from '../../upstream/upstream.ts';
import { nameOfMethod } from '../call/call-kinds.ts';
import type { Caller, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import type { ReceivedMessage } from '../call/received-message.ts';
import { denied } from '../permission/eligibility.ts';
import {
  isListVisible,
  isServerVisible,
  permissionsFor,
  serversOf,
} from '../permission/permits.ts';

export interface AudienceDeps {
  replica: Pick<Replica, 'findAgent'>;
  rules: RulesProvider;
}

/**
 * Checks each unprompted notification against the agent's present roles, since these may change
 * while a stream is open. Messages within a call were judged with the call.
 */
export function checkAudience(
  received: ReceivedMessage,
  deps: AudienceDeps,
): Continue<ReceivedMessage> | Deny {
  const { caller, serverId, call, part } = received;
  if (call !== null || part.kind !== 'notification' || mayHear(caller, serverId, part, deps)) {
    return proceed(received);
  }
  return denied('the agent may not receive it');
}

const LISTS: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'tools/list',
  'notifications/resources/list_changed': 'resources/list',
  'notifications/prompts/list_changed': 'prompts/list',
};

function mayHear(
  { tenantId, agent }: Caller,
  serverId: string,
  { method, params }: UpstreamNotification,
  { replica, rules }: AudienceDeps,
): boolean {
  const permits = replica.findAgent(tenantId, agent.id)?.permits ?? [];
  const registry = rules.findActiveRules(tenantId);
  const list = LISTS[method];
  if (list !== undefined) return isListVisible(permits, serverId, list, registry);
  if (method !== 'notifications/resources/updated') {
    return isServerVisible(permits, serverId, registry);
  }
  const subscribed = 'resources/subscribe';
  const name = nameOfMethod(subscribed);
  const ask = { serverId, method: subscribed, name, args: { uri: params?.uri } };
  const servers = serversOf(registry);
  return permissionsFor(permits, ask, registry).some((permission) =>
    coversCall(permission, serverId, name, 'read', servers),
  );
}
