import {
  type BlastRadiusSettings,
  DEFAULT_BLAST_RADIUS,
} from '@governance/shared/detect/reach/blast-radius-settings';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

/** A tenant's blast radius, and whether the tenant set it. */
export interface BlastRadius {
  settings: BlastRadiusSettings;
  isCustom: boolean;
}

/** This feature's row, of the transaction's tenant. */
export function blastRadiusStore({ db, scope: { tenantId } }: TenantTransaction) {
  const get = async (): Promise<BlastRadius> => {
    const row = await db.blastRadiusSetting.findUnique({ where: { tenantId } });
    if (!row) return { settings: DEFAULT_BLAST_RADIUS, isCustom: false };
    const settings = {
      email_recipient_limit: row.emailRecipientLimit,
      min_delete_depth: row.minDeleteDepth,
      bulk_action_threshold: row.bulkActionThreshold,
      config_path_prefixes: row.configPathPrefixes,
      protected_file_patterns: row.protectedFilePatterns,
    };
    return { settings, isCustom: true };
  };
  return {
    get,

    /** The settings, locked until the transaction ends. */
    getForUpdate: async (): Promise<BlastRadius> => {
      // Before the first change there is no row to lock.
      await lockInTenant(db, 'blast-radius', tenantId);
      return get();
    },

    put: async (settings: BlastRadiusSettings): Promise<void> => {
      const fields = {
        emailRecipientLimit: settings.email_recipient_limit,
        minDeleteDepth: settings.min_delete_depth,
        bulkActionThreshold: settings.bulk_action_threshold,
        configPathPrefixes: settings.config_path_prefixes,
        protectedFilePatterns: settings.protected_file_patterns,
      };
      await db.blastRadiusSetting.upsert({
        where: { tenantId },
        create: { tenantId, ...fields },
        update: fields,
      });
    },
  };
}
