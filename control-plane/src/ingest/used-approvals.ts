/** Finds the calls of a batch that use an approval which their data plane has used before. */
import type { Approval } from '@governance/shared/evidence/checks/approval-binding';
import type { DecisionRecord } from '@governance/shared/ledger-record';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import type { ReferenceFacts } from './reference-facts.ts';
import {
  type FoundFaults,
  grantOf,
  type ReferenceFault,
  type Referring,
} from './reference-faults.ts';

/** More than the clocks of planes may differ. */
const AROUND_MS = 10 * 60_000;
/** Records in quarantine that are searched for the use of an approval. */
const MAX_LOOKED = 1_000;

export interface ApprovalUses {
  stream: string;
  /** The batch's decisions that use an approval, and what is wrong with them. */
  uses: readonly Referring[];
  faults: readonly ReferenceFault[];
  /** The first seq that is not stored. */
  from: number;
  /** Records before the batch are missing: what they used is not known. */
  isGap: boolean;
}

export async function findUsedAgain(
  tx: TenantTransaction,
  { stream, uses, faults, from, isGap }: ApprovalUses,
  facts: ReferenceFacts,
): Promise<FoundFaults> {
  const disputed = new Set(
    faults.flatMap(({ seq, check }) => (check === 'approval.binding' ? [seq] : [])),
  );
  const seen = new Set<string>();
  const found: FoundFaults = { faults: [], doubts: [] };
  for (const { seq, hash, decision } of uses) {
    const reference = grantOf(decision) ?? '';
    const isSeen = seen.has(reference);
    seen.add(reference);
    if (seq < from || disputed.has(seq)) continue;
    const isUsed = isSeen || (await wasUsed(tx, stream, decision, facts.findApproval(reference)));
    const one = { seq, hash, check: 'approval.binding', reference } as const;
    if (isUsed) found.faults.push({ ...one, reason: 'uses an approval for the second time' });
    else if (isUsed === undefined || isGap) {
      found.doubts.push({ ...one, reason: 'may use an approval for the second time' });
    }
  }
  return found;
}

/** Whether what is stored used the approval before; undefined where that cannot be told. */
async function wasUsed(
  tx: TenantTransaction,
  stream: string,
  decision: DecisionRecord,
  approval: Approval | undefined,
): Promise<boolean | undefined> {
  if (!approval) return undefined;
  return (
    (await wasUsedInStream(tx, stream, decision, approval)) ||
    (await wasUsedInQuarantine(tx, stream, approval))
  );
}

/** Stored records that verifiers read are canonical JSON. */
const naming = ({ grant_id }: Approval) => `"grant_id":"${grant_id}"`;

/** Sound uses are calls of the approval's agent, in its time. */
async function wasUsedInStream(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  { agent_id: agentId }: DecisionRecord,
  approval: Approval,
): Promise<boolean> {
  const from = new Date(Date.parse(approval.at) - AROUND_MS);
  const to = new Date(Date.parse(approval.grant_expires_at) + AROUND_MS);
  // IS TRUE keeps PostgreSQL from choosing an index of streams, see recordsOf.
  const rows = await db.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger_records r
    WHERE r.tenant_id = ${tenantId}::uuid AND r.type = 'decision'
      AND r.agent_id = ${agentId}::uuid AND r.event_time BETWEEN ${from} AND ${to}
      AND (r.stream = ${stream}::uuid) IS TRUE
      AND position(convert_to(${naming(approval)}, 'UTF8') IN r.bytes) > 0 LIMIT 1`;
  return rows.length > 0;
}

/** Verifiers read some of what is in quarantine. */
async function wasUsedInQuarantine(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  approval: Approval,
): Promise<boolean | undefined> {
  const [row] = await db.$queryRaw<{ rows: number; used: boolean | null }[]>`
    SELECT count(*)::int AS rows,
      bool_or(position(convert_to(${naming(approval)}, 'UTF8') IN bytes) > 0) AS used
    FROM (SELECT bytes FROM ledger_quarantine WHERE tenant_id = ${tenantId}::uuid
      AND stream = ${stream}::uuid LIMIT ${MAX_LOOKED}) q`;
  if (!row) return undefined;
  return row.used || row.rows < MAX_LOOKED ? (row.used ?? false) : undefined;
}
