/**
 * Workflows: which agents may work together, how deep, and what each of them may do there. A change
 * also applies to running sessions, once its fact has reached the data planes.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { formerValues } from '../platform/admin-details.ts';
import type { Page } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { endSessions } from './session-service.ts';
import { sessionStore } from './session-store.ts';
import type { NewWorkflowBody, WorkflowChangeBody } from './workflow-schemas.ts';
import {
  toWorkflowFact,
  type Workflow,
  type WorkflowChange,
  workflowStore,
} from './workflow-store.ts';

/** Limits per tenant: each is a fact of up to a megabyte at every data plane. */
const MAX_WORKFLOWS = 1_000;
const MAX_BYTES_OF_TENANT = 32 * 1024 * 1024;

export interface WorkflowServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads'>;
  applied: AppliedBarrier;
  now: () => Date;
}

export type WorkflowService = ReturnType<typeof createWorkflowService>;

export function createWorkflowService({ db, applied, now }: WorkflowServiceDeps) {
  /** Commits a change and waits until the local data plane enforces it. */
  async function change<T>(scope: TenantScope, work: (tx: TenantTransaction) => Promise<T>) {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, work);
    if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
    return result;
  }

  return {
    list: (scope: TenantScope, status: Workflow['status'] | undefined, page: Page) =>
      db.inTenant(scope, (tx) => workflowStore(tx).list(status, page)),

    get: (scope: TenantScope, id: string): Promise<Workflow> =>
      db.inTenant(scope, (tx) => getWorkflow(tx, id)),

    create: (scope: TenantScope, body: NewWorkflowBody): Promise<Workflow> =>
      change(scope, async (tx) => {
        const at = now();
        const store = workflowStore(tx);
        await lockInTenant(tx.db, 'workflows', tx.scope.tenantId);
        if ((await store.count()) >= MAX_WORKFLOWS) throw new AppError('WORKFLOW_LIMIT_REACHED');
        const workflow = {
          ...(toChange(body) as Required<WorkflowChange>),
          id: uuidv7(at.getTime()),
          status: 'active' as const,
          createdAt: at,
          updatedAt: at,
        };
        checkParticipants(workflow);
        await requireAgents(tx, workflow);
        const created = await store.create(workflow);
        await requireRoom(tx);
        appendChange(tx, created, 'workflow_created');
        return created;
      }),

    update: (scope: TenantScope, id: string, body: WorkflowChangeBody): Promise<Workflow> =>
      change(scope, async (tx) => {
        const workflow = await lockWorkflow(tx, id);
        const changes = toChange(body);
        const after = { ...workflow, ...changes };
        checkParticipants(after);
        await requireAgents(tx, after);
        const updated = await workflowStore(tx).update(id, changes, now());
        if (sizeOf(updated) > sizeOf(workflow)) {
          await lockInTenant(tx.db, 'workflows', tx.scope.tenantId);
          await requireRoom(tx);
        }
        appendChange(tx, updated, 'workflow_updated', workflow);
        return updated;
      }),

    suspend: (scope: TenantScope, id: string): Promise<Workflow> =>
      change(scope, async (tx) => {
        const workflow = await lockWorkflow(tx, id);
        if (workflow.status === 'suspended') return workflow;
        const updated = await workflowStore(tx).update(id, { status: 'suspended' }, now());
        appendChange(tx, updated, 'workflow_suspended');
        return updated;
      }),

    /** Its sessions end; their records stay. */
    delete: (scope: TenantScope, id: string): Promise<void> =>
      change(scope, async (tx) => {
        const { name } = await lockWorkflow(tx, id);
        const at = now();
        await endSessions(tx, await sessionStore(tx).lockActiveOf(id), 'aborted', at);
        await workflowStore(tx).delete(id, at);
        tx.feed.append({ kind: 'workflow', key: id, value: null });
        tx.audit.append({
          action: 'workflow_deleted',
          target: `workflow/${id}`,
          details: { name },
        });
      }),
  };
}

