import { DAY_MS } from '@governance/shared/time/durations';
import type { Pool } from 'pg';
import type { LeaderTask } from '../platform/replicas/leader.ts';

/** Months whose partitions are made in advance. */
const MONTHS_AHEAD = 2;

/** Makes the partitions of the ledger. Run it once before the first record, then daily. */
export const createLedgerPartitions = (pool: Pool): LeaderTask => ({
  name: 'ledger_partitions',
  everyMs: DAY_MS,
  run: async () => {
    await pool.query('SELECT ensure_ledger_partitions($1)', [MONTHS_AHEAD]);
  },
});
