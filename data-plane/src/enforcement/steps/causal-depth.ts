import { isUuid } from '@governance/shared/ids';
import type { WorkflowAlerts } from '../alerts/workflow-alerts.ts';
import type { AgentCall, Continue, Deny } from '../call/calls.ts';
import type { EventPlaces } from '../call/event-places.ts';
import { extend, proceed } from '../call/pipeline-builder.ts';
import { tooDeep } from '../permission/eligibility.ts';

export interface CausalDepthDeps {
  eventPlaces: EventPlaces;
  workflowAlerts: WorkflowAlerts;
}

/**
 * Finds a call's place in the trace of its session: below the event that it names, if that event
 * belongs to the same session. An event that this data plane does not know (of another one, or from
 * before a restart) counts here as the beginning of a chain, so the call has depth 1. The control
 * plane, which has all events, determines the real place later.
 */
export function findCausalDepth(
  call: AgentCall,
  deps: CausalDepthDeps,
): Continue<AgentCall> | Deny {
  const { workflow, caller } = call;
  const named = caller.workflow?.parentEventId?.toLowerCase() ?? null;
  if (workflow === undefined) {
    if (named !== null) deps.workflowAlerts.parentIgnored(call, null, 'no_workflow_session');
    return proceed(call);
  }
  const { tenantId } = caller;
  const { sessionId, maxDepth } = workflow;
  const parent = named === null ? null : findParent(tenantId, sessionId, named, deps.eventPlaces);
  if (typeof parent === 'string') deps.workflowAlerts.parentIgnored(call, sessionId, parent);
  const isBelow = parent !== null && typeof parent !== 'string';
  const causalDepth = isBelow ? parent.depth + 1 : 0;
  caller.workflow?.announceEvent?.(call.id);
  deps.eventPlaces.set(call.id, { tenantId, sessionId, depth: causalDepth });
  if (causalDepth > maxDepth) return tooDeep(causalDepth, maxDepth);
  const parentEventId = isBelow ? named : null;
  return proceed(extend(call, { workflow: { ...workflow, causalDepth, parentEventId } }));
}

/** The parent's depth, or why the parent is invalid. */
function findParent(
  tenantId: string,
  sessionId: string,
  named: string,
  places: EventPlaces,
): { depth: number } | string {
  // caller-controlled
  if (!isUuid(named)) return 'malformed';
  const place = places.get(named);
  if (place === undefined) return { depth: 0 };
  const isSame = place.tenantId === tenantId && place.sessionId === sessionId;
  return isSame ? place : 'another_session';
}
