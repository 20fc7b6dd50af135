import { type Page, rowsOf } from '../platform/database/page.ts';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { type EnrollmentToken, KEPT_AFTER_END_MS } from './enrollment-token.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['enrollmentToken']['findFirstOrThrow']>>;

/** This feature's rows, of the transaction's tenant. */
export function enrollmentStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    /**
     * Serialises token creation until the transaction ends, since the number of tokens is bounded.
     */
    lock: (): Promise<void> => lockInTenant(db, 'enrollment', tenantId),

    countOpen: async (now: Date): Promise<number> => {
      const [row] = await db.$queryRaw<{ open: number }[]>`
        SELECT count(*)::int AS open FROM enrollment_tokens
        WHERE tenant_id = ${tenantId}::uuid AND revoked_at IS NULL AND expires_at > ${now}
          AND uses < max_uses`;
      return row?.open ?? 0;
    },

    insert: async (token: EnrollmentToken, tokenHash: string): Promise<void> => {
      await db.enrollmentToken.create({ data: { tenantId, ...token, tokenHash } });
    },

    /** Newest first. */
    list: async (page: Page) => {
      const rows = await db.enrollmentToken.findMany({
        where: { tenantId },
        orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
        ...rowsOf(page),
      });
      return {
        tokens: rows.map(toToken),
        total: await db.enrollmentToken.count({ where: { tenantId } }),
      };
    },

    find: async (id: string): Promise<EnrollmentToken | undefined> => {
      const row = await db.enrollmentToken.findUnique({
        where: { tenantId_id: { tenantId, id } },
      });
      return row ? toToken(row) : undefined;
    },

    /** @returns false when it was already revoked */
    revoke: async (id: string, at: Date): Promise<boolean> => {
      const { count } = await db.enrollmentToken.updateMany({
        where: { tenantId, id, revokedAt: null },
        data: { revokedAt: at },
      });
      return count > 0;
    },

    /** Consumes one use. @returns the token, or undefined when it is used up or has ended */
    use: async (id: string, now: Date): Promise<EnrollmentToken | undefined> => {
      const [row] = await db.$queryRaw<{ id: string }[]>`
        UPDATE enrollment_tokens SET uses = uses + 1
        WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid AND revoked_at IS NULL
          AND expires_at > ${now} AND uses < max_uses
        RETURNING id`;
      const used = row && (await db.enrollmentToken.findFirst({ where: { tenantId, id } }));
      return used ? toToken(used) : undefined;
    },

    /** Deletes tokens that ended long ago. */
    prune: async (now: Date): Promise<void> => {
      const before = new Date(now.getTime() - KEPT_AFTER_END_MS);
      await db.enrollmentToken.deleteMany({ where: { tenantId, expiresAt: { lt: before } } });
    },
  };
}

function toToken({ tenantId: _, tokenHash: __, ...token }: Row): EnrollmentToken {
  return token;
}
