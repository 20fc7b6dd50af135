/**
 * Denials of a tenant's calls that last until an operator acts, stored durably so that a restart
 * changes nothing: the control plane revoked this data plane, or another writer used its key.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isUuid } from '@governance/shared/ids';
import { syncFolder, writeFileDurably } from '@governance/shared/process/durable-file';
import { Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';

const StandingDenial = z.strictObject({
  reason: z.enum(['tenant_revoked', 'stream_forked']),
  message: Text,
  since: Timestamp,
});
type StandingDenial = z.infer<typeof StandingDenial>;

/** @param dataDir the data folder; the marks lie beside the registrations that they concern */
export function loadStanding(
  dataDir: string,
  log: { error(fields: object, message: string): void },
  now: () => number,
) {
  const folder = join(dataDir, 'identity', 'denials');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const denials = new Map<string, StandingDenial>();
  for (const file of readdirSync(folder)) {
    const tenantId = file.replace(/\.json$/, '');
    if (isUuid(tenantId)) denials.set(tenantId, readDenial(join(folder, file)));
  }
  const fileOf = (tenantId: string) => join(folder, `${tenantId}.json`);

  return {
    find: (tenantId: string): StandingDenial | null => denials.get(tenantId) ?? null,
    /** Denies the tenant's calls from now on. A revocation does not overwrite a fork. */
    deny: (tenantId: string, reason: StandingDenial['reason'], message: string): void => {
      if (denials.get(tenantId)?.reason === 'stream_forked') return;
      const denial = { reason, message, since: new Date(now()).toISOString() };
      // In force before it is stored: a full disk must not delay a denial.
      denials.set(tenantId, denial);
      try {
        writeFileDurably(fileOf(tenantId), `${JSON.stringify(denial)}\n`);
      } catch (error) {
        // After a restart the control plane repeats it.
        log.error({ err: error, tenantId }, 'a denial could not be kept');
      }
    },
    /** Lifts a revocation; a fork stays until the plane registers anew. */
    reinstate: (tenantId: string): void => {
      if (denials.get(tenantId)?.reason !== 'tenant_revoked') return;
      rmSync(fileOf(tenantId), { force: true });
      if (existsSync(folder)) syncFolder(folder);
      denials.delete(tenantId);
    },
  };
}

/** An unreadable mark denies all the same. */
function readDenial(file: string): StandingDenial {
  try {
    return StandingDenial.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return {
      reason: 'tenant_revoked',
      message: 'Why this data plane was stopped could not be read.',
      since: new Date(0).toISOString(),
    };
  }
}
