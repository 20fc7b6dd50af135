/** Reports what is left out of servers' lists: in the health of the server, and once in the log. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { NoteTopic } from '../upstream/health/server-notes.ts';
import type { ListMethod } from '../upstream/lists/list-page.ts';
import type { UpstreamPool } from '../upstream/sessions/pool.ts';

export type ListNotes = ReturnType<typeof createListNotes>;

const TOPICS: Record<ListMethod, NoteTopic> = {
  'tools/list': 'tools',
  'resources/list': 'resources',
  'resources/templates/list': 'templates',
  'prompts/list': 'prompts',
};
/**
 * Lists whose last report is remembered to avoid repetition; beyond that the log repeats itself.
 */
const MAX_KNOWN = 10_000;

export function createListNotes(deps: {
  pool: Pick<UpstreamPool, 'note'>;
  log: Pick<Logger, 'warn'>;
}) {
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  return {
    /** @param leftOut null where the whole list was read and nothing was left out */
    put(tenantId: string, serverId: string, method: ListMethod, leftOut: string | null): void {
      const key = `${tenantId} ${serverId} ${method}`;
      if ((known.get(key) ?? null) === leftOut) return;
      if (leftOut === null) known.delete(key);
      else {
        known.set(key, leftOut);
        deps.log.warn({ tenantId, server: serverId, leftOut }, 'part of a list is left out');
      }
      const note = leftOut === null ? null : { health: 'ok' as const, reason: leftOut };
      deps.pool.note(tenantId, serverId, TOPICS[method], note);
    },
  };
}
