/** Holds calls of agents for people: what an approval is bound to, and what a client hears of it. */
import { formatReasons } from '@governance/policies/contract';
import { RPC_ERRORS } from '@governance/shared/errors';
import { DEFAULT_HOLD_SETTINGS } from '@governance/shared/hold-settings';
import { uuidv7 } from '@governance/shared/ids';
import { isoTime } from '@governance/shared/iso-time';
import { findScopeFault } from '@governance/shared/resource-scopes';
import { readTarget } from '@governance/shared/target-readings';
import type { HeldCall, HeldCalls, HoldEnd } from '../holds/held-calls.ts';
import type { HeldElsewhere } from '../holds/held-elsewhere.ts';
import type { Cancelled, Refusal } from './answer.ts';
import type { DecisionFields } from './audit.ts';
import { type BindingOf, type KnownCall, sharedBinding } from './call-binding.ts';
import { readingsOfCall } from './call-targets.ts';
import type { Exchange, HoldGrant, RawCall } from './calls.ts';
import { type HoldWaitLimits, waitForPerson } from './hold-wait.ts';
import type { Escalated, Holds, OpenedHold, ResultHolds } from './holds.ts';
import { refusalOf } from './refusals.ts';

export interface CallHoldsDeps extends HoldWaitLimits {
  held: Pick<HeldCalls, 'join' | 'findCall'>;
  elsewhere: Pick<HeldElsewhere, 'find'>;
  bindingOf: BindingOf;
  results: ResultHolds;
  /** Unix milliseconds. */
  now(): number;
}

export function createCallHolds(deps: CallHoldsDeps): Holds {
  const { held, elsewhere, bindingOf, results, now } = deps;

  function open(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal {
    const call: KnownCall = escalated.call;
    const { agent, rules } = call;
    const policyIds = new Set(escalated.escalate.reasons.map(({ policy_id }) => policy_id));
    // It was approved and made, and its result is held: nobody is asked twice about one call.
    const ofResult = results.find(call, exchange);
    if (ofResult && [...policyIds].every((id) => ofResult.policyIds.has(id))) return ofResult;
    const binding = bindingOf(call);
    // Nothing runs without a client that waits for it, or asks again.
    if (exchange.onGone === undefined || binding === undefined || !agent || !rules) {
      return refusalOf(escalated);
    }
    const { timeout_minutes } = rules.settings.holds ?? DEFAULT_HOLD_SETTINGS;
    const { tenantId } = call.caller;
    const shared = sharedBinding(binding, agent);
    const asked = { tenantId, agentId: agent.id, binding, policyIds };
    const place =
      held.findCall(asked) ??
      elsewhere.find({ ...asked, binding: shared, held: 'call' }) ??
      held.join({
        ...asked,
        id: uuidv7(now()),
        timeoutMs: timeout_minutes[agent.risk_tier] * 60_000,
      });
    if (place === undefined) return tooMany(escalated);
    return {
      escalationId: place.hold.id,
      open: (decision) => {
        if (!place.isNew) return null;
        const shape = shapeOf(escalated, decision);
        const record = { ...holdOpened(place, decision, shape), binding: shared };
        return { record, changes: place.changes };
      },
      drop: place.drop,
      wait: () => wait(escalated, place, exchange),
    };
  }

  async function wait(
    escalated: Escalated,
    place: HeldCall,
    exchange: Exchange,
  ): Promise<HoldGrant | Refusal | Cancelled> {
    const { hold } = place;
    const waitsUntil = `Waits for approval until ${isoTime(hold.timeoutAt)}`;
    const end = await waitForPerson(place, exchange, waitsUntil, deps);
    if (end === null) return { kind: 'cancelled' };
    if (end.kind !== 'approved') return answerOf(escalated, place, end);
    return { ...end.approval, covers: (call) => bindingOf(call) === hold.binding };
  }

  function holdOpened(
    { hold }: HeldCall,
    decision: DecisionFields,
    shape: ReturnType<typeof shapeOf>,
  ) {
    return {
      type: 'hold_opened',
      id: uuidv7(now()),
      timestamp: decision.timestamp,
      bundle_revision: decision.bundle_revision,
      escalation_id: hold.id,
      event_id: decision.id,
      held: 'call',
      agent_id: decision.agent_id,
      // As data protection left them.
      requester_id: decision.requester_id,
      mcp_server: decision.mcp_server ?? '',
      method: decision.method,
      tool_name: decision.tool_name ?? '',
      instruction_hash: decision.instruction_hash,
      target: decision.target,
      risk_tier: decision.risk_tier,
      reason: decision.policy_reason,
      timeout_at: isoTime(hold.timeoutAt),
      shape,
    } as const;
  }

  return { open, results };
}

/**
 * What an exception would name to cover such calls and no wider ones; null where that cannot be said.
 * The target is told as the record has it, so one that data protection changed is not told here.
 */
function shapeOf({ call, escalate }: Escalated, decision: DecisionFields) {
  const policy_ids = [...new Set(escalate.reasons.map(({ policy_id }) => policy_id))];
  const resource = decision.protected_fields.includes('target')
    ? null
    : findExactResource(call.ask, decision.target);
  return resource === null ? null : { policy_ids, resource };
}

/** The pattern that a call's only target matches, and no other; empty where it has none. */
function findExactResource(ask: RawCall['ask'], target: string): string | null {
  const readings = readingsOfCall(ask);
  if (readings?.length === 0) return '';
  const [resource] = readings ?? [];
  if (resource === undefined || readings?.length !== 1 || resource.includes('*')) return null;
  const isOfRecord = readTarget(target)?.includes(resource) === true;
  return isOfRecord && findScopeFault(`target:${resource}`) === undefined ? resource : null;
}

function tooMany(escalated: Escalated): Refusal {
  const why = 'As many calls wait for a person as may';
  return refusal(escalated, `${why}. The call was not forwarded.`, {
    resolution: 'denied',
    reason: 'too_many_held',
  });
}

function answerOf(
  escalated: Escalated,
  { hold }: HeldCall,
  { kind }: Exclude<HoldEnd, { kind: 'approved' }>,
): Refusal {
  const named = { escalation_id: hold.id };
  const timeoutAt = isoTime(hold.timeoutAt);
  switch (kind) {
    case 'pending':
      return refusal(
        escalated,
        'The call waits for a person: make the same call again to learn what was decided.',
        { resolution: 'pending', ...named, timeout_at: timeoutAt },
      );
    case 'denied':
      return refusal(escalated, 'A person denied the call.', { resolution: 'denied', ...named });
    case 'timed_out':
      return refusal(escalated, 'Nobody decided in time. The call was not forwarded.', {
        resolution: 'timed_out',
        ...named,
      });
    case 'taken':
      return refusal(
        escalated,
        'The call was approved once, and another request of it, or another data plane, has the approval.',
        { resolution: 'approved', ...named },
      );
  }
}

function refusal(
  { call, escalate }: Escalated,
  message: string,
  data: Record<string, unknown>,
): Refusal {
  const { reasons } = escalate;
  return {
    kind: 'refusal',
    status: 200,
    code: RPC_ERRORS.ESCALATED,
    message: `Escalated: ${formatReasons(reasons)}. ${message}`,
    data: { ...data, event_id: call.id, reasons },
  };
}
