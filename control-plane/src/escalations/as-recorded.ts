/**
 * What a person approves is what the data plane holds: the row that was shown is compared with the
 * record that opened the hold, which is in the data plane's signed chain. A row that somebody changed
 * in the database would have another call approved than the one that was read. Proven by
 * as-recorded.pg.test.ts.
 */
import { canonicalize } from '@governance/shared/json/canonical-json';
import { toStorable } from '@governance/shared/text';
import { readRecord } from '../chain/ledger-row.ts';
import { recordsOf } from '../chain/records-of.ts';
import { damagedRow } from '../platform/database/damaged-rows.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { type Escalation, Prisma } from '../platform/generated/client.ts';
import { toHeldFields } from './held-view.ts';

/** @throws AppError STORED_ROW_DAMAGED */
export async function requireAsRecorded(
  { db, scope: { tenantId } }: TenantTransaction,
  row: Escalation,
): Promise<void> {
  const type = row.held === 'result' ? 'result_held' : 'hold_opened';
  const rows = await db.$queryRaw<{ bytes: Uint8Array }[]>`
    SELECT bytes FROM ${recordsOf(tenantId, 'subject_id', Prisma.sql`${row.eventId}::uuid`)} about
    WHERE type = ${type} AND stream = ${row.deploymentId}::uuid ORDER BY position LIMIT 100`;
  const record = rows
    .map(({ bytes }) => readRecord(bytes))
    .find((one) => one && 'escalation_id' in one && one.escalation_id === row.id);
  const name = `escalations ${row.id}`;
  if (record?.type !== 'hold_opened' && record?.type !== 'result_held') {
    throw damagedRow(name, 'no record of its data plane opened it');
  }
  const recorded: Shown = {
    agent_id: record.agent_id,
    requester_id: record.requester_id,
    mcp_server: record.mcp_server,
    method: record.method,
    tool_name: record.tool_name,
    target: record.target,
    risk_tier: record.risk_tier,
    instruction_hash: record.instruction_hash,
    binding: record.binding ?? null,
    ...(record.type === 'hold_opened'
      ? // Forgotten with its server.
        { reason: record.reason, shape: row.shape && (record.shape ?? null) }
      : {
          severity: record.severity,
          findings: toStorable(record.findings),
          findings_count: record.findings_count,
          result_bytes: record.result_bytes,
        }),
  };
  const shown: Shown = { ...toHeldFields(row), ...keptOf(row) };
  for (const [column, value] of Object.entries(recorded)) {
    if (canonicalize(value) === canonicalize(shown[column] ?? null)) continue;
    throw damagedRow(name, `${column} is not what its data plane recorded`);
  }
  // Shortened where the data plane's clock was ahead, and never prolonged.
  if (row.timeoutAt > new Date(record.timeout_at)) {
    throw damagedRow(name, 'timeout_at is later than what its data plane recorded');
  }
}

type Shown = Record<string, unknown>;

/** What the view leaves to the columns. */
const keptOf = (row: Escalation): Shown => ({
  instruction_hash: row.instructionHash,
  reason: row.reason,
  shape: row.shape,
  binding: row.binding,
  severity: row.severity,
  findings: row.findings,
  findings_count: row.findingsCount,
  result_bytes: row.resultBytes,
});
