/**
 * Ends escalations that nobody decided in time, announces pending ones to other data planes, and
 * withdraws facts that are no longer needed. A clock that is ahead for a moment ends none: a held
 * result would be gone, and its call made again. Proven by escalation-clock.pg.test.ts.
 */

import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { toHeldCallFact, toTombstone } from './escalation.ts';
import { recordResolution } from './escalation-service.ts';
import { escalationStore } from './escalation-store.ts';

const EVERY_MS = 1_000;
/**
 * A grant is valid for ten minutes, and a data plane remembers an ended escalation for that time.
 */
const FACT_KEPT = '1 hour';

export function createEscalationTimeouts(deps: {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
  /** The time without a jump ahead that has not lasted. */
  settledNow: () => Date;
}): LeaderTask {
  const { db, now, settledNow } = deps;

  async function run(signal: AbortSignal): Promise<void> {
    const tenants = await db.inPlatform(
      SYSTEM_ACTOR,
      (tx) =>
        tx.db.$queryRaw<{ id: string }[]>`
          SELECT tenant_id::text AS id FROM find_overdue_escalations(${FACT_KEPT}::interval)`,
    );
    for (const { id } of tenants) {
      if (signal.aborted) return;
      await db.inTenant(systemScope(id), async (tx) => {
        const store = escalationStore(tx);
        for (const row of await store.timeOut(settledNow()))
          await recordResolution(tx, row, 'timed_out', now());
        for (const row of await store.announce()) tx.feed.append(toHeldCallFact(row, 'pending'));
        for (const row of await store.leaveFeed(FACT_KEPT, settledNow())) {
          tx.feed.append(toTombstone(row));
          if (row.binding === null || (await store.isReplaced(row))) continue;
          tx.feed.append({ kind: 'optional.held_call', key: row.binding, value: null });
        }
      });
    }
  }

  return { name: 'escalation_timeouts', everyMs: EVERY_MS, run };
}
