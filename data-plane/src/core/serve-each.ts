/**
 * Begins to serve each tenant of a start. One that cannot be served (its stream is damaged, say)
 * does not stop the others: its agents are denied, `findProblem` names it, and it is tried again.
 */
import type { SyncLog } from '../sync/link/sync-failure.ts';

const AGAIN_MS = 30_000;

export function createServeEach(deps: {
  serve(tenantId: string): Promise<void>;
  log: SyncLog;
  againMs?: number;
}) {
  const { serve, log, againMs = AGAIN_MS } = deps;
  const unserved = new Map<string, unknown>();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function tryAll(tenantIds: Iterable<string>): Promise<void> {
    for (const tenantId of tenantIds) {
      if (isStopped) return;
      try {
        await serve(tenantId);
        if (unserved.delete(tenantId)) log.info({ tenantId }, 'the tenant is served again');
      } catch (error) {
        if (!unserved.has(tenantId)) {
          log.error({ tenantId, err: error }, 'the tenant cannot be served: its calls are denied');
        }
        unserved.set(tenantId, error);
      }
    }
  }

  function tryAgainLater(): void {
    if (unserved.size === 0 || isStopped) return;
    timer = setTimeout(() => {
      tryAll([...unserved.keys()]).then(tryAgainLater);
    }, againMs).unref();
  }

  return {
    /** @throws the first one's error when none of them can be served */
    start: async (tenantIds: readonly string[]): Promise<void> => {
      await tryAll(tenantIds);
      if (unserved.size > 0 && unserved.size === tenantIds.length) {
        throw [...unserved.values()][0];
      }
      tryAgainLater();
    },
    /** What /ready shows; undefined when every tenant is served. */
    findProblem: (): string | undefined => {
      if (unserved.size === 0) return undefined;
      const [error] = unserved.values();
      const reason = error instanceof Error ? error.message : String(error);
      return `${unserved.size} tenants cannot be served: ${reason}`;
    },
    stop: (): void => {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
