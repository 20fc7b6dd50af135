/**
 * The signed statement for one data plane that it is still recognised, beside each page that it
 * reads. Signed again when it is a minute old, so that a poll costs no signature.
 */
import type { Recognition } from '@governance/shared/channel/signed-statement';
import { LRUCache } from 'lru-cache';
import { type ClockReading, type DatedStatement, signDated } from './dated-statements.ts';
import type { StatementSigner } from './freshness-statements.ts';

export interface RecognitionStatements {
  /** @param at before the caller's token was found good */
  about(
    tenantId: string,
    deploymentId: string,
    at: ClockReading,
  ): Promise<DatedStatement<Recognition>>;
}

interface Cached {
  dated: DatedStatement<Recognition>;
  generation: number;
  time: number;
}

const RENEW_AFTER_MS = 60_000;
const CACHED_PLANES = 20_000;

export function createRecognitionStatements(signer: StatementSigner): RecognitionStatements {
  const cache = new LRUCache<string, Cached>({ max: CACHED_PLANES });
  return {
    about: async (tenantId, deploymentId, at) => {
      const { generation } = at;
      const time = at.time.getTime();
      // Statements of an earlier key may no longer be valid.
      const key = await signer();
      const name = `${tenantId}/${deploymentId}`;
      const known = cache.get(name);
      const isOfKey = known?.dated.signed.kid === key.kid;
      const isOfClock = known?.generation === generation;
      const isNear = known !== undefined && Math.abs(time - known.time) < RENEW_AFTER_MS;
      if (known && isOfKey && isOfClock && isNear) return known.dated;
      const statement: Recognition = {
        type: 'recognition',
        v: 1,
        tenant_id: tenantId,
        deployment_id: deploymentId,
        time: at.time.toISOString(),
      };
      const dated = signDated(key, statement, generation);
      cache.set(name, { dated, generation, time });
      return dated;
    },
  };
}
