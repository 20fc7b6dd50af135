/**
 * The signed head of each tenant's admin chain, which data planes remember and compare with the
 * next one. Signed again when it moved or is a minute old, so that a poll costs no signature.
 */
import { type SignedAdminHead, signStatement } from '@governance/shared/channel/signed-statement';
import { LRUCache } from 'lru-cache';
import type { AdminChainHead } from './feed-store.ts';
import type { StatementSigner } from './freshness-statements.ts';

export interface AdminHeadStatements {
  /** @param readAt when the read of the head began: the statement was true then */
  about(tenantId: string, head: AdminChainHead, readAt: Date): Promise<SignedAdminHead>;
}

const RENEW_AFTER_MS = 60_000;
const CACHED_TENANTS = 10_000;

export function createAdminHeadStatements(signer: StatementSigner): AdminHeadStatements {
  const cache = new LRUCache<string, { signed: SignedAdminHead; time: number }>({
    max: CACHED_TENANTS,
  });
  return {
    about: async (tenantId, { stream, epoch, seq, hash }, readAt) => {
      const time = readAt.getTime();
      // Statements of an earlier key may no longer be valid.
      const key = await signer();
      const known = cache.get(tenantId);
      const statement = known?.signed.statement;
      const isSame =
        statement?.stream === stream &&
        statement.epoch === epoch &&
        statement.seq === seq &&
        statement.hash === hash;
      const isOfKey = known?.signed.kid === key.kid;
      const isNear = known !== undefined && Math.abs(time - known.time) < RENEW_AFTER_MS;
      if (known && isOfKey && isSame && isNear) return known.signed;
      const signed = signStatement(key, {
        type: 'admin_head',
        v: 1,
        tenant_id: tenantId,
        stream,
        epoch,
        seq,
        hash,
        time: readAt.toISOString(),
      });
      // A read that a later one overtook is not cached, unless the clock was put back since.
      if (!known || known.time <= time || !isNear) cache.set(tenantId, { signed, time });
      return signed;
    },
  };
}
