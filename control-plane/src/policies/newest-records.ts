/** Changes of policies among the admin records. */

import type { RecordKind } from '../platform/database/newest-records.ts';
import { Prisma } from '../platform/generated/client.ts';

/** The condition is that of ledger_records_policy_idx. */
export const POLICY_CHANGES: RecordKind = {
  condition: Prisma.sql`type = 'admin_action' AND substring(bytes FROM 1 FOR 25) IN (
    '{"action":"policy_created', '{"action":"policy_updated', '{"action":"policy_activat',
    '{"action":"policy_archive', '{"action":"policy_restore', '{"action":"policy_deactiv')`,
  target: 'policy/',
};
