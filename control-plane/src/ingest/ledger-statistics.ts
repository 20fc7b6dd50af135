/**
 * PostgreSQL's statistics of the ledger's tables, by which it plans each query. It gathers them by
 * itself, but only after counting changes for a minute or more, and a crash loses the count. So the
 * tables that a backlog fills are analyzed here whenever one has doubled since PostgreSQL last
 * analyzed it. Proven by ledger-statistics.pg.test.ts.
 */
import pg, { type Pool } from 'pg';
import type { Connections } from '../platform/database/database.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';

const EVERY_MS = 15_000;
/** A smaller table is read equally fast by any plan. */
const MIN_PAGES = 64;
/** It reads a sample of 30,000 pages at most, from a disk that may be busy. */
const ANALYZE_WITHIN = '5min';

/**
 * Uses the ingest pool: PostgreSQL skips the ANALYZE of a role that does not own the table, with no
 * more than a warning.
 */
export const createLedgerStatistics = ({
  ingestPool: pool,
}: Pick<Connections, 'ingestPool'>): LeaderTask => ({
  name: 'ledger_statistics',
  everyMs: EVERY_MS,
  run: async (signal) => {
    for (const table of await findUnknown(pool)) {
      if (signal.aborted) return;
      await analyze(pool, table);
    }
  },
});

/** Tables without statistics, or grown to twice what the statistics say. */
async function findUnknown(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT c.relname AS name
     FROM pg_class c, LATERAL (
       SELECT pg_relation_size(c.oid) / current_setting('block_size')::int AS pages
     ) actual
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
       AND (c.relname IN ('ledger_batches', 'ledger_quarantine') OR c.oid IN (
         SELECT inhrelid FROM pg_inherits WHERE inhparent = 'public.ledger_records'::regclass))
       AND actual.pages >= $1 AND (c.reltuples < 0 OR actual.pages >= 2 * c.relpages)
     ORDER BY c.relname`,
    [MIN_PAGES],
  );
  return rows.map(({ name }) => name);
}

async function analyze(pool: Pool, table: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL statement_timeout = '${ANALYZE_WITHIN}'`);
    // A table that is being vacuumed or analyzed is skipped until a later run.
    await client.query(`ANALYZE (SKIP_LOCKED) public.${pg.escapeIdentifier(table)}`);
    await client.query('COMMIT');
    client.release();
  } catch (error) {
    // Ends the transaction too.
    client.release(true);
    throw error;
  }
}
