/**
 * Sessions of workflows. An administrator starts one and gets its token; it ends at an
 * administrator's request, or when its time is over.
 */
import type { AppliedBarrier } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import type { Page } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { endDelegationsOf } from './delegation-store.ts';
import { sessionStore, type WorkflowSession } from './session-store.ts';
import type { SessionTokens } from './session-tokens.ts';
import type { NewSessionBody } from './workflow-schemas.ts';
import { workflowStore } from './workflow-store.ts';

/** Limit per tenant: each is a fact, and ending a workflow ends all its sessions at once. */
const MAX_ACTIVE_SESSIONS = 2_000;
const EXPIRE_EVERY_MS = 30_000;
const EXPIRE_STEP = 200;

export interface SessionServiceDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inTenantWithHeads' | 'inPlatform'>;
  applied: AppliedBarrier;
  tokens: Pick<SessionTokens, 'sign'>;
  now: () => Date;
}

export type SessionService = ReturnType<typeof createSessionService>;

export function createSessionService({ db, applied, tokens, now }: SessionServiceDeps) {
  async function end(
    scope: TenantScope,
    workflowId: string,
    id: string,
    status: 'completed' | 'aborted',
  ): Promise<WorkflowSession> {
    const { result, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
      await getSession(tx, workflowId, id);
      const session = await sessionStore(tx).lock(id);
      if (session?.status !== 'active') throw new AppError('WORKFLOW_SESSION_ENDED');
      const [ended] = await endSessions(tx, [id], status, now());
      return ended ?? session;
    });
    if (feedSeq !== undefined) await applied.wait(scope.tenantId, { feedSeq });
    return result;
  }

  return {
    /** @returns the session and its token, which is shown only here */
    start: async (scope: TenantScope, workflowId: string, body: NewSessionBody) => {
      const { tenantId } = scope;
      const { result: session, feedSeq } = await db.inTenantWithHeads(scope, async (tx) => {
        const at = now();
        await lockInTenant(tx.db, 'workflow-sessions', tenantId);
        const workflow = await workflowStore(tx).lock(workflowId);
        if (!workflow) throw new AppError('WORKFLOW_NOT_FOUND');
        if (workflow.status === 'suspended') throw new AppError('WORKFLOW_SUSPENDED');
        const store = sessionStore(tx);
        if ((await store.countActive()) >= MAX_ACTIVE_SESSIONS) {
          throw new AppError('WORKFLOW_SESSION_LIMIT_REACHED');
        }
        const created = await store.create({
          id: uuidv7(at.getTime()),
          workflowId,
          initiatedBy: body.initiated_by ?? scope.actor.username,
          status: 'active',
          metadata: body.metadata,
          startedAt: at,
          completedAt: null,
          // Whole seconds, as in the token.
          expiresAt: new Date(Math.floor(at.getTime() / 1000 + body.expires_in_seconds) * 1000),
        });
        const { id, expiresAt, initiatedBy: initiated_by } = created;
        const expires_at = expiresAt.toISOString();
        const value = { id, workflow_id: workflowId, expires_at };
        tx.feed.append({ kind: 'workflow_session', key: id, value });
        tx.audit.append({
          action: 'workflow_session_started',
          target: `workflow/${workflowId}/session/${id}`,
          details: { initiated_by, expires_at },
        });
        return created;
      });
      if (feedSeq !== undefined) await applied.wait(tenantId, { feedSeq });
      const { id: subject, expiresAt } = session;
      const wfToken = await tokens.sign('workflow', {
        tenantId,
        subject,
        expiresAt,
        feedSeq: feedSeq ?? 0,
      });
      return { session, wfToken };
    },

    list: (scope: TenantScope, workflowId: string, page: Page) =>
      db.inTenant(scope, async (tx) => {
        if (!(await workflowStore(tx).find(workflowId))) throw new AppError('WORKFLOW_NOT_FOUND');
        return sessionStore(tx).list(workflowId, page);
      }),

    get: (scope: TenantScope, workflowId: string, id: string) =>
      db.inTenant(scope, (tx) => getSession(tx, workflowId, id)),

    complete: (scope: TenantScope, workflowId: string, id: string) =>
      end(scope, workflowId, id, 'completed'),

    abort: (scope: TenantScope, workflowId: string, id: string) =>
      end(scope, workflowId, id, 'aborted'),
  };
}

/** @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_SESSION_NOT_FOUND */
export async function getSession(
  tx: TenantTransaction,
  workflowId: string,
  id: string,
): Promise<WorkflowSession> {
  if (!(await workflowStore(tx).find(workflowId))) throw new AppError('WORKFLOW_NOT_FOUND');
  const session = await sessionStore(tx).find(id);
  if (session?.workflowId !== workflowId) throw new AppError('WORKFLOW_SESSION_NOT_FOUND');
  return session;
}

/** Ends locked active sessions, with their delegations. */
export async function endSessions(
  tx: TenantTransaction,
  ids: string[],
  status: 'completed' | 'aborted',
  at: Date,
): Promise<WorkflowSession[]> {
  const store = sessionStore(tx);
  const ended: WorkflowSession[] = [];
  for (const id of ids) {
    const session = await store.end(id, status, at);
    ended.push(session);
    tx.feed.append({ kind: 'workflow_session', key: id, value: null });
    tx.audit.append({
      action: `workflow_session_${status}`,
      target: `workflow/${session.workflowId}/session/${id}`,
      details: { is_expired: session.expiresAt <= at },
    });
  }
  await endDelegationsOf(tx, ids, at);
  return ended;
}

/** Aborts sessions whose time is over. Data planes refuse them by their own clocks before that. */
export function createSessionExpiry({
  db,
  now,
}: Pick<SessionServiceDeps, 'db' | 'now'>): LeaderTask {
  const expireSome = (tenantId: string) =>
    db.inTenant(systemScope(tenantId), async (tx) => {
      const at = now();
      const ids = await sessionStore(tx).lockExpired(at, EXPIRE_STEP);
      await endSessions(tx, ids, 'aborted', at);
      return ids.length;
    });
  return {
    name: 'workflow_session_expiry',
    everyMs: EXPIRE_EVERY_MS,
    run: (signal) =>
      forEachTenant(db, signal, async (tenantId) => {
        while (!signal.aborted && (await expireSome(tenantId)) === EXPIRE_STEP);
      }),
  };
}
