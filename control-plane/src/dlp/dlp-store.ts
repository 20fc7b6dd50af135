import {
  BuiltinOverride,
  DEFAULT_DLP_SETTINGS,
  type DlpSettings,
  type DlpSeverity,
  OutboundActions,
  ResultActions,
} from '@governance/shared/settings/dlp-settings';
import { z } from 'zod';
import { readStored } from '../platform/database/damaged-rows.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { DlpPattern } from './dlp-pattern.ts';

/** The actions on findings. */
export type DlpActions = Omit<DlpSettings, 'builtins' | 'custom'>;

/** The tenant's row, with defaults for missing values. */
export interface DlpRow {
  actions: DlpActions;
  builtins: Record<string, BuiltinOverride>;
  /** Null until an action is changed. */
  updatedAt: Date | null;
}

const StoredActions = z.object({
  outbound: OutboundActions.default(DEFAULT_DLP_SETTINGS.outbound),
  results: ResultActions.default(DEFAULT_DLP_SETTINGS.results),
  cross_session: z.boolean().default(DEFAULT_DLP_SETTINGS.cross_session),
  fragments: z.boolean().default(DEFAULT_DLP_SETTINGS.fragments),
});
const StoredBuiltins = z.record(z.string(), BuiltinOverride);

const ROW = 'dlp_settings';

type PatternRow = Awaited<ReturnType<TenantTransaction['db']['dlpPattern']['findFirstOrThrow']>>;

/** This feature's rows, of the transaction's tenant. */
export function dlpStore({ db, scope: { tenantId } }: TenantTransaction) {
  const where = (id: string) => ({ tenantId_id: { tenantId, id } });

  async function readRow(): Promise<DlpRow> {
    const row = await db.dlpSetting.findUnique({ where: { tenantId } });
    return {
      actions: readStored(StoredActions, row?.actions ?? {}, ROW),
      builtins: readStored(StoredBuiltins, row?.builtins ?? {}, ROW),
      updatedAt: row?.updatedAt ?? null,
    };
  }

  return {
    readRow,

    /**
     * Reads the row and locks it until the transaction ends, which serialises a tenant's changes.
     */
    async readRowForUpdate(): Promise<DlpRow> {
      await db.$executeRaw`
        INSERT INTO dlp_settings (tenant_id) VALUES (${tenantId}::uuid) ON CONFLICT DO NOTHING`;
      await db.$queryRaw`SELECT 1 FROM dlp_settings WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
      return readRow();
    },

    async writeActions(actions: DlpActions, updatedAt: Date): Promise<void> {
      await db.dlpSetting.update({ where: { tenantId }, data: { actions, updatedAt } });
    },

    async writeBuiltins(builtins: DlpRow['builtins']): Promise<void> {
      await db.dlpSetting.update({ where: { tenantId }, data: { builtins } });
    },

    /** By name. */
    list: async (): Promise<DlpPattern[]> =>
      (await db.dlpPattern.findMany({ where: { tenantId }, orderBy: { name: 'asc' } })).map(
        toPattern,
      ),

    async find(id: string): Promise<DlpPattern | undefined> {
      const row = await db.dlpPattern.findUnique({ where: where(id) });
      return row ? toPattern(row) : undefined;
    },

    async insert({ patternType: _, ...pattern }: DlpPattern): Promise<void> {
      await db.dlpPattern.create({
        data: { tenantId, ...pattern, updatedAt: pattern.createdAt },
      });
    },

    async update({ patternType: _, id, ...pattern }: DlpPattern, updatedAt: Date): Promise<void> {
      await db.dlpPattern.update({ where: where(id), data: { ...pattern, updatedAt } });
    },

    async delete(id: string): Promise<void> {
      await db.dlpPattern.delete({ where: where(id) });
    },
  };
}

function toPattern({ tenantId: _, updatedAt: __, ...row }: PatternRow): DlpPattern {
  // The table's CHECK constraint guarantees the severity.
  return { ...row, severity: row.severity as DlpSeverity, patternType: 'custom' };
}
