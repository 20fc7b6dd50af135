/**
 * Finds data planes whose heartbeats stay away. Each silence raises one alert, which is resolved by
 * itself once the data plane is heard of; the next silence raises the next. Whoever resolves it
 * while the silence lasts is not told again. Proven by silence-watch.pg.test.ts.
 */

import { raiseAlert } from '../alerts/raise-alert.ts';
import { resolveAlert } from '../alerts/resolve-alert.ts';
import type { LeaderTask } from '../platform/leader.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';
import { SILENT_AFTER_MS } from './data-plane.ts';
import { forEachTenant } from './each-tenant.ts';

const EVERY_MS = 30_000;

/** Alerts of one transaction. */
const BATCH = 100;

export interface SilenceWatchDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}

export function createSilenceWatch({ db, now }: SilenceWatchDeps): LeaderTask {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let watchingSince = 0;

  /** @returns the time, and whether it was looked all the while that a silence takes */
  function look(): { at: Date; isSure: boolean } {
    const at = now();
    const sinceLast = at.getTime() - lookedAt;
    lookedAt = at.getTime();
    // While the control plane or its database was away no heartbeat could come, and where the clock
    // was set nobody knows: silence is told only by who has looked all the while. (A look for each
    // tenant, since going through many takes longer than the pause between.)
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
const dedupeKeyOf = (deploymentId: string) => `data-plane-silent/${deploymentId}`;

/** @returns how many, `BATCH` at most */
async function raiseSilent(tx: TenantTransaction, at: Date): Promise<number> {
  const { tenantId } = tx.scope;
  // Claimed by the update, so that two replicas that look at once tell it once. Who lost every
  // token by revocation is silent because somebody wanted it.
  const silent = await tx.db.$queryRaw<{ id: string; label: string; heard: Date }[]>`
    UPDATE data_planes SET silence_reported_at = ${at}
    WHERE tenant_id = ${tenantId}::uuid AND deployment_id IN (
      SELECT p.deployment_id FROM data_planes p
      WHERE p.tenant_id = ${tenantId}::uuid AND p.status = 'active'
        AND p.silence_reported_at IS NULL AND p.last_heartbeat_at <= ${silentBefore(at)}
        AND NOT COALESCE((
          SELECT bool_and(t.revoked_at IS NOT NULL) FROM data_plane_tokens t
          WHERE t.tenant_id = p.tenant_id AND t.deployment_id = p.deployment_id), false)
      LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
    RETURNING deployment_id AS id, label, last_heartbeat_at AS heard`;
  for (const { id, label, heard } of silent) {
    await raiseAlert(tx, {
      alertType: 'DATA_PLANE_SILENT',
      severity: 'high',
      agentId: null,
      title: 'A data plane was not heard of for three heartbeats',
      details: { deployment_id: id, label, last_heartbeat_at: heard.toISOString() },
      dedupeKey: dedupeKeyOf(id),
      now: at,
    });
  }
  return silent.length;
}

/** Those that are heard of again, or that nobody waits for any more. */
async function resolveReturned(tx: TenantTransaction, at: Date): Promise<void> {
  const { tenantId } = tx.scope;
  const returned = await tx.db.$queryRaw<{ id: string }[]>`
    UPDATE data_planes SET silence_reported_at = NULL
    WHERE tenant_id = ${tenantId}::uuid AND silence_reported_at IS NOT NULL
      AND (last_heartbeat_at > ${silentBefore(at)} OR status <> 'active')
    RETURNING deployment_id AS id`;
  for (const { id } of returned) await resolveAlert(tx, dedupeKeyOf(id), at);
}
