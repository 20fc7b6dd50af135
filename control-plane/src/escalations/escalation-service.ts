/**
 * People decide held calls and results. The row is the only authority: a person's decision changes
 * it from `pending` once, by the statement with `WHERE status = 'pending' AND now() < timeout_at`,
 * and commits together with the fact for the data plane and one record. A time-out never approves
 * anything. Proven by escalation-routes.pg.test.ts.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { GRANT_MS } from '@governance/shared/settings/hold-settings';
import { requireResolver } from '../administrators/require-other-hand.ts';
import { resolveAlert } from '../alerts/resolve-alert.ts';
import { createException } from '../exceptions/create-exception.ts';
import {
  DEFAULT_MAX_EXTENSIONS,
  HOURS_WITH_APPROVAL,
  type NewException,
  type StandingException,
} from '../exceptions/exception.ts';
import { heldCallOf } from '../ingest/reference-facts.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { Escalation } from '../platform/generated/client.ts';
import { requireRightClock } from '../platform/keys/right-clock.ts';
import type { RowAttestations } from '../platform/keys/row-attestations.ts';
import { approvalStatement } from './approval-check.ts';
import { requireAsRecorded } from './as-recorded.ts';
import {
  alertKey,
  type Decision,
  type EscalationStatus,
  type Held,
  type Resolution,
  shapeOf,
  toFact,
  toHeldCallFact,
} from './escalation.ts';
import { escalationStore } from './escalation-store.ts';
import { statusOfResult } from './inbound-hold.ts';

export interface EscalationServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  attestations: Pick<RowAttestations, 'prepare'>;
  now: () => Date;
}

export type EscalationService = ReturnType<typeof createEscalationService>;

const GRANT_LASTS = `${GRANT_MS / 1000} seconds`;

/** @param held the kind that this service lists and decides: calls or results */
export function createEscalationService(
  { db, applied, attestations, now }: EscalationServiceDeps,
  held: Held = 'call',
) {
  return {
    list: (
      scope: TenantScope,
      filter: { status?: EscalationStatus | undefined; release?: string | undefined },
      page: Page,
    ) => db.inTenant(scope, (tx) => escalationStore(tx, held).list(filter, page)),

    /**
     * Approves or denies. Returns once the local data plane knows the decision.
     *
     * @throws AppError ESCALATION_NOT_FOUND, ESCALATION_RESOLVED (with the current status), for
     * results INBOUND_HOLD_NOT_FOUND and INBOUND_HOLD_RESOLVED; UNAVAILABLE by a clock that is ahead,
     * STORED_ROW_DAMAGED, EXCEPTION_SHAPE_UNKNOWN and what `createException` throws, in which case nothing is decided
     */
    decide: async (scope: TenantScope, id: string, decision: Decision): Promise<Escalation> => {
      const attest = await attestations.prepare();
      const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
        const store = escalationStore(tx, held);
        const { status, notes, exceptionFor, release = null } = decision;
        const grant = status === 'approved' ? { id: uuidv7(), lasts: GRANT_LASTS } : null;
        const by = scope.actor.username;
        const resolved = await store.resolve(id, { status, notes, by, grant, release });
        if (resolved === undefined) throw resolvedBefore(await store.find(id), held);
        // Checked while the row's lock is held, after any wait for it.
        await requireResolver(tx);
        if (grant) await requireAsRecorded(tx, resolved);
        if (grant && resolved.resolvedAt) {
          requireRightClock(resolved.resolvedAt, now(), 'approved');
        }
        const [made] = exceptionFor ? await except(tx, resolved, exceptionFor, now()) : [];
        const row = made ? await store.setException(id, made.id) : resolved;
        const recordId = uuidv7();
        await recordResolution(tx, row, status, now(), recordId);
        // The feed hands it to the data plane by this word alone.
        if (grant) await store.setAttestation(id, attest(approvalStatement(row, recordId)));
        return row;
      });
      if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
      return result;
    },
  };
}

/** Writes the effects of an escalation's end: the facts, one record, and the alert's resolution. */
export async function recordResolution(
  tx: TenantTransaction,
  row: Escalation,
  resolution: Resolution,
  at: Date,
  recordId = uuidv7(),
): Promise<void> {
  tx.feed.append(toFact(row, resolution));
  if (row.isAnnounced) tx.feed.append(toHeldCallFact(row, resolution));
  tx.audit.append({
    id: recordId,
    ...(row.held === 'result'
      ? { action: `inbound_hold_${statusOfResult(row)}`, target: `inbound_hold/${row.id}` }
      : { action: `escalation_${resolution}`, target: `escalation/${row.id}` }),
    details: {
      ...heldCallOf(row),
      notes: row.notes,
      ...(row.exceptionId && { exception_id: row.exceptionId }),
      ...(row.grantId && {
        grant_id: row.grantId,
        grant_expires_at: row.grantExpiresAt?.toISOString() ?? null,
      }),
    },
  });
  await resolveAlert(tx, alertKey(row.id), at);
}

/**
 * Creates one exception for each policy that asked for a person: an exception without a policy
 * would lift more than was asked.
 */
async function except(
  tx: TenantTransaction,
  row: Escalation,
  justification: string,
  at: Date,
): Promise<StandingException[]> {
  const shape = shapeOf(row);
  if (shape === null) throw new AppError('EXCEPTION_SHAPE_UNKNOWN');
  const made: StandingException[] = [];
  for (const policyId of new Set(shape.policy_ids)) {
    const given: NewException = {
      lifts: 'escalation',
      agentId: row.agentId,
      mcpServer: row.mcpServer,
      toolName: row.toolName,
      resource: shape.resource,
      policyId,
      justification,
      hours: HOURS_WITH_APPROVAL,
      maxExtensions: DEFAULT_MAX_EXTENSIONS,
      escalationId: row.id,
    };
    made.push(await createException(tx, given, at));
  }
  await requireSameServer(tx, row);
  return made;
}

/**
 * Its server may have been deleted, and another one created under its id, before the escalation
 * arrived here. The caller has locked the server's row with the exception.
 *
 * @throws AppError EXCEPTION_SHAPE_UNKNOWN for a call that is older than its server
 */
async function requireSameServer(
  { db, scope: { tenantId } }: TenantTransaction,
  { mcpServer: serverId, openedAt }: Escalation,
): Promise<void> {
  const where = { tenantId_serverId: { tenantId, serverId } };
  // Local models have no row.
  const server = await db.mcpServer.findUnique({ where, select: { createdAt: true } });
  if (server && openedAt < server.createdAt) throw new AppError('EXCEPTION_SHAPE_UNKNOWN');
}

function resolvedBefore(row: Escalation | undefined, held: Held): AppError {
  if (row === undefined) {
    return new AppError(held === 'call' ? 'ESCALATION_NOT_FOUND' : 'INBOUND_HOLD_NOT_FOUND');
  }
  // Pending means here that its time is over, but the task has not ended it yet.
  const isOver = row.status === 'pending';
  if (held === 'call') {
    const status = isOver ? 'timed_out' : row.status;
    return new AppError('ESCALATION_RESOLVED', `The escalation is ${status}.`);
  }
  const status = isOver ? 'timed_out' : statusOfResult(row);
  return new AppError('INBOUND_HOLD_RESOLVED', `The held result is ${status}.`);
}
