/**
 * The signed statement for one data plane that it is still recognised, beside each page that it
 * reads. Signed again when it is a minute old, so that a poll costs no signature.
 */
import { type SignedRecognition, signStatement } from '@governance/shared/channel/signed-statement';
import { LRUCache } from 'lru-cache';
import type { StatementSigner } from './freshness-statements.ts';

export interface RecognitionStatements {
  /** @param at before the caller's token was found good */
  about(tenantId: string, deploymentId: string, at: Date): Promise<SignedRecognition>;
}

const RENEW_AFTER_MS = 60_000;
const CACHED_PLANES = 20_000;

export function createRecognitionStatements(signer: StatementSigner): RecognitionStatements {
  const cache = new LRUCache<string, { signed: SignedRecognition; time: number }>({
    max: CACHED_PLANES,
  });
  return {
    about: async (tenantId, deploymentId, at) => {
      const time = at.getTime();
      // Statements of an earlier key may no longer be valid.
      const key = await signer();
      const name = `${tenantId}/${deploymentId}`;
      const known = cache.get(name);
      const isOfKey = known?.signed.kid === key.kid;
      if (known && isOfKey && Math.abs(time - known.time) < RENEW_AFTER_MS) return known.signed;
      const signed = signStatement(key, {
        type: 'recognition',
        v: 1,
        tenant_id: tenantId,
        deployment_id: deploymentId,
        time: at.toISOString(),
      });
      cache.set(name, { signed, time });
      return signed;
    },
  };
}
