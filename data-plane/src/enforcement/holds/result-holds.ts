/**
 * Holds results for people. The server has answered and is not asked again. Its answer is kept
 * sealed, and handed over once, to a client that waits or repeats the call, after the call was
 * judged again. A result that cannot be held is blocked. Proven by result-holds.test.ts.
 */

import { uuidv7 } from '@governance/shared/ids';
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { DEFAULT_HOLD_SETTINGS } from '@governance/shared/settings/hold-settings';
import { isoTime } from '@governance/shared/time/iso-time';
import type { Ledger } from '../../contracts.ts';
import { NOTHING_ASKED } from '../../holds/asked-reasons.ts';
import type { HeldCall, HeldCalls } from '../../holds/held-calls.ts';
import type { HeldElsewhere } from '../../holds/held-elsewhere.ts';
import type { HeldResults } from '../../holds/held-results.ts';
import { bindingOfResult } from '../../holds/hold.ts';
import type { Approval, HoldEnd } from '../../holds/kept-hold.ts';
import type { UpstreamAnswer } from '../../upstream/upstream.ts';
import type { Cancelled, Refusal } from '../call/answer.ts';
import type { Destination, Exchange, HoldGrant, JudgedCall, RawCall } from '../call/calls.ts';
import type { Findings } from '../call/received-message.ts';
import { worstOf } from '../call/severities.ts';
import { type AllowedCall, recordedFindings } from '../record/audit.ts';
import { escalatedRefusal, internalRefusal } from '../record/refusals.ts';
import { type BindingOf, type KnownCall, sharedBinding } from './call-binding.ts';
import { heldMembers, untilWhen } from './held-members.ts';
import { type HoldWaitLimits, waitForPerson } from './hold-wait.ts';
import type { HeldAnswer, ResultHolds } from './holds.ts';

export interface ResultHoldsDeps extends HoldWaitLimits {
  held: Pick<HeldCalls, 'join' | 'findResult' | 'holdsResultOf'>;
  elsewhere: Pick<HeldElsewhere, 'find' | 'hasAny'>;
  results: HeldResults;
  bindingOf: BindingOf;
  ledger: Ledger;
  /** Unix milliseconds. */
  now(): number;
}

/** Why a result is blocked instead of held for a person. */
const BLOCKED = {
  nobody_waits: 'no client waits for it',
  not_bound: 'too little is known about the call',
  too_large_to_hold: 'it is too large to be kept until then',
  already_held: 'another result of the same call is already waiting',
  too_many_held: 'too many results wait for a person already',
} as const;

