/**
 * Checks whether a data plane may read its feed, and records how far it has read, for the list of
 * data planes. Storing a place never delays an answer; the places of a tenant's polls are stored
 * together in one statement.
 */
import { AppError } from '@governance/shared/errors';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
} from '../platform/database/tenant-scope.ts';

export interface ReadingPlaces {
  /**
   * @throws AppError DATA_PLANE_NOT_FOUND when the tenant has no such data plane;
   *   DATA_PLANE_REVOKED when it was revoked (and a root's token was used)
   */
  requireReader(scope: TenantScope, deploymentId: string): Promise<void>;
  /** Records a data plane's place, at most every 30 s; a failure is logged. */
  note(
    scope: TenantScope,
    deploymentId: string,
    place: { cursor: number; backlog?: number | undefined },
  ): void;
  /** Writes all pending places now, and waits for that. */
  settled(): Promise<void>;
}

export interface ReadingPlacesDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  log: Pick<Logger, 'warn'>;
  now: () => Date;
}

interface Note {
  deploymentId: string;
  cursor: number;
  backlog?: number | undefined;
  at: Date;
}

const NOTE_EVERY_MS = 30_000;
/** How long a place waits for others. */
const GATHER_MS = 250;
/** How long a found data plane is cached. */
const KNOWN_MS = 30_000;
const CACHED = 20_000;

export function createReadingPlaces({ db, log, now }: ReadingPlacesDeps): ReadingPlaces {
  const known = new LRUCache<string, true>({ max: CACHED, ttl: KNOWN_MS });
  const noted = new LRUCache<string, true>({ max: CACHED, ttl: NOTE_EVERY_MS });
  const running = new Set<Promise<void>>();
  let gathered = new Map<string, Note[]>();
  let timer: NodeJS.Timeout | undefined;

  async function write(tenantId: string, notes: Note[]): Promise<void> {
    try {
      await db.inTenant(
        systemScope(tenantId),
        // A locked row is skipped: another place will follow.
        (tx) => tx.db.$executeRaw`
          WITH note AS (
            SELECT * FROM unnest(
              ${notes.map(({ deploymentId }) => deploymentId)}::uuid[],
              ${notes.map(({ cursor }) => cursor)}::bigint[],
              ${notes.map(({ backlog }) => backlog ?? null)}::bigint[],
              ${notes.map(({ at }) => at.toISOString())}::timestamptz[]
            ) AS note (deployment_id, cursor, backlog, at)
          ), free AS (
            SELECT deployment_id FROM data_planes
            WHERE tenant_id = ${tenantId}::uuid AND deployment_id IN (SELECT deployment_id FROM note)
            FOR NO KEY UPDATE SKIP LOCKED
          )
          UPDATE data_planes p
          SET feed_cursor = note.cursor, feed_read_at = note.at, backlog_records = note.backlog
          FROM note JOIN free USING (deployment_id)
          WHERE p.tenant_id = ${tenantId}::uuid AND p.deployment_id = note.deployment_id`,
      );
    } catch (error) {
      const { length: count } = notes;
      log.warn({ err: error, tenantId, count }, 'the feed places of data planes were not stored');
    }
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    for (const [tenantId, notes] of gathered) {
      const writing = write(tenantId, notes).finally(() => running.delete(writing));
      running.add(writing);
    }
    gathered = new Map();
  }

  return {
    requireReader: async (scope, deploymentId) => {
      const { tenantId } = scope;
      const name = `${tenantId}/${deploymentId}`;
      if (known.has(name)) return;
      const plane = await db.inTenant(scope, (tx) =>
        tx.db.dataPlane.findUnique({
          where: { tenantId_deploymentId: { tenantId, deploymentId } },
          select: { status: true },
        }),
      );
      if (!plane) throw new AppError('DATA_PLANE_NOT_FOUND');
      if (plane.status === 'revoked') throw new AppError('DATA_PLANE_REVOKED');
      known.set(name, true);
    },
    note: ({ tenantId }, deploymentId, place) => {
      const name = `${tenantId}/${deploymentId}`;
      if (noted.has(name)) return;
      noted.set(name, true);
      const notes = gathered.get(tenantId) ?? [];
      gathered.set(tenantId, notes);
      notes.push({ deploymentId, ...place, at: now() });
      timer ??= setTimeout(flush, GATHER_MS);
    },
    settled: async () => {
      flush();
      await Promise.all(running);
    },
  };
}