/** @throws AppError WORKFLOW_LIMIT_REACHED where they are too large together, with a stored one */
async function requireRoom(tx: TenantTransaction): Promise<void> {
  if ((await workflowStore(tx).countBytes()) <= MAX_BYTES_OF_TENANT) return;
  throw new AppError('WORKFLOW_LIMIT_REACHED');
}

const sizeOf = ({ name, participants }: Workflow): number =>
  Buffer.byteLength(name) + Buffer.byteLength(JSON.stringify(participants));

/** @throws AppError WORKFLOW_NOT_FOUND */
async function getWorkflow(tx: TenantTransaction, id: string): Promise<Workflow> {
  const workflow = await workflowStore(tx).find(id);
  if (!workflow) throw new AppError('WORKFLOW_NOT_FOUND');
  return workflow;
}

/** @throws AppError WORKFLOW_NOT_FOUND */
async function lockWorkflow(tx: TenantTransaction, id: string): Promise<Workflow> {
  const workflow = await workflowStore(tx).lock(id);
  if (!workflow) throw new AppError('WORKFLOW_NOT_FOUND');
  return workflow;
}

function toChange(body: WorkflowChangeBody): WorkflowChange {
  return {
    ...(body.name !== undefined && { name: body.name }),
    ...(body.owner_agent_id !== undefined && { ownerAgentId: body.owner_agent_id }),
    ...(body.max_depth !== undefined && { maxDepth: body.max_depth }),
    ...(body.max_participants !== undefined && { maxParticipants: body.max_participants }),
    ...(body.participants !== undefined && { participants: body.participants }),
    ...(body.status !== undefined && { status: body.status }),
  };
}

/** @throws AppError VALIDATION_FAILED */
function checkParticipants({ participants, maxParticipants }: Workflow): void {
  const agents = new Set(participants.map(({ agent_id }) => agent_id));
  let msg: string | undefined;
  if (agents.size < participants.length) msg = 'names an agent twice';
  else if (participants.length > maxParticipants) msg = 'are more than max_participants';
  if (msg === undefined) return;
  throw new AppError('VALIDATION_FAILED', `body.participants: ${msg}`, {
    errors: [{ loc: ['body', 'participants'], msg, type: 'custom' }],
  });
}

/** @throws AppError AGENT_NOT_FOUND */
async function requireAgents(
  { db, scope: { tenantId } }: TenantTransaction,
  { ownerAgentId, participants }: Workflow,
): Promise<void> {
  const ids = [...new Set([ownerAgentId, ...participants.map(({ agent_id }) => agent_id)])];
  const count = await db.agent.count({ where: { tenantId, id: { in: ids } } });
  if (count < ids.length) throw new AppError('AGENT_NOT_FOUND');
}

/** The fact and the audit record of a change, for the transaction that makes it. */
function appendChange(
  tx: TenantTransaction,
  workflow: Workflow,
  action: string,
  before?: Workflow,
): void {
  tx.feed.append({ kind: 'workflow', key: workflow.id, value: toWorkflowFact(workflow) });
  const details = detailsOf(workflow);
  tx.audit.append({
    action,
    target: `workflow/${workflow.id}`,
    details: { ...details, ...(before && { before: formerValues(detailsOf(before), details) }) },
  });
}

function detailsOf(workflow: Workflow) {
  const { status, owner_agent_id, max_depth, participants } = toWorkflowFact(workflow);
  return {
    name: workflow.name,
    status,
    owner_agent_id,
    max_depth,
    max_participants: workflow.maxParticipants,
    participants: participants.map(({ agent_id }) => agent_id),
    permitted: Object.fromEntries(
      participants.map(({ agent_id, role, allowed_actions }) => [
        agent_id,
        { role, allowed_actions },
      ]),
    ),
  };
}
