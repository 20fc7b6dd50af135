/** Writes into a tenant's feed as the database's owner can: no key is needed for that. */

import { FeedEntry } from '@governance/shared/channel/facts';
import { feedDigest } from '@governance/shared/channel/feed-chain';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type pg from 'pg';

/** The service may write its own fact meanwhile. */
const TRIES = 20;

/** @returns the fact's seq */
export async function writeFactByHand(
  superuser: pg.Pool,
  tenantId: string,
  { kind, key, value }: { kind: string; key: string; value: Record<string, unknown> },
): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const { rows } = await superuser.query(
      'SELECT feed_seq, feed_digest FROM tenant_heads WHERE tenant_id = $1',
      [tenantId],
    );
    const seq = Number(rows[0].feed_seq) + 1;
    const digest = feedDigest(rows[0].feed_digest, FeedEntry.parse({ seq, kind, key, value }));
    const { rowCount } = await superuser.query(
      `WITH moved AS (
         UPDATE tenant_heads SET feed_seq = $2, feed_digest = $6
         WHERE tenant_id = $1 AND feed_seq = $2 - 1
         RETURNING 1
       )
       INSERT INTO feed_entries (tenant_id, seq, kind, key, value, digest)
       SELECT $1, $2, $3, $4, $5, $6 FROM moved`,
      [tenantId, seq, kind, key, canonicalize(value), digest],
    );
    if (rowCount === 1) return seq;
  }
  throw new Error('the feed moved on each time');
}
