import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { DAY_MS } from '@governance/shared/time/durations';
import type { ChangeBus } from '../platform/database/change-bus.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { FeatureList } from '../platform/feature-list.ts';
import type { RowAttestations } from '../platform/keys/row-attestations.ts';
import type { DataPlaneStanding } from './data-plane.ts';
import { dataPlaneStore } from './data-plane-store.ts';
import { createDataPlaneSecret, type DataPlaneToken } from './data-plane-token.ts';
import { dataPlaneTokenStore } from './data-plane-token-store.ts';
import { tokenDetails, tokenStatement, tokenTarget } from './plane-statements.ts';

export interface DataPlaneTokenServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  attestations: Pick<RowAttestations, 'prepare'>;
  changes: Pick<ChangeBus, 'publish'>;
  facts: Pick<FeatureList, 'takeBackFacts'>;
  now: () => Date;
}

export type DataPlaneTokenService = ReturnType<typeof createDataPlaneTokenService>;

export function createDataPlaneTokenService(deps: DataPlaneTokenServiceDeps) {
  const { db, changes, now } = deps;
  return {
    /** @returns the token's record, and its secret, which is shown only here */
    issue: async (
      scope: TenantScope,
      input: { label: string; region: string; expiresDays: number },
    ): Promise<{ token: DataPlaneToken; secret: string }> => {
      const { secret, hash } = createDataPlaneSecret();
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + input.expiresDays * DAY_MS);
      const { label, region } = input;
      const attest = await deps.attestations.prepare();
      const token = await db.inTenant(scope, async (tx) => {
        const id = uuidv7(createdAt.getTime());
        const recordId = uuidv7();
        const root = { id, label, region, deploymentId: null, rootId: null, createdAt, expiresAt };
        const issued = { ...root, issuedUntil: expiresAt, tokenHash: hash };
        const attested = attest(tokenStatement(tx.scope.tenantId, issued, recordId));
        const created = await dataPlaneTokenStore(tx).create(root, {
          tokenHash: hash,
          ...attested,
        });
        const { expires_at, fingerprint } = tokenDetails(issued);
        tx.audit.append({
          id: recordId,
          action: 'data_plane_token_issued',
          target: tokenTarget(id),
          details: { label, region, expires_at, fingerprint },
        });
        return created;
      });
      return { token, secret };
    },

    list: (scope: TenantScope, page: Page) =>
      db.inTenant(scope, (tx) => dataPlaneTokenStore(tx).list(page)),

    /**
     * Revokes a token and everything derived from it: a root's children, or a child's deployment
     * with all its tokens. A child that ended with its root still ends its deployment. The next
     * request with one is refused, and open polls are answered.
     * Sealed credentials leave the feed after the revocation is committed; a repeated call finishes
     * the rest.
     */
    revoke: async (scope: TenantScope, id: string): Promise<void> => {
      const isNew = await db.inTenant(scope, async (tx) => {
        await dataPlaneStore(tx).lockRegistrations();
        const token = await dataPlaneTokenStore(tx).find(id);
        if (!token) throw new AppError('DATA_PLANE_TOKEN_NOT_FOUND');
        return revokeToken(tx, token, now());
      });
      if (isNew) changes.publish({ tenantId: scope.tenantId, tokensRevoked: true });
      await deps.facts.takeBackFacts(scope.tenantId).catch((cause: unknown) => {
        throw isBusy(cause) ? revokedOnly(cause) : cause;
      });
    },
  };
}

const isBusy = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'UNAVAILABLE';

/** Says that the token itself is revoked: the plain error would mean that nothing was stored. */
function revokedOnly(cause: AppError): AppError {
  const { retryAfterSeconds } = cause;
  return new AppError(
    'UNAVAILABLE',
    'The token is revoked, but what was sealed for its data planes is not removed yet: revoke it again.',
    { cause, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) },
  );
}

/** @returns false when it was already revoked */
async function revokeToken(
  tx: TenantTransaction,
  token: DataPlaneToken,
  at: Date,
): Promise<boolean> {
  const { id, label, deploymentId } = token;
  const tokens = dataPlaneTokenStore(tx);
  const isNew = await tokens.revoke(id, at);
  if (isNew) {
    const of = deploymentId === null ? { rootId: id } : { deploymentId };
    const others = await tokens.revokeAll(of, at);
    tx.audit.append({
      action: 'data_plane_token_revoked',
      target: `data_plane_token/${id}`,
      details: { label, deployment_id: deploymentId, tokens_with_it: others },
    });
  }
  // A revoked root can be replaced; its data planes keep their identity.
  if (deploymentId !== null) await endDeployment(tx, deploymentId, at);
  return isNew;
}

/**
 * Also when its token ended before, with its root. It goes on if it registered with another root
 * since: the tokens of that one are not named by the old token.
 */
async function endDeployment(tx: TenantTransaction, deploymentId: string, at: Date): Promise<void> {
  const lost = await dataPlaneTokenStore(tx).findWithoutToken([deploymentId]);
  if (!lost.has(deploymentId)) return;
  const standing = { from: ['active', 'forked'] satisfies DataPlaneStanding[], now: at };
  if (await dataPlaneStore(tx).setStanding(deploymentId, 'revoked', standing)) {
    tx.audit.append({ action: 'data_plane_revoked', target: `data_plane/${deploymentId}` });
  }
}
