/** Reports builds: metrics, a log line each, and an alert for a failure. */
import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { resolveAlert } from '../alerts/resolve-alert.ts';
import { systemScope, type TenantDatabase } from '../platform/tenant-scope.ts';
import type { BundleObserver } from './bundle-builder.ts';

/** The key of the alert. */
const FAILED = 'bundle-build-failed';

export interface BundleObserverDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  registry: Registry;
  log: Pick<Logger, 'info' | 'error'>;
  now(): Date;
}

export function createBundleObserver({
  db,
  registry,
  log,
  now,
}: BundleObserverDeps): BundleObserver {
  const registers = [registry];
  const builds = new Counter({
    name: 'bundle_builds_total',
    help: 'Policy bundles built, by whether the policies had to be compiled, or failed',
    labelNames: ['outcome'],
    registers,
  });
  const seconds = new Histogram({
    name: 'bundle_build_seconds',
    help: 'Time to compile, sign and store a policy bundle',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  });
  const failing = new Gauge({
    name: 'bundle_failing_tenants',
    help: 'Tenants whose newest policies or settings are in no bundle, because its build fails',
    registers,
  });
  const failed = new Set<string>();

  return {
    built: (tenantId, { revision, bytes, ms, compiled }) => {
      builds.inc({ outcome: compiled ? 'compiled' : 'reused' });
      seconds.observe(ms / 1_000);
      log.info({ tenantId, revision, bytes, ms: Math.round(ms), compiled }, 'bundle built');
    },

    settled: async (tenantId) => {
      failed.delete(tenantId);
      failing.set(failed.size);
      try {
        // Also that of another replica, or of this one before its restart: while it is open, no
        // later failure is told.
        await db.inTenant(systemScope(tenantId), (tx) => resolveAlert(tx, FAILED, now()));
      } catch (error) {
        log.error({ tenantId, err: error }, 'the alert about a bundle could not be resolved');
      }
    },

    failed: async (tenantId, error) => {
      builds.inc({ outcome: 'failed' });
      failed.add(tenantId);
      failing.set(failed.size);
      log.error({ tenantId, err: error }, 'bundle not built: the last one stays');
      try {
        await db.inTenant(systemScope(tenantId), (tx) =>
          raiseAlert(tx, {
            alertType: 'BUNDLE_BUILD_FAILED',
            severity: 'high',
            agentId: null,
            title: 'The policy bundle could not be built: enforcement goes on with the last one',
            details: { error: error instanceof Error ? error.message : String(error) },
            dedupeKey: FAILED,
            now: now(),
          }),
        );
      } catch (alertError) {
        // The database may be the cause; the log and the metric have reported it already.
        log.error(
          { tenantId, err: alertError },
          'the alert about the bundle that was not built could not be raised',
        );
      }
    },
  };
}
