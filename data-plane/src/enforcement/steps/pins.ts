import type { RulesProvider } from '../../contracts.ts';
import { isObject } from '../../upstream/message.ts';
import type { Continue } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { listMember, type ReceivedMessage, rulesFor } from '../call/received-message.ts';
import { nameOfItem, serverOfItem } from '../inbound/listed-items.ts';
import type { PinnedTools } from '../pins/pinned-tools.ts';
import { resultOf } from '../record/refusals.ts';

export interface PinsDeps {
  rules: RulesProvider;
  pins: Pick<PinnedTools, 'isWaiting'>;
}

/**
 * Removes tools that wait for approval from a list, since their calls are denied. One that waited
 * when the list arrived is removed too: its server may have listed the pinned definition since, but
 * this list has the other one.
 */
export function hideWaitingTools(
  received: ReceivedMessage,
  { pins, rules }: PinsDeps,
): Continue<ReceivedMessage> {
  const { call, part, caller, waiting } = received;
  if (call === null || part.kind !== 'result' || listMember(received) !== 'tools')
    return proceed(received);
  const settings = rulesFor(received, rules)?.settings;
  if (settings?.inbound?.pinned_tools?.require_approval !== true) return proceed(received);
  const value = isObject(part.value) ? part.value : {};
  const tools = Array.isArray(value.tools) ? value.tools : [];
  const kept = tools.filter((tool: unknown) => {
    const serverId = serverOfItem(received, settings, tool);
    const name = nameOfItem(tool);
    if (waiting?.has(name)) return false;
    const isUnified = received.serverId === '';
    const toolName = isUnified ? name.slice(`${serverId}__`.length) : name;
    return !pins.isWaiting({ tenantId: caller.tenantId, serverId, toolName }, settings);
  });
  if (kept.length === tools.length) return proceed(received);
  return proceed({ ...received, part: resultOf({ ...value, tools: kept }), replacedBy: 'pins' });
}
