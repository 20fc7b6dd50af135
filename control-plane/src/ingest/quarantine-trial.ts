/**
 * Whether a record in quarantine belongs there. To call a record unreadable is the one way to keep
 * its bytes and its hash and hide the event, so verification does not take the word of the row: the
 * record is judged once more as ingest judges it, and one that is good is stored once more, in a
 * transaction that is rolled back, as PostgreSQL may be what refused it.
 */
import { findForbidden } from '@governance/shared/data-plane-records';
import type { Pool } from 'pg';
import { readContent } from './batch-check.ts';
import { tryToStore } from './store-group.ts';

export interface StoredLink {
  stream: string;
  epoch: number;
  seq: number;
  hash: string;
  prevHash: string;
  bytes: Uint8Array;
}

export async function belongsInQuarantine(
  pool: Pool,
  tenantId: string,
  { stream, epoch, ...link }: StoredLink,
): Promise<boolean> {
  const content = readContent(link.bytes);
  if (!('record' in content) || findForbidden(content.record) !== undefined) return true;
  const { columns, alert } = content;
  const record = { ...link, columns, alert, previous: undefined, fault: null };
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenantId]);
    const batch = { header: { stream, epoch } };
    const refusal = await tryToStore(client, tenantId, batch, [record]);
    await client.query('ROLLBACK');
    isBroken = false;
    return refusal !== undefined;
  } finally {
    client.release(isBroken);
  }
}
