/** The leader's tasks: run replays, two at a time over all tenants, and delete old ones. */
import { DAY_MS } from '@governance/shared/time/durations';
import { readProtectionPolicy } from '../payloads/protection-policy.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
} from '../platform/database/tenant-scope.ts';
import { inTurn } from '../platform/in-turn.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { LEASE_MS, type ReplayRunDeps, runReplay } from './replay-run.ts';
import { replayStore } from './replay-store.ts';

const EVERY_MS = 1_000;
const LANES = 2;
/** A replay that was not finished in this many attempts is given up. */
export const MAX_ATTEMPTS = 10;
const PURGE_EVERY_MS = 60 * 60_000;

export type ReplayTasksDeps = ReplayRunDeps & {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  /** It never runs back. */
  tokenNow: () => Date;
  settledNow: () => Date;
};

export function createReplayTasks(deps: ReplayTasksDeps): LeaderTask[] {
  const lanes = Array.from({ length: LANES }, (_, n) => ({
    name: `policy_replays_${n + 1}`,
    everyMs: EVERY_MS,
    run: (signal: AbortSignal) => runDue(deps, signal),
  }));
  const purge: LeaderTask = {
    name: 'policy_replay_purge',
    everyMs: PURGE_EVERY_MS,
    run: (signal) =>
      forEachTenant(deps.db, signal, (tenantId) =>
        deps.db.inTenant(systemScope(tenantId), async (tx) => {
          const { payloadRetentionDays } = await readProtectionPolicy(tx);
          const before = deps.settledNow().getTime() - payloadRetentionDays * DAY_MS;
          await replayStore(tx).purge(new Date(before), deps.tokenNow());
        }),
      ),
  };
  return [...lanes, purge];
}

/**
 * Runs due replays one after the other, until none is due.
 *
 * @throws the first error of a round, after the others of that round have run
 */
export async function runDue(deps: ReplayTasksDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const due = await findDue(deps);
    if (due.length === 0) return;
    await inTurn(due, signal, ({ tenant_id, id }) => runOne(deps, tenant_id, id, signal));
  }
}

/** Those that wait longest first. */
const findDue = ({ db, now }: ReplayTasksDeps) =>
  db.inPlatform(
    SYSTEM_ACTOR,
    (tx) =>
      tx.db.$queryRaw<{ tenant_id: string; id: string }[]>`
        SELECT tenant_id::text, id::text FROM find_due_replays(${now()})`,
  );

async function runOne(deps: ReplayTasksDeps, tenantId: string, id: string, signal: AbortSignal) {
  const { db, now } = deps;
  const scope = systemScope(tenantId);
  const at = now();
  const leaseUntil = new Date(at.getTime() + LEASE_MS);
  // Committed before it is read: one that cannot be read waits for its lease too, and is given up.
  const claimed = await db.inTenant(scope, (tx) => replayStore(tx).claim(id, at, leaseUntil));
  if (!claimed) return;
  if (claimed.attempts > MAX_ATTEMPTS) {
    const end = {
      status: 'failed',
      reason: 'It was interrupted too often.',
      finishedAt: at,
    } as const;
    await db.inTenant(scope, (tx) => replayStore(tx).save({ id, leaseUntil }, end));
    return;
  }
  const replay = await db.inTenant(scope, (tx) => replayStore(tx).find(claimed.policyId, id));
  const areOthersWaiting = async () => (await findDue(deps)).length > 0;
  if (replay) await runReplay(deps, tenantId, replay, signal, areOthersWaiting);
}
