/** Finds the calls of a batch that use an approval which their data plane has used before. */
import type { Approval } from '@governance/shared/evidence/checks/approval-binding';
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
}

export async function findUsedAgain(
  tx: TenantTransaction,
  { stream, uses, faults, from }: ApprovalUses,
  facts: ReferenceFacts,
): Promise<FoundFaults> {
  const disputed = new Set(
    faults.flatMap(({ seq, check }) => (check === 'approval.binding' ? [seq] : [])),
  );
  const seen = new Set<string>();
  const fresh: Use[] = [];
  for (const { seq, hash, decision } of uses) {
    const reference = grantOf(decision) ?? '';
    const isSeen = seen.has(reference);
    seen.add(reference);
    const approval = facts.findApproval(reference);
    if (seq < from || disputed.has(seq) || !approval) continue;
    fresh.push({ seq, hash, approval, isSeen });
  }
  const used = await findUsed(tx, stream, fresh);
  const found: FoundFaults = { faults: [], doubts: [] };
  for (const { seq, hash, approval, isSeen } of fresh) {
    const reference = approval.grant_id;
    const one = { seq, hash, check: 'approval.binding', reference } as const;
    if (isSeen || used.grants.has(reference)) {
      found.faults.push({ ...one, reason: 'uses an approval for the second time' });
    } else if (!used.isComplete) {
      found.doubts.push({ ...one, reason: 'may use an approval for the second time' });
    }
  }
  return found;
}

interface Use {
  seq: number;
  hash: string;
  approval: Approval;
  /** By an earlier record of the batch. */
  isSeen: boolean;
}

interface Used {
  grants: Set<string>;
  /** Whether others were not used. */
  isComplete: boolean;
}

/** The approvals that what is stored used before. */
async function findUsed(
  tx: TenantTransaction,
  stream: string,
  uses: readonly Use[],
): Promise<Used> {
  if (uses.length === 0) return { grants: new Set(), isComplete: true };
  const all = uses.map(({ approval }) => approval);
  const { grants, isComplete } = await findUsedInQuarantine(tx, stream, all);
  for (const agentId of new Set(all.map(({ agent_id }) => agent_id))) {
    const own = all.filter(({ agent_id }) => agent_id === agentId);
    for (const grant of await findUsedInStream(tx, stream, agentId, own)) grants.add(grant);
  }
  return { grants, isComplete };
}

/** Stored records that verifiers read are canonical JSON. */
const NAMING = '"grant_id":"';
const naming = ({ grant_id }: Approval) => `${NAMING}${grant_id}"`;

/**
 * Sound uses are calls of the approval's agent, in its time. All at once: an agent may have many
 * calls in that time, and few of them use any approval.
 */
async function findUsedInStream(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  agentId: string,
  approvals: readonly Approval[],
): Promise<string[]> {
  const from = approvals.map(({ at }) => Date.parse(at) - AROUND_MS);
  const to = approvals.map(({ grant_expires_at: at }) => Date.parse(at) + AROUND_MS);
  const [first, last] = [new Date(Math.min(...from)), new Date(Math.max(...to))];
  // IS TRUE keeps PostgreSQL from choosing an index of streams, see recordsOf.
  const rows = await db.$queryRaw<{ grant: string }[]>`
    SELECT DISTINCT a."grant" FROM ledger_records r
    JOIN unnest(
      ${approvals.map(({ grant_id }) => grant_id)}::text[], ${approvals.map(naming)}::text[],
      ${from.map((ms) => new Date(ms))}::timestamptz[], ${to.map((ms) => new Date(ms))}::timestamptz[]
    ) AS a ("grant", naming, begins, ends)
      ON r.event_time BETWEEN a.begins AND a.ends
      AND position(convert_to(a.naming, 'UTF8') IN r.bytes) > 0
    WHERE r.tenant_id = ${tenantId}::uuid AND r.type = 'decision'
      AND r.agent_id = ${agentId}::uuid AND r.event_time BETWEEN ${first} AND ${last}
      AND (r.stream = ${stream}::uuid) IS TRUE
      AND position(convert_to(${NAMING}, 'UTF8') IN r.bytes) > 0`;
  return rows.map(({ grant }) => grant);
}

/** Verifiers read some of what is in quarantine. */
async function findUsedInQuarantine(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  approvals: readonly Approval[],
): Promise<Used> {
  const [row] = await db.$queryRaw<{ rows: number; grants: string[] }[]>`
    WITH kept AS MATERIALIZED (SELECT bytes FROM ledger_quarantine
      WHERE tenant_id = ${tenantId}::uuid AND stream = ${stream}::uuid LIMIT ${MAX_LOOKED})
    SELECT (SELECT count(*) FROM kept)::int AS rows, ARRAY(
      SELECT a."grant" FROM unnest(
        ${approvals.map(({ grant_id }) => grant_id)}::text[], ${approvals.map(naming)}::text[]
      ) AS a ("grant", naming)
      WHERE EXISTS (SELECT 1 FROM kept
        WHERE position(convert_to(a.naming, 'UTF8') IN kept.bytes) > 0)) AS grants`;
  return { grants: new Set(row?.grants), isComplete: row !== undefined && row.rows < MAX_LOOKED };
}
