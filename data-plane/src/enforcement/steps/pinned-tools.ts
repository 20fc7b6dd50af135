import { TOOL_CALL } from '../call/call-kinds.ts';
import type { ClassifiedCall, Continue, Deny } from '../call/calls.ts';
import { proceed } from '../call/pipeline-builder.ts';
import { denied } from '../permission/eligibility.ts';
import type { PinnedTools } from '../pins/pinned-tools.ts';

export interface PinnedToolsDeps {
  pins: Pick<PinnedTools, 'isWaiting' | 'findSeen'>;
}

/**
 * Denies calls of a tool whose definition differs from its pin or is not known, if the tenant requires
 * approval of changes.
 * Runs after `classify`, which has asked the server for its tools.
 */
export function checkPinnedTool<C extends ClassifiedCall>(
  call: C,
  { pins }: PinnedToolsDeps,
): Continue<C> | Deny {
  const { ask, caller, rules } = call;
  // Without rules, the policy step denies.
  if (rules === null || ask.method !== TOOL_CALL) return proceed(call);
  const place = { tenantId: caller.tenantId, serverId: ask.serverId, toolName: ask.name };
  if (!pins.isWaiting(place, rules.settings)) return proceed(call);
  return denied(
    pins.findSeen(place)
      ? 'the definition of this tool has changed and waits for approval'
      : 'the definition of this tool is not known, so whether it has changed is not either',
  );
}
