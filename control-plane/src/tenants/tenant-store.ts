import { uuidv7 } from '@governance/shared/ids';
import { GENESIS_HASH } from '@governance/shared/ledger/hash-chain';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export interface NewTenant {
  name: string;
  administrator: { id: string; username: string; passwordHash: string };
}

/** This feature's rows, of the transaction's tenant. */
export function tenantStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /**
     * Inserts a tenant with its administrator, the heads of its feed and admin chain, its positions
     * and its kill switch.
     *
     * @throws a unique violation when the name or the username is taken
     */
    create: async ({ name, administrator }: NewTenant) => {
      const tenant = await db.tenant.create({ data: { id: tenantId, name } });
      await db.administrator.create({ data: { tenantId, ...administrator } });
      await db.tenantHead.create({
        data: { tenantId, adminStream: uuidv7(), adminHead: GENESIS_HASH },
      });
      await db.tenantPosition.create({ data: { tenantId } });
      await db.killSwitch.create({ data: { tenantId } });
      return tenant;
    },

    /**
     * The hash of the environment's password that was set last, if the API has set another one
     * since; null otherwise.
     */
    environmentHash: async (administratorId: string): Promise<string | null> => {
      const row = await db.administrator.findUnique({
        where: { tenantId_id: { tenantId, id: administratorId } },
        select: { environmentHash: true },
      });
      return row?.environmentHash ?? null;
    },

    /** Sets the environment's password, and ends the administrator's sessions. */
    setEnvironmentPassword: async (administratorId: string, passwordHash: string) => {
      await db.administrator.updateMany({
        where: { tenantId, id: administratorId },
        data: { passwordHash, environmentHash: null, tokenVersion: { increment: 1 } },
      });
    },
  };
}
