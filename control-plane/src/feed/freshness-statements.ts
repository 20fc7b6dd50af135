/**
 * The signed freshness statement of each tenant (shared/src/channel/signed-statement.ts): signed again when
 * its content changed or it is a minute old, so that a poll costs no signature.
 */
import type { KeyObject } from 'node:crypto';
import type {
  FreshnessStatement,
  SignedFreshness,
} from '@governance/shared/channel/signed-statement';
import { LRUCache } from 'lru-cache';
import { type ClockReading, type DatedStatement, signDated } from './dated-statements.ts';
import type { FeedHeads } from './feed-store.ts';

/** The Ed25519 key that signs statements about the feed. */
export type StatementSigner = () => Promise<{ key: KeyObject; kid: string }>;

export interface FreshnessStatements {
  /**
   * @param read when the read of the heads began: the statement was true then
   * @returns a statement about exactly these heads
   */
  about(
    tenantId: string,
    heads: FeedHeads,
    read: ClockReading,
  ): Promise<DatedStatement<FreshnessStatement>>;
}

const RENEW_AFTER_MS = 60_000;
const CACHED_TENANTS = 10_000;

interface Cached {
  dated: DatedStatement<FreshnessStatement>;
  generation: number;
  time: number;
}

export function createFreshnessStatements(signer: StatementSigner): FreshnessStatements {
  const cache = new LRUCache<string, Cached>({ max: CACHED_TENANTS });
  return {
    about: async (tenantId, heads, read) => {
      const { generation } = read;
      const time = read.time.getTime();
      // Statements of an earlier key may no longer be valid.
      const key = await signer();
      const known = cache.get(tenantId);
      const isOfKey = known?.dated.signed.kid === key.kid;
      const isOfClock = known?.generation === generation;
      const isNear = known !== undefined && isOfClock && isGood(known.time, time);
      if (known && isOfKey && isNear && isAbout(known.dated.signed, heads)) return known.dated;
      const statement: FreshnessStatement = {
        type: 'freshness',
        v: 1,
        tenant_id: tenantId,
        bundle: heads.bundle,
        feed_seq: heads.seq,
        feed_digest: heads.digest,
        time: read.time.toISOString(),
      };
      const dated = signDated(key, statement, generation);
      // A read that a later one overtook is not cached, unless the clock was put back since.
      if (!known || known.time <= time || !isNear) cache.set(tenantId, { dated, generation, time });
      return dated;
    },
  };
}

function isAbout({ statement }: SignedFreshness, { seq, digest, bundle }: FeedHeads): boolean {
  return (
    statement.feed_seq === seq &&
    statement.feed_digest === digest &&
    statement.bundle?.revision === bundle?.revision &&
    statement.bundle?.digest === bundle?.digest
  );
}

/**
 * Whether a statement of `time` is still fresh; not if the clock was set back by a minute or more.
 */
function isGood(time: number, now: number): boolean {
  return Math.abs(now - time) < RENEW_AFTER_MS;
}
