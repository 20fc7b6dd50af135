/**
 * Whether a record in quarantine belongs there. Quarantine hides an event although its bytes and
 * hash are kept, so verification does not trust the row: the record is checked again as ingest
 * checks it. A readable one is stored again in a transaction that is rolled back, since PostgreSQL
 * may have refused it.
 */
import { findForbidden } from '@governance/shared/ledger/data-plane-records';
import type { StoredLink } from '../chain/ledger-row.ts';
import { readContent } from './batch-check.ts';
import { type Ledger, tryToStore } from './store-group.ts';

export async function belongsInQuarantine(
  { pool, projections }: Ledger,
  tenantId: string,
  link: StoredLink,
): Promise<boolean> {
  const content = readContent(link.bytes);
  if (!('record' in content) || findForbidden(content.record) !== undefined) return true;
  const { columns, record } = content;
  const trial = {
    ...link,
    columns,
    record,
    isAgentUnknown: false,
    previous: undefined,
    fault: null,
  };
  const client = await pool.connect();
  let isBroken = true;
  try {
    await client.query('BEGIN');
    await client.query(`SELECT set_config('app.tenant_id', $1, true)`, [tenantId]);
    const refusal = await tryToStore({ client, projections, tenantId }, [trial]);
    await client.query('ROLLBACK');
    isBroken = false;
    return refusal !== undefined;
  } finally {
    client.release(isBroken);
  }
}
