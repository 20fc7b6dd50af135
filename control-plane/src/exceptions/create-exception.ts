/** Creates exceptions, by request or with an approval, in the caller's transaction. */

import {
  BLAST_RADIUS,
  MAX_EXCEPTIONS,
  MAX_EXCEPTIONS_OF_SHAPE,
} from '@governance/shared/channel/exceptions';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { LOCAL_MODELS } from '@governance/shared/mcp/local-models';
import { raiseAlert, wasRaised } from '../alerts/raise-alert.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { policyStore } from '../policies/policy-store.ts';
import { requiresChangeRequests } from '../tenants/tenant-settings-store.ts';
import { after, type NewException, type StandingException, targetOf, toFact } from './exception.ts';
import { exceptionStore } from './exception-store.ts';

/** More exceptions for one agent within an hour raise an alert, once an hour. */
const FREQUENT = 5;
const FREQUENCY_ALERT = 'EXCEPTION_FREQUENCY';

/**
 * Creates an exception, with its fact and its record. One that lifts a denial is pending at first
 * and has no fact yet, if the tenant's active policies change only by change requests.
 *
 * @throws AppError AGENT_NOT_FOUND, MCP_SERVER_NOT_FOUND, POLICY_NOT_FOUND,
 * EXCEPTION_LIMIT_REACHED; VALIDATION_FAILED for a denial of a baseline policy
 */
export async function createException(
  tx: TenantTransaction,
  given: NewException,
  at: Date,
): Promise<StandingException> {
  const store = exceptionStore(tx);
  await store.lockCount();
  const target = await resolveTarget(tx, given);
  await requireRoom(store, target, at);
  const { hours, ...asked } = target;
  const needsReview = asked.lifts === 'deny' && (await requiresChangeRequests(tx));
  const { actor } = tx.scope;
  const exception: StandingException = {
    ...asked,
    id: uuidv7(at.getTime()),
    status: needsReview ? 'pending' : 'active',
    extensionCount: 0,
    ...{ createdById: actor.id, createdBy: actor.username },
    ...{ reviewedBy: null, reviewedAt: null, notes: null, revokedBy: null, revokedAt: null },
    ...{ createdAt: at, updatedAt: at, expiresAt: after(at, hours) },
  };
  await store.insert(exception);
  if (exception.status === 'active') tx.feed.append(toFact(exception));
  tx.audit.append({
    action: 'exception_created',
    target: `exception/${exception.id}`,
    details: {
      ...targetOf(exception),
      status: exception.status,
      justification: exception.justification,
      expires_at: exception.expiresAt.toISOString(),
      max_extensions: exception.maxExtensions,
      ...(exception.escalationId && { escalation_id: exception.escalationId }),
    },
  });
  if (exception.agentId !== null) await watchFrequency(tx, exception.agentId, at);
  return exception;
}

/** Everything named must exist in this tenant; ids are normalised to their stored form. */
async function resolveTarget(tx: TenantTransaction, given: NewException): Promise<NewException> {
  const { tenantId } = tx.scope;
  const { agentId: id, mcpServer: serverId, policyId } = given;
  const agent = id && (await tx.db.agent.findUnique({ where: { tenantId_id: { tenantId, id } } }));
  if (id !== null && !agent) throw new AppError('AGENT_NOT_FOUND');
  if (serverId !== null && serverId !== LOCAL_MODELS.serverId) {
    // A concurrent deletion waits for this lock, and then ends the exception too.
    const found = await tx.db.$queryRaw<unknown[]>`
      SELECT 1 FROM mcp_servers WHERE tenant_id = ${tenantId}::uuid AND server_id = ${serverId}
      FOR SHARE`;
    if (found.length === 0) throw new AppError('MCP_SERVER_NOT_FOUND');
  }
  const isOfPolicy = policyId !== null && policyId !== BLAST_RADIUS;
  const policy = isOfPolicy ? await policyStore(tx).find(policyId) : undefined;
  if (isOfPolicy && !policy) throw new AppError('POLICY_NOT_FOUND');
  if (given.lifts === 'deny' && policy?.origin === 'baseline') throw deniedByBaseline();
  return { ...given, agentId: agent ? agent.id : null, policyId: policy?.id ?? policyId };
}

function deniedByBaseline(): AppError {
  const msg = 'belongs to the baseline pack: change the policy to change what it denies';
  const errors = [{ loc: ['body', 'policy_id'], msg, type: 'custom' }];
  return new AppError('VALIDATION_FAILED', `body.policy_id: ${msg}`, { errors });
}

async function requireRoom(
  store: ReturnType<typeof exceptionStore>,
  { agentId, mcpServer, toolName }: NewException,
  at: Date,
): Promise<void> {
  const isFull =
    (await store.countOpen(at)) >= MAX_EXCEPTIONS ||
    (await store.countOpen(at, { agentId, mcpServer, toolName })) >= MAX_EXCEPTIONS_OF_SHAPE;
  if (isFull) throw new AppError('EXCEPTION_LIMIT_REACHED');
}

/**
 * Many exceptions for one agent point to a policy that does not fit, or to an agent that causes
 * approval fatigue.
 */
async function watchFrequency(tx: TenantTransaction, agentId: string, at: Date): Promise<void> {
  // What is later was made before the clock was put back.
  const span = { from: after(at, -1), to: after(at, 1) };
  const created = await exceptionStore(tx).countCreated(agentId, span);
  if (created <= FREQUENT) return;
  const alert = { alertType: FREQUENCY_ALERT, agentId };
  if (await wasRaised(tx, { ...alert, span })) return;
  await raiseAlert(tx, {
    ...alert,
    severity: 'medium',
    title: `More than ${FREQUENT} exceptions were made for one agent within an hour`,
    details: { created_within_an_hour: created },
    dedupeKey: `exception-frequency:${agentId}`,
    now: at,
  });
}
