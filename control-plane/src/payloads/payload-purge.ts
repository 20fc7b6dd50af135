/**
 * Deletes payloads, with their salts, once the tenant's retention has passed since their receipt.
 * The current retention applies: a shorter one also reaches payloads already stored.
 */
import { DAY_MS } from '@governance/shared/time/durations';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { payloadStore } from './payload-store.ts';
import { readProtectionPolicy } from './protection-policy.ts';

const EVERY_MS = 60 * 60_000;
/** Rows read in one transaction. */
const STEP = 500;

export interface PayloadPurgeDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  /** It never runs back: what was received later was received while the clock was ahead. */
  tokenNow: () => Date;
  settledNow: () => Date;
}

/** The leader's task. */
export function createPayloadPurge(deps: PayloadPurgeDeps): LeaderTask {
  return {
    name: 'payload_purge',
    everyMs: EVERY_MS,
    run: (signal) =>
      forEachTenant(deps.db, signal, async (tenantId) => {
        while (!signal.aborted && (await purgeStep(deps, tenantId)) > 0);
      }),
  };
}

async function purgeStep(deps: PayloadPurgeDeps, tenantId: string): Promise<number> {
  return deps.db.inTenant(systemScope(tenantId), async (tx) => {
    const at = deps.settledNow();
    const { payloadRetentionDays } = await readProtectionPolicy(tx);
    const store = payloadStore(tx);
    await store.restartRetention(deps.tokenNow());
    const before = new Date(at.getTime() - payloadRetentionDays * DAY_MS);
    const events = await store.purge(before, STEP, at);
    if (events === 0) {
      await store.forgetPurges(at);
      await store.recount(at);
    }
    return events;
  });
}