export function createResultHolds(deps: ResultHoldsDeps): ResultHolds {
  const { held, elsewhere, results, bindingOf, ledger, now } = deps;

  async function hold(
    { call, ...allowed }: AllowedCall,
    sent: UpstreamAnswer,
    findings: Findings,
    exchange: Exchange,
  ): Promise<HeldAnswer | Refusal> {
    const { tenantId } = call.caller;
    const binding = bindingOf(call);
    if (exchange.onGone === undefined) return blocked(call, 'nobody_waits');
    if (binding === undefined) return blocked(call, 'not_bound');
    const bytes = Buffer.byteLength(sent.raw);
    const excess = results.findExcess(tenantId, call.agent.id, bytes);
    if (excess !== undefined) return blocked(call, excess);
    const { timeout_minutes } = call.rules.settings.holds ?? DEFAULT_HOLD_SETTINGS;
    const place = held.join({
      id: uuidv7(now()),
      tenantId,
      agentId: call.agent.id,
      binding: bindingOfResult(binding),
      // Reasons that a person approved for the call stay approved with its result.
      asked: call.grant?.asked ?? NOTHING_ASKED,
      proof: null,
      timeoutMs: timeout_minutes[call.agent.risk_tier] * 60_000,
    });
    if (place === undefined) return blocked(call, 'too_many_held');
    // Another request for the same call ran at the same time: only one of the results is held.
    if (!place.isNew) return blocked(call, 'already_held');
    try {
      await results.keep(place.hold, { kind: sent.kind, raw: sent.raw });
      const record = resultHeld(place, { call, ...allowed } as AllowedCall, findings, bytes);
      await ledger.append(tenantId, record, undefined, place.changes);
    } catch (error) {
      place.drop();
      throw error;
    }
    return answerAt(place, call, exchange);
  }

  function find(call: KnownCall, exchange: Exchange): HeldAnswer | null {
    const { tenantId } = call.caller;
    const { agent } = call;
    if (!agent) return null;
    const isHere = held.holdsResultOf(tenantId, agent.id);
    if (!isHere && !elsewhere.hasAny(tenantId)) return null;
    const binding = bindingOf(call);
    if (binding === undefined) return null;
    const asked = { tenantId, agentId: agent.id, held: 'result' } as const;
    const place =
      held.findResult(tenantId, bindingOfResult(binding)) ??
      elsewhere.find({ ...asked, binding: sharedBinding(bindingOfResult(binding), agent) });
    return place ? answerAt(place, call, exchange) : null;
  }

  function answerAt(place: HeldCall, call: RawCall, exchange: Exchange): HeldAnswer {
    return {
      escalationId: place.hold.id,
      asked: place.hold.asked,
      open: () => null,
      drop: place.drop,
      isPending: place.isPending,
      wait: async () => {
        const until = `Its result waits for a person until ${isoTime(place.hold.timeoutAt)}`;
        // A client that cannot wait is answered with the state at once.
        const waitMs = exchange.onGone === undefined ? 0 : deps.waitMs;
        const end = await waitForPerson(place, exchange, until, { ...deps, waitMs });
        if (end === null) return { kind: 'cancelled' } satisfies Cancelled;
        return end.kind === 'approved' ? grantOf(place, end.approval) : answerOf(place, end, call);
      },
    };
  }

  function grantOf({ hold }: HeldCall, approval: Approval): HoldGrant {
    return {
      ...approval,
      covers: (call) => {
        const binding = bindingOf(call);
        return binding !== undefined && bindingOfResult(binding) === hold.binding;
      },
      destination: destinationOf(hold),
    };
  }

  /** Reads the result now, since the commit that uses the approval deletes it with its hold. */
  function destinationOf(hold: HeldCall['hold']): Destination {
    const kept = results.read(hold);
    return {
      speaker: 'server',
      send: async (call) => {
        if (kept === undefined) {
          throw internalRefusal('The held result is no longer there.', {
            event_id: call.id,
            failure: 'blocked',
            reason: 'result_lost',
          });
        }
        return { ...kept, value: JSON.parse(kept.raw) as unknown };
      },
    };
  }

  function resultHeld(
    { hold }: HeldCall,
    { call, decision }: AllowedCall,
    { inbound }: Findings,
    bytes: number,
  ) {
    return {
      type: 'result_held',
      id: uuidv7(now()),
      timestamp: isoTime(now()),
      ...heldMembers(hold, decision),
      severity: worstOf(inbound),
      findings: recordedFindings(inbound),
      findings_count: inbound.length,
      result_bytes: bytes,
      binding: sharedBinding(hold.binding, call.agent),
    } as const satisfies UnchainedRecord;
  }

  return { hold, find };
}

function blocked(call: JudgedCall, reason: keyof typeof BLOCKED): Refusal {
  const message = `The call was made, and the gateway blocked its answer: it needs a person's consent, and ${BLOCKED[reason]}.`;
  return internalRefusal(message, { event_id: call.id, failure: 'blocked', reason });
}

/** The answer for each end: its `resolution` and its text. */
const ENDS = {
  pending: [
    'pending',
    'Its result waits for a person: make the same call again to learn what was decided. The call is not made again.',
  ],
  denied: ['blocked', 'A person blocked its result.'],
  timed_out: ['timed_out', 'Nobody decided about its result in time, so it is blocked.'],
  taken: ['released', 'Another request has the result, or nobody fetched it in time.'],
  elsewhere: [
    'released',
    'A person released its result. It is handed over once, at the worker or data plane that holds it: make the same call again, in a new session if it was made in one.',
  ],
} as const;

function answerOf(
  { hold }: HeldCall,
  { kind }: Exclude<HoldEnd, { kind: 'approved' }>,
  call: RawCall,
): Refusal {
  const [resolution, text] = ENDS[kind];
  const named = { held: 'result', escalation_id: hold.id, hold_id: hold.id };
  const data = { resolution, ...named, ...untilWhen(kind, hold), event_id: call.id };
  return escalatedRefusal(`The call was made. ${text}`, data);
}
