import type { AppliedBarrier } from '@governance/shared/channel/channels';
import type { SyncLog } from '../link/sync-failure.ts';

/** Long polls return when something changes; only a lost wake-up needs a kick. */
const KICK_AFTER_MS = 50;
const LIMIT_MS = 10_000;

/** One tenant's progress, as the barrier needs it. */
export interface TenantProgress {
  waitForFeed(seq: number, ms: number): Promise<boolean>;
  waitForRules(revision: number, ms: number): Promise<boolean>;
  kick(): void;
}

/**
 * Resolves when a change is enforced here. After 10 s it resolves all the same, with a warning in
 * the log: the change stands, and reaches enforcement as soon as possible.
 *
 * @param find the progress of a tenant; undefined when it is not served here: nothing to wait for
 */
export function createAppliedBarrier(
  find: (tenantId: string) => TenantProgress | undefined,
  log: SyncLog,
  limitMs: number = LIMIT_MS,
): AppliedBarrier {
  return {
    wait: async (tenantId, target) => {
      const progress = find(tenantId);
      if (!progress) return;
      const reached = async (ms: number) => {
        const { feedSeq, bundleRevision } = target;
        const waits = [
          feedSeq === undefined ? true : progress.waitForFeed(feedSeq, ms),
          bundleRevision === undefined ? true : progress.waitForRules(bundleRevision, ms),
        ];
        return (await Promise.all(waits)).every(Boolean);
      };
      if (await reached(KICK_AFTER_MS)) return;
      progress.kick();
      if (await reached(limitMs)) return;
      log.warn({ tenantId, ...target }, 'a change is not yet enforced by this data plane');
    },
  };
}
