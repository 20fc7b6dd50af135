/**
 * Gathers tokens that are to be attested as they are shown: after the revocation of a key thousands
 * of data planes come at once, and each transaction waits for the tenant's registrations with a
 * connection of the pool. One runs at a time; those who ask meanwhile share the next ones, of one
 * tenant each. Proven by attested-planes.pg.test.ts.
 */
import { createGatheredReads } from '../platform/database/gathered-reads.ts';

/** The most tokens of one transaction. */
const MOST = 200;

interface Asked {
  tenantId: string;
  tokenIds: string[];
}

type Outcome = { error: unknown } | 'done';

/** @returns resolves when the token had its turn, and throws what its transaction threw */
export function createTokenAdoption(
  adopt: (asked: Asked) => Promise<void>,
): (tenantId: string, tokenId: string) => Promise<void> {
  let turn: Promise<unknown> = Promise.resolve();

  /** One tenant's failure is no other's. */
  async function adoptEach(keys: readonly string[]): Promise<Map<string, Outcome>> {
    const outcomes = new Map<string, Outcome>();
    for (const asked of byTenant(keys)) {
      const outcome = await adopt(asked).then(
        () => 'done' as const,
        (error: unknown) => ({ error }),
      );
      for (const tokenId of asked.tokenIds) {
        outcomes.set(keyOf(asked.tenantId, tokenId), outcome);
      }
    }
    return outcomes;
  }

  const inTurn = createGatheredReads<Outcome>({
    most: MOST,
    read: (keys) => {
      const own = turn.then(() => adoptEach(keys));
      turn = own;
      return own;
    },
  });

  return async (tenantId, tokenId) => {
    const outcome = await inTurn(keyOf(tenantId, tokenId));
    if (outcome && outcome !== 'done') throw outcome.error;
  };
}

const keyOf = (tenantId: string, tokenId: string) => `${tenantId}/${tokenId}`;

function byTenant(keys: readonly string[]): Asked[] {
  const found = new Map<string, Asked>();
  for (const key of keys) {
    const [tenantId = '', tokenId = ''] = key.split('/');
    const asked = found.get(tenantId) ?? { tenantId, tokenIds: [] };
    asked.tokenIds.push(tokenId);
    found.set(tenantId, asked);
  }
  return [...found.values()];
}
