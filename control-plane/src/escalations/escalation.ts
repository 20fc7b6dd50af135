/** Calls and results that wait for a person: states, wire shapes, and the facts for data planes. */

import { BLAST_RADIUS } from '@governance/shared/channel/exceptions';
import { type NewFact, ResultRelease } from '@governance/shared/channel/facts';
import type { RiskTier, Severity } from '@governance/shared/ledger/ledger-record';
import { GRANT_MS } from '@governance/shared/settings/hold-settings';
import { Id } from '@governance/shared/text';
import { findScopeFault } from '@governance/shared/tokens/resource-scopes';
import { z } from 'zod';
import { readStored } from '../platform/database/damaged-rows.ts';
import type { Escalation } from '../platform/generated/client.ts';
import { grantOf, heldFields, toHeldFields } from './held-view.ts';

export const EscalationStatus = z.enum(['pending', 'approved', 'denied', 'timed_out']);
export type EscalationStatus = z.infer<typeof EscalationStatus>;
export type Resolution = Exclude<EscalationStatus, 'pending'>;

/** What is held: a call that was not sent, or a call's result. */
export type Held = 'call' | 'result';

export interface Decision {
  status: Exclude<Resolution, 'timed_out'>;
  notes: string | null;
  /** For an approval: the justification of an exception of the call's shape. */
  exceptionFor?: string;
  /** For an approved result. */
  release?: ResultRelease;
}

/** The key under which the alert about an escalation is raised and resolved. */
export const alertKey = (id: string): string => `escalation:${id}`;

/** The alert's severity by risk tier; never low, since somebody has to act. */
export const ALERT_SEVERITIES: Record<RiskTier, Severity> = {
  low: 'medium',
  medium: 'medium',
  high: 'high',
  critical: 'critical',
};

const EscalationShape = z.object({ policy_ids: z.array(z.string()), resource: z.string() });

/**
 * The call's shape as the data plane reported it; null for a shape that covers more than the call.
 */
export function shapeOf({ held, shape }: Pick<Escalation, 'held' | 'shape'>) {
  const parsed = EscalationShape.safeParse(shape);
  if (!parsed.success || held !== 'call') return null;
  const { policy_ids, resource } = parsed.data;
  const isOfOneTarget = resource === '' || findScopeFault(`target:${resource}`) === undefined;
  const isExact = isOfOneTarget && !resource.includes('*');
  const isNamed = policy_ids.every((id) => id === BLAST_RADIUS || Id.safeParse(id).success);
  return isExact && isNamed && policy_ids.length > 0 ? parsed.data : null;
}

export const EscalationView = z
  .object({
    id: z.string(),
    status: EscalationStatus,
    ...heldFields,
    /** Why a person is asked: each policy that asks for one, and the blast radius. */
    reason: z.string().nullable(),
    /** The call is held, and nothing was sent. */
    held: z.literal('call'),
    /**
     * What an exception by `create_exception` would name besides agent, server and tool: the
     * policies that ask for a person, and the target (empty: none). Null where no exception can be
     * created.
     */
    shape: EscalationShape.nullable(),
    /** The exception created with the approval; the first one if there are several. */
    exception_id: z.string().nullable(),
  })
  .meta({ id: 'Escalation' });
export type EscalationView = z.infer<typeof EscalationView>;

export function toView(row: Escalation): EscalationView {
  return {
    id: row.id,
    status: readStored(EscalationStatus, row.status, `escalations ${row.id}`),
    ...toHeldFields(row),
    reason: row.reason,
    held: 'call',
    shape: shapeOf(row),
    exception_id: row.exceptionId,
  };
}

type OfEscalation = Extract<NewFact, { kind: 'optional.escalation' }>;

const keyOf = ({ deploymentId, id }: Escalation) => `${deploymentId}/${id}`;

/** The fact for the data plane that holds the call. */
export function toFact(row: Escalation, resolution: Resolution): OfEscalation {
  return {
    kind: 'optional.escalation',
    key: keyOf(row),
    value: {
      escalation_id: row.id,
      deployment_id: row.deploymentId,
      resolution,
      resolved_at: (row.resolvedAt ?? row.updatedAt).toISOString(),
      grant: grantOf(row),
      ...(row.release && {
        release: readStored(ResultRelease, row.release, `escalations ${row.id}`),
      }),
    },
  };
}

/** Withdraws the fact. */
export function toTombstone(row: Escalation): OfEscalation {
  return { kind: 'optional.escalation', key: keyOf(row), value: null };
}

type OfHeldCall = Extract<NewFact, { kind: 'optional.held_call' }>;

/**
 * The fact for the tenant's other data planes, while the escalation is pending and for a time
 * after.
 *
 * @param row an escalation with a binding
 */
export function toHeldCallFact(row: Escalation, status: EscalationStatus): OfHeldCall {
  const { resolvedAt, grantExpiresAt } = row;
  const until = grantExpiresAt ?? (resolvedAt && new Date(resolvedAt.getTime() + GRANT_MS));
  return {
    kind: 'optional.held_call',
    key: row.binding ?? '',
    value: {
      escalation_id: row.id,
      deployment_id: row.deploymentId,
      agent_id: row.agentId,
      held: row.held === 'result' ? 'result' : 'call',
      status,
      timeout_at: row.timeoutAt.toISOString(),
      told_until: until?.toISOString() ?? null,
    },
  };
}
