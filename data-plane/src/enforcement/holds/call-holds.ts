/** Holds calls of agents for people: opens holds, waits for their end, and answers the client. */
import { formatReasons } from '@governance/policies/contract';
import { uuidv7 } from '@governance/shared/ids';
import { readTarget } from '@governance/shared/mcp/target-readings';
import { DEFAULT_HOLD_SETTINGS } from '@governance/shared/settings/hold-settings';
import { isoTime } from '@governance/shared/time/iso-time';
import { findScopeFault } from '@governance/shared/tokens/resource-scopes';
import type { Replica, ReplicaAgent } from '../../contracts.ts';
import { askedBy, wasAsked } from '../../holds/asked-reasons.ts';
import type { HeldCall, HeldCalls } from '../../holds/held-calls.ts';
import type { HeldElsewhere } from '../../holds/held-elsewhere.ts';
import type { Hold } from '../../holds/hold.ts';
import type { HoldEnd } from '../../holds/kept-hold.ts';
import type { Cancelled, Refusal } from '../call/answer.ts';
import { readingsOfCall } from '../call/call-targets.ts';
import type { Exchange, HoldGrant, RawCall } from '../call/calls.ts';
import { currentVersion } from '../permission/eligibility.ts';
import type { DecisionFields } from '../record/audit.ts';
import { escalatedRefusal, refusalOf } from '../record/refusals.ts';
import { type BindingOf, type KnownCall, sharedBinding } from './call-binding.ts';
import { heldMembers, untilWhen } from './held-members.ts';
import { type HoldWaitLimits, waitForPerson } from './hold-wait.ts';
import type { Escalated, Holds, OpenedHold, ResultHolds } from './holds.ts';

export interface CallHoldsDeps extends HoldWaitLimits {
  held: Pick<HeldCalls, 'join' | 'findCall'>;
  elsewhere: Pick<HeldElsewhere, 'find'>;
  bindingOf: BindingOf;
  replica: Pick<Replica, 'findCredential'>;
  results: ResultHolds;
  /** Unix milliseconds. */
  now(): number;
}

export function createCallHolds(deps: CallHoldsDeps): Holds {
  const { held, elsewhere, bindingOf, replica, results, now } = deps;

  /** An approval ends with the credential that asked for it. */
  function isCurrent({ tenantId, proof }: Hold, agent: ReplicaAgent): boolean {
    return proof === null || currentVersion(tenantId, agent, proof, replica) === proof.version;
  }

  function open(escalated: Escalated, exchange: Exchange): OpenedHold | Refusal {
    const call: KnownCall = escalated.call;
    const { agent, rules } = call;
    if (!agent || !rules) return refusalOf(escalated);
    const question = { reasons: escalated.escalate.reasons, revision: rules.revision };
    // The call was approved and made, and its result is held: nobody is asked about the call again.
    const ofResult = results.find(call, exchange);
    if (ofResult && wasAsked(ofResult.asked, question)) return ofResult;
    const binding = bindingOf(call);
    // A call that no client waits for, or that cannot be bound to an approval, is not held.
    if (exchange.onGone === undefined || binding === undefined) return refusalOf(escalated);
    const { timeout_minutes } = rules.settings.holds ?? DEFAULT_HOLD_SETTINGS;
    const { tenantId } = call.caller;
    const shared = sharedBinding(binding, agent);
    const asked = {
      ...{ tenantId, agentId: agent.id, binding, question },
      isCurrent: (hold: Hold) => isCurrent(hold, agent),
    };
    const place =
      held.findCall(asked) ??
      elsewhere.find({ ...asked, binding: shared, held: 'call' }) ??
      held.join({
        ...asked,
        id: uuidv7(now()),
        asked: askedBy(question),
        proof: call.caller.proof,
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
    return {
      ...end.approval,
      covers: (call) => bindingOf(call) === hold.binding && isCurrent(hold, call.agent),
    };
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
      ...heldMembers(hold, decision),
      held: 'call',
      reason: decision.policy_reason,
      shape,
    } as const;
  }

  return { open, results };
}

/**
 * The shape of the narrowest exception that would cover such calls; null where it cannot be
 * determined, or where data protection changed the target in the record, since the shape shows it.
 */
function shapeOf({ call, escalate }: Escalated, decision: DecisionFields) {
  const policy_ids = [...new Set(escalate.reasons.map(({ policy_id }) => policy_id))];
  const resource = decision.protected_fields.includes('target')
    ? null
    : findExactResource(call.ask, decision.target);
  return resource === null ? null : { policy_ids, resource };
}

/** A pattern that matches only the call's one target; empty where it has no target, null else. */
function findExactResource(ask: RawCall['ask'], target: string): string | null {
  const readings = readingsOfCall(ask);
  if (readings?.length === 0) return '';
  const [resource] = readings ?? [];
  if (resource === undefined || readings?.length !== 1 || resource.includes('*')) return null;
  const isOfRecord = readTarget(target)?.includes(resource) === true;
  return isOfRecord && findScopeFault(`target:${resource}`) === undefined ? resource : null;
}

function tooMany(escalated: Escalated): Refusal {
  const why = 'Too many calls wait for a person already';
  const data = { resolution: 'denied', reason: 'too_many_held' };
  return refusal(escalated, `${why}. The call was not forwarded.`, data);
}

/** The answer for each end: its `resolution` and its text. */
const ENDS = {
  pending: [
    'pending',
    'The call waits for a person: make the same call again to learn what was decided.',
  ],
  denied: ['denied', 'A person denied the call.'],
  timed_out: ['timed_out', 'Nobody decided in time. The call was not forwarded.'],
  taken: [
    'approved',
    'The call was approved once, and another request has the approval, or it went unused too long.',
  ],
  elsewhere: [
    'approved',
    'A person approved the call. The approval can be used once, at the worker or data plane that holds the call: make the same call again, in a new session if it was made in one.',
  ],
} as const;

function answerOf(
  escalated: Escalated,
  { hold }: HeldCall,
  { kind }: Exclude<HoldEnd, { kind: 'approved' }>,
): Refusal {
  const [resolution, text] = ENDS[kind];
  const data = { resolution, escalation_id: hold.id, ...untilWhen(kind, hold) };
  return refusal(escalated, text, data);
}

function refusal(
  { call, escalate: { reasons } }: Escalated,
  message: string,
  data: Record<string, unknown>,
): Refusal {
  const text = `Escalated: ${formatReasons(reasons)}. ${message}`;
  return escalatedRefusal(text, { ...data, event_id: call.id, reasons });
}
