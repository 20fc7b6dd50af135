/** Reports builds: metrics, a log line each, and an alert for a failure. */
import type { Logger } from 'pino';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type NewAlert, raiseAlert } from '../alerts/raise-alert.ts';
import { resolveAlert } from '../alerts/resolve-alert.ts';
import { systemScope, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { BundleObserver } from './bundle-builder.ts';
import {
  describeUnrecorded,
  UNRECORDED_REMEDY,
  UnrecordedPoliciesError,
  type UnrecordedPolicy,
} from './unrecorded-policies.ts';

/** The keys of the alerts. */
const FAILED = 'bundle-build-failed';
const UNRECORDED = 'policy-not-recorded';
const DOUBTED = 'policy-without-record';

/** Policies that one alert lists. */
const LISTED = 100;

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
}: BundleObserverDeps): BundleObserver & { findWarnings(): Record<string, string> } {
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
  const refusing = new Gauge({
    name: 'bundle_unrecorded_tenants',
    help: 'Tenants whose newest policies are in no bundle, because they are not what was recorded',
    registers,
  });
  const failed = new Set<string>();
  const refused = new Set<string>();

  function note(tenantId: string, hasFailed: boolean, isRefused: boolean): void {
    if (hasFailed) failed.add(tenantId);
    else failed.delete(tenantId);
    if (isRefused) refused.add(tenantId);
    else refused.delete(tenantId);
    failing.set(failed.size);
    refusing.set(refused.size);
  }

  const raise = (tenantId: string, alert: Omit<NewAlert, 'agentId' | 'now'>) =>
    db
      .inTenant(systemScope(tenantId), (tx) =>
        raiseAlert(tx, { ...alert, agentId: null, now: now() }),
      )
      .catch((alertError) => {
        // The database may be the cause; the log and the metric have reported it already.
        log.error(
          { tenantId, err: alertError },
          'the alert about the bundle that was not built could not be raised',
        );
      });

  return {
    /** For /ready. */
    findWarnings: (): Record<string, string> => {
      if (refused.size === 0) return {};
      const whose = refused.size === 1 ? '1 tenant' : `${refused.size} tenants`;
      return {
        policies: `those of ${whose} are not what was recorded: the last bundle stays in force, see the alert POLICY_NOT_RECORDED`,
      };
    },

    built: (tenantId, { revision, bytes, ms, compiled }) => {
      builds.inc({ outcome: compiled ? 'compiled' : 'reused' });
      seconds.observe(ms / 1_000);
      log.info({ tenantId, revision, bytes, ms: Math.round(ms), compiled }, 'bundle built');
    },

    doubted: async (tenantId, policies) => {
      log.error(
        { tenantId, policies: describeUnrecorded(policies) },
        'policies without a record or an attestation',
      );
      await raise(tenantId, {
        alertType: 'POLICY_NOT_RECORDED',
        severity: 'high',
        title: 'Policies that this service did not save, or that have no record, are in force',
        details: detailsOf(policies),
        dedupeKey: DOUBTED,
      });
    },

    settled: async (tenantId) => {
      note(tenantId, false, false);
      try {
        // Also that of another replica, or of this one before its restart: while it is open, no
        // later failure is told.
        await db.inTenant(systemScope(tenantId), async (tx) => {
          await resolveAlert(tx, FAILED, now());
          await resolveAlert(tx, UNRECORDED, now());
        });
      } catch (error) {
        log.error({ tenantId, err: error }, 'the alert about a bundle could not be resolved');
      }
    },

    failed: async (tenantId, error) => {
      builds.inc({ outcome: 'failed' });
      const isRefused = error instanceof UnrecordedPoliciesError;
      note(tenantId, true, isRefused);
      log.error({ tenantId, err: error }, 'bundle not built: the last one stays');
      await raise(
        tenantId,
        isRefused
          ? {
              alertType: 'POLICY_NOT_RECORDED',
              severity: 'critical',
              title: 'Policies are not what was recorded: enforcement goes on with the last bundle',
              details: detailsOf(error.policies),
              dedupeKey: UNRECORDED,
            }
          : {
              alertType: 'BUNDLE_BUILD_FAILED',
              severity: 'high',
              title: 'The policy bundle could not be built: enforcement goes on with the last one',
              details: { error: error instanceof Error ? error.message : String(error) },
              dedupeKey: FAILED,
            },
      );
    },
  };
}

function detailsOf(policies: readonly UnrecordedPolicy[]) {
  return {
    policies: policies.slice(0, LISTED).map(({ id, name, fault }) => ({ id, name, fault })),
    policies_count: policies.length,
    remedy: UNRECORDED_REMEDY,
  };
}
