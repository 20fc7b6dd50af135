/** Tells of rows of data planes and tokens that are not what was recorded. */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import { type NewAlert, raiseAlert } from '../alerts/raise-alert.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { FoundRow } from './plane-adoption.ts';

const ALERT = 'DATA_PLANE_NOT_RECORDED';
/** Rows that one alert lists. */
const LISTED = 100;
const TOLD_KEPT = 10_000;
/** A replica looks for an alert about a row again after this long. */
const TOLD_MS = 10 * 60 * 1000;

/** What an operator does about it. */
const REMEDY =
  'Find out who wrote to the database. A data plane that should be served: restart it, and it registers again with the token that it was given; where that token is refused, issue a new one (POST /api/v1/admin/data-plane-tokens) and give it that. Anything else: revoke its token.';

export interface PlaneAlertsDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  registry: Registry;
  log: Pick<Logger, 'error'>;
  now: () => Date;
}

export function createPlaneAlerts({ db, registry, log, now }: PlaneAlertsDeps) {
  const told = new LRUCache<string, true>({ max: TOLD_KEPT, ttl: TOLD_MS });
  const refusals = new Counter({
    name: 'data_plane_rows_refused_total',
    help: 'Data planes and tokens in the database that are not what was recorded: nothing was sealed to them, and no token believed',
    registers: [registry],
  });

  /** One after the other: each takes a connection, and a tenant has two thousand data planes. */
  let raising: Promise<unknown> = Promise.resolve();

  /** Not awaited: who waits for an answer does not wait for an alert. */
  function raise(tenantId: string, alert: Omit<NewAlert, 'agentId' | 'now' | 'alertType'>): void {
    const raiseOne = () =>
      db.inTenant(systemScope(tenantId), (tx) =>
        raiseAlert(tx, { ...alert, alertType: ALERT, agentId: null, now: now() }),
      );
    raising = raising
      .then(raiseOne)
      .catch((err: unknown) =>
        log.error({ tenantId, err }, 'the alert about a data plane could not be raised'),
      );
  }

  return {
    refused: (tenantId: string, { target, fault }: FoundRow): void => {
      if (told.has(`${tenantId}/${target}`)) return;
      told.set(`${tenantId}/${target}`, true);
      refusals.inc();
      log.error(
        { tenantId, row: target, fault, remedy: REMEDY },
        'a data plane or its token is not what was recorded: it is refused',
      );
      raise(tenantId, {
        severity: 'critical',
        title: 'A data plane or its token is not what was registered: it is refused',
        // Not as `target`: records are searched for theirs (../chain/admin-records.ts).
        details: { row: target, fault, remedy: REMEDY },
        dedupeKey: `data-plane-not-recorded:${target}`,
      });
    },

    /** Believed, since a version that attested nothing may have written them. */
    doubted: (tenantId: string, rows: readonly FoundRow[]): void => {
      if (rows.length === 0) return;
      const listed = rows.slice(0, LISTED).map(({ target, fault }) => ({ row: target, fault }));
      log.error(
        { tenantId, rows: listed, count: rows.length, remedy: REMEDY },
        'data planes or tokens that this service did not attest are taken: if no upgrade is under way, find out who wrote to the database',
      );
      raise(tenantId, {
        severity: 'high',
        title:
          'Data planes or tokens that this service did not attest, or never recorded, are taken',
        details: { rows: listed, rows_count: rows.length, remedy: REMEDY },
        dedupeKey: 'data-plane-without-attestation',
      });
    },
  };
}

export type PlaneAlerts = ReturnType<typeof createPlaneAlerts>;
