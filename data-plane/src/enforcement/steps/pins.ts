import type { RulesProvider } from '../../contracts.ts';
import { isObject } from '../../upstream/message.ts';
import type { Continue } from '../calls.ts';
import { nameOfItem, serverOfItem } from '../inbound/listed-items.ts';
import type { PinnedTools } from '../pinned-tools.ts';
import { proceed } from '../pipeline-builder.ts';
import { resultOf } from '../refusals.ts';
import { listMember, rulesFor, type Said } from '../said.ts';

export interface PinsDeps {
  rules: RulesProvider;
  pins: Pick<PinnedTools, 'isWaiting'>;
}

/** Removes tools that wait for approval from a list, since their calls are denied. */
export function hideWaitingTools(said: Said, { pins, rules }: PinsDeps): Continue<Said> {
  const { call, part, caller } = said;
  if (call === null || part.kind !== 'result' || listMember(said) !== 'tools') return proceed(said);
  const settings = rulesFor(said, rules)?.settings;
  if (settings?.inbound?.pinned_tools?.require_approval !== true) return proceed(said);
  const value = isObject(part.value) ? part.value : {};
  const tools = Array.isArray(value.tools) ? value.tools : [];
  const kept = tools.filter((tool: unknown) => {
    const serverId = serverOfItem(said, settings, tool);
    const name = nameOfItem(tool);
    const isUnified = said.serverId === '';
    const toolName = isUnified ? name.slice(`${serverId}__`.length) : name;
    return !pins.isWaiting({ tenantId: caller.tenantId, serverId, toolName }, settings);
  });
  if (kept.length === tools.length) return proceed(said);
  return proceed({ ...said, part: resultOf({ ...value, tools: kept }), replacedBy: 'pins' });
}
