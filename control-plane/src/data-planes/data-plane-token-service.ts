/** Tokens of data planes: issued by the tenant's own administrators, shown once, revoked at once. */
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import type { TenantDatabase, TenantScope } from '../platform/tenant-scope.ts';
import { createDataPlaneSecret, type DataPlaneToken } from './data-plane-token.ts';
import { dataPlaneTokenStore } from './data-plane-token-store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface DataPlaneTokenServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  now: () => Date;
}

export type DataPlaneTokenService = ReturnType<typeof createDataPlaneTokenService>;

export function createDataPlaneTokenService({ db, now }: DataPlaneTokenServiceDeps) {
  return {
    /** @returns the token's record, and the token, which nobody will see again */
    issue: async (
      scope: TenantScope,
      input: { label: string; region: string; expiresDays: number },
    ): Promise<{ token: DataPlaneToken; secret: string }> => {
      const { secret, hash } = createDataPlaneSecret();
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + input.expiresDays * DAY_MS);
      const { label, region } = input;
      const token = await db.inTenant(scope, async (tx) => {
        const id = uuidv7(createdAt.getTime());
        const created = await dataPlaneTokenStore(tx).create(
          { id, label, region, createdAt, expiresAt },
          hash,
        );
        tx.audit.append({
          action: 'data_plane_token_issued',
          target: `data_plane_token/${id}`,
          details: { label, region, expires_at: expiresAt.toISOString() },
        });
        return created;
      });
      return { token, secret };
    },

    list: (scope: TenantScope, page: { limit: number; offset: number }) =>
      db.inTenant(scope, (tx) => dataPlaneTokenStore(tx).list(page)),

    /** Ends a token; the next request that shows it is refused. Doing it again changes nothing. */
    revoke: (scope: TenantScope, id: string): Promise<void> =>
      db.inTenant(scope, async (tx) => {
        const store = dataPlaneTokenStore(tx);
        const token = await store.find(id);
        if (!token) throw new AppError('DATA_PLANE_TOKEN_NOT_FOUND');
        if (!(await store.revoke(id, now()))) return;
        tx.audit.append({
          action: 'data_plane_token_revoked',
          target: `data_plane_token/${id}`,
          details: { label: token.label },
        });
      }),
  };
}
