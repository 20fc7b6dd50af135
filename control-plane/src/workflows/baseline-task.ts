/**
 * Compares completed sessions with their workflow's baseline, and updates it. Runs a minute after a
 * session's end, when the data planes' records have arrived; records of an offline data plane do
 * not count.
 */
import { z } from 'zod';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { readTrace } from './trace-service.ts';
import {
  findAnomalies,
  learn,
  type SessionMeasures,
  type WorkflowBaseline,
} from './workflow-baseline.ts';

const EVERY_MS = 30_000;
const AFTER_MS = 60_000;

const Tools = z.record(z.string(), z.number());

export interface BaselineDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}

export function createBaselineTask({ db, now }: BaselineDeps): LeaderTask {
  /** One session per transaction: its baseline, its alerts and its mark commit together. */
  const compareNext = (tenantId: string) =>
    db.inTenant(systemScope(tenantId), (tx) => compareOne(tx, now()));
  return {
    name: 'workflow_baselines',
    everyMs: EVERY_MS,
    run: (signal) =>
      forEachTenant(db, signal, async (tenantId) => {
        while (!signal.aborted && (await compareNext(tenantId)));
      }),
  };
}

/** @returns whether there was a session */
async function compareOne(tx: TenantTransaction, at: Date): Promise<boolean> {
  const { db, scope } = tx;
  const { tenantId } = scope;
  const [session] = await db.$queryRaw<Session[]>`
    SELECT id, workflow_id, started_at, completed_at FROM workflow_sessions
    WHERE tenant_id = ${tenantId}::uuid AND status = 'completed' AND compared_at IS NULL
      AND completed_at <= ${new Date(at.getTime() - AFTER_MS)}
    ORDER BY completed_at LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (!session) return false;
  const { id, workflow_id: workflowId } = session;
  // Serialises two sessions of one workflow.
  await db.$queryRaw`
    SELECT 1 FROM workflows WHERE tenant_id = ${tenantId}::uuid AND id = ${workflowId}::uuid
    FOR NO KEY UPDATE`;
  const where = { tenantId_workflowId: { tenantId, workflowId } };
  const row = await db.workflowBaseline.findUnique({ where });
  const before = row ? { ...row, tools: Tools.parse(row.tools) } : undefined;
  const measures = await measure(tx, session);
  for (const { alertType, title, details } of findAnomalies(before, measures)) {
    await raiseAlert(tx, {
      alertType,
      severity: 'medium',
      agentId: null,
      title,
      details: { ...details, workflow_id: workflowId, workflow_session_id: id },
      dedupeKey: `${alertType}:${workflowId}`,
      now: at,
    });
  }
  const { sessions, durationSeconds, maxDepth, tools } = learn(before, measures);
  const learned: WorkflowBaseline = { sessions, durationSeconds, maxDepth, tools };
  const data = { ...learned, tools: { ...tools }, updatedAt: at };
  await db.workflowBaseline.upsert({
    where,
    create: { tenantId, workflowId, ...data },
    update: data,
  });
  await db.workflowSession.update({
    where: { tenantId_id: { tenantId, id } },
    data: { comparedAt: at },
  });
  return true;
}

interface Session {
  id: string;
  workflow_id: string;
  started_at: Date;
  completed_at: Date;
}

async function measure(tx: TenantTransaction, session: Session): Promise<SessionMeasures> {
  const { agent_summaries } = await readTrace(tx, session.id);
  const calls = new Map<string, number>();
  let maxDepth = 0;
  for (const { tools, max_causal_depth } of Object.values(agent_summaries)) {
    maxDepth = Math.max(maxDepth, max_causal_depth);
    for (const [name, count] of Object.entries(tools)) {
      calls.set(name, (calls.get(name) ?? 0) + count);
    }
  }
  return {
    durationSeconds: (session.completed_at.getTime() - session.started_at.getTime()) / 1000,
    maxDepth,
    calls: Object.fromEntries(calls),
  };
}
