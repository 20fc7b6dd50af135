import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  KEPT_LOG_FORMAT,
  KeptLog,
  NO_INDEPENDENT_WITNESS,
} from '@governance/shared/evidence/kept-log';
import Database from 'better-sqlite3';
import { requireKnownVersion } from '../storage/file-version.ts';
import { LOG_WATCH_FILE, LOG_WATCH_SCHEMA, logWatchReads } from '../sync/watch/log-watch-store.ts';

/**
 * What a data folder keeps of a tenant's log, for verification elsewhere.
 *
 * @param tenant may be left out where one tenant is served
 * @throws Error when nothing is kept, when a newer version wrote it, or when several tenants are
 *   served and none is named
 */
export function exportKeptLog(dataDir: string, tenant: string | undefined, now: Date): KeptLog {
  const file = join(dataDir, LOG_WATCH_FILE);
  if (!existsSync(file)) throw new Error(`${dataDir} keeps nothing of a log: set SERVICE_DATA_DIR`);
  // The running service writes to it.
  const db = new Database(file, { readonly: true, timeout: 5_000 });
  try {
    requireKnownVersion(db, LOG_WATCH_SCHEMA);
    return db.transaction(() => readKept(logWatchReads(db), tenant, now))();
  } finally {
    db.close();
  }
}

function readKept(
  reads: ReturnType<typeof logWatchReads>,
  tenant: string | undefined,
  now: Date,
): KeptLog {
  const tenants = reads.listTenants();
  const [only] = tenants;
  const tenantId = tenant ?? (tenants.length === 1 ? only : undefined);
  if (tenantId === undefined && tenants.length > 0) {
    throw new Error(`name one of the tenants with --tenant: ${tenants.join(', ')}`);
  }
  const trust = tenantId === undefined ? undefined : reads.findTrust(tenantId);
  if (!trust) throw new Error('nothing is kept of that log yet');
  return KeptLog.parse({
    format: KEPT_LOG_FORMAT,
    tenant_id: trust.tenantId,
    deployment_id: trust.deploymentId,
    exported_at: now.toISOString(),
    notice: NO_INDEPENDENT_WITNESS,
    keys: trust.keys,
    rotations: trust.rotations,
    log_epochs: trust.logEpochs,
    checkpoints: reads
      .listCheckpoints(trust.tenantId)
      .map(({ note, line, seenAt }) => ({ note, line, seen_at: seenAt })),
    contradictions: reads.listContradictions(trust.tenantId).map((one) => ({
      reason: one.reason,
      seen_at: one.seenAt,
      known: one.known,
      told: one.told,
      consistency: one.path,
      log_epochs: one.logEpochs,
    })),
    contradictions_total: reads.countContradictions(trust.tenantId),
  });
}
