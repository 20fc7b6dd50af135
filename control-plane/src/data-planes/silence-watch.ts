/**
 * Finds data planes that send no heartbeats. Each silence raises one alert, which is resolved
 * automatically at the next heartbeat. An alert that a person resolves during a silence is not
 * raised again for it. Proven by silence-watch.pg.test.ts.
 */

import { raiseAlert } from '../alerts/raise-alert.ts';
import { resolveAlert } from '../alerts/resolve-alert.ts';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { SILENT_AFTER_MS } from './data-plane.ts';
import { withoutToken } from './data-plane-token-store.ts';

const EVERY_MS = 30_000;

/** Alerts per transaction. */
const BATCH = 100;

export interface SilenceWatchDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}

export function createSilenceWatch({ db, now }: SilenceWatchDeps): LeaderTask {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let watchingSince = 0;

  /** @returns the time, and whether the watch has run without a gap for SILENT_AFTER_MS */
  function look(): { at: Date; isSure: boolean } {
    const at = now();
    const sinceLast = at.getTime() - lookedAt;
    lookedAt = at.getTime();
    // While the control plane or its database was down, no heartbeat could arrive, and times from
    // before a change of the clock cannot be compared: a silence counts only if the watch ran all
    // the time. `look` is called for each tenant, since a run over many tenants may take longer
    // than the pause.
    if (sinceLast > 2 * EVERY_MS || sinceLast < 0) watchingSince = lookedAt;
    return { at, isSure: lookedAt - watchingSince >= SILENT_AFTER_MS };
  }

  return {
    name: 'data_plane_silence',
    everyMs: EVERY_MS,
    run: async (signal) => {
      look();
      await forEachTenant(db, signal, async (tenantId) => {
        const step = () => {
          const { at, isSure } = look();
          return db.inTenant(systemScope(tenantId), async (tx) => {
            await resolveReturned(tx, at);
            return isSure ? raiseSilent(tx, at) : 0;
          });
        };
        while ((await step()) === BATCH && !signal.aborted);
      });
      look();
    },
  };
}

const silentBefore = (at: Date) => new Date(at.getTime() - SILENT_AFTER_MS);
/** A heartbeat of after this came before the clock was put back; `isSure` says that it was long ago. */
const notHeardYet = (at: Date) => new Date(at.getTime() + SILENT_AFTER_MS);
const dedupeKeyOf = (deploymentId: string) => `data-plane-silent/${deploymentId}`;

/** @returns how many alerts were raised, at most `BATCH` */
async function raiseSilent(tx: TenantTransaction, at: Date): Promise<number> {
  const { tenantId } = tx.scope;
  // The update claims the data planes, so that two replicas raise each alert once. One whose tokens
  // were all revoked is expected to be silent.
  const silent = await tx.db.$queryRaw<{ id: string; label: string; lastAt: Date }[]>`
    UPDATE data_planes SET silence_reported_at = ${at}
    WHERE tenant_id = ${tenantId}::uuid AND deployment_id IN (
      SELECT p.deployment_id FROM data_planes p
      WHERE p.tenant_id = ${tenantId}::uuid AND p.status = 'active'
        AND p.silence_reported_at IS NULL AND (p.last_heartbeat_at <= ${silentBefore(at)}
          OR p.last_heartbeat_at >= ${notHeardYet(at)})
        AND p.deployment_id NOT IN (${withoutToken(tenantId)})
      LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
    RETURNING deployment_id AS id, label, last_heartbeat_at AS "lastAt"`;
  for (const { id, label, lastAt } of silent) {
    await raiseAlert(tx, {
      alertType: 'DATA_PLANE_SILENT',
      severity: 'high',
      agentId: null,
      title: 'A data plane missed three heartbeats',
      details: { deployment_id: id, label, last_heartbeat_at: lastAt.toISOString() },
      dedupeKey: dedupeKeyOf(id),
      now: at,
    });
  }
  return silent.length;
}

/**
 * Resolves the alerts of data planes that were heard again, that were revoked or forked, or whose
 * tokens were all revoked with their root.
 */
async function resolveReturned(tx: TenantTransaction, at: Date): Promise<void> {
  const { tenantId } = tx.scope;
  const returned = await tx.db.$queryRaw<{ id: string }[]>`
    UPDATE data_planes SET silence_reported_at = NULL
    WHERE tenant_id = ${tenantId}::uuid AND silence_reported_at IS NOT NULL
      AND ((last_heartbeat_at > ${silentBefore(at)} AND last_heartbeat_at < ${notHeardYet(at)})
        OR status <> 'active'
        OR deployment_id IN (${withoutToken(tenantId)}))
    RETURNING deployment_id AS id`;
  for (const { id } of returned) await resolveAlert(tx, dedupeKeyOf(id), at);
}
