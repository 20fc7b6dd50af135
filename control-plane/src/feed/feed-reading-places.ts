/**
 * Which data planes read their feed, and how far they are: whether one may, and a note of where it
 * stands for the list of data planes. Noted beside the answer and never in its way.
 */
import { AppError } from '@governance/shared/errors';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { systemScope, type TenantDatabase, type TenantScope } from '../platform/tenant-scope.ts';

export interface ReadingPlaces {
  /**
   * @throws AppError DATA_PLANE_NOT_FOUND when the tenant has no such data plane;
   *   DATA_PLANE_REVOKED when it was revoked (and somebody else's token speaks for it)
   */
  requireReader(scope: TenantScope, deploymentId: string): Promise<void>;
  /** Notes where a data plane stands, at most every 30 s; a failure is logged. */
  note(
    scope: TenantScope,
    deploymentId: string,
    place: { cursor: number; backlog?: number | undefined },
  ): void;
  /** Waits for what is being noted. */
  settled(): Promise<void>;
}

export interface ReadingPlacesDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  log: Pick<Logger, 'warn'>;
  now: () => Date;
}

const NOTE_EVERY_MS = 30_000;
/** How long a data plane that was found is taken as found. */
const KNOWN_MS = 30_000;
const CACHED = 20_000;

export function createReadingPlaces({ db, log, now }: ReadingPlacesDeps): ReadingPlaces {
  const known = new LRUCache<string, true>({ max: CACHED, ttl: KNOWN_MS });
  const noted = new LRUCache<string, true>({ max: CACHED, ttl: NOTE_EVERY_MS });
  const running = new Set<Promise<void>>();

  async function write(
    tenantId: string,
    deploymentId: string,
    { cursor, backlog }: Parameters<ReadingPlaces['note']>[2],
  ): Promise<void> {
    try {
      await db.inTenant(
        systemScope(tenantId),
        (tx) => tx.db.$executeRaw`
          UPDATE data_planes SET feed_cursor = ${cursor}, feed_read_at = ${now()},
            backlog_records = ${backlog ?? null}
          WHERE tenant_id = ${tenantId}::uuid AND deployment_id = ${deploymentId}::uuid`,
      );
    } catch (error) {
      log.warn({ err: error, tenantId, deploymentId }, 'where a data plane stands was not noted');
    }
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
      const writing = write(tenantId, deploymentId, place).finally(() => running.delete(writing));
      running.add(writing);
    },
    settled: async () => void (await Promise.all(running)),
  };
}
