/** Finds the calls of a batch that use an approval which their data plane has used before. */
import type { Approval } from '@governance/shared/evidence/checks/approval-binding';
import { MAX_RECORD_BYTES } from '@governance/shared/ledger/ledger-record';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';
import type { ReferenceFacts } from './reference-facts.ts';
import {
  type FoundFaults,
  grantOf,
  type ReferenceFault,
  type Referring,
} from './reference-faults.ts';

/** More than the clocks of planes may differ. */
const AROUND_MS = 10 * 60_000;
/**
 * What is searched for uses of approvals, at most. A data plane stores as much as it likes: where
 * there is more, nothing is searched, and all uses are doubts. The quarantine is searched for each
 * batch with a use, however small it is.
 */
const MAX_QUARANTINED = { rows: 1_000, bytes: 1024 * 1024 };
const MAX_CALLS = { rows: 50_000, bytes: 64 * 1024 * 1024 };

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
  const grants = new Set<string>();
  if (uses.length === 0) return { grants, isComplete: true };
  // Each once: a batch may name one approval in all of its records.
  const all = [...new Map(uses.map(({ approval }) => [approval.grant_id, approval])).values()];
  const found = [await findUsedInQuarantine(tx, stream, all)];
  for (const agentId of new Set(all.map(({ agent_id }) => agent_id))) {
    const own = all.filter(({ agent_id }) => agent_id === agentId);
    found.push(await findUsedInStream(tx, stream, agentId, own));
  }
  for (const row of found) for (const grant of row.grants ?? []) grants.add(grant);
  return { grants, isComplete: found.every(({ grants }) => grants !== null) };
}

interface Found {
  /** null where there is too much to search. */
  grants: string[] | null;
}

/** Stored records that verifiers read are canonical JSON. */
const NAMING = '"grant_id":"';

/**
 * The approvals that are named in `kept`, in time that does not depend on how many are looked for.
 *
 * @param kept rows with `bytes`, which the statement reads twice
 * @param matches a condition on a row, `found`, and the approval that it names, `a`
 */
const namedIn = (
  kept: Prisma.Sql,
  most: { rows: number; bytes: number },
  approvals: Prisma.Sql,
  matches: Prisma.Sql,
) => Prisma.sql`
  WITH kept AS NOT MATERIALIZED (${kept} LIMIT ${most.rows + 1}),
  size AS MATERIALIZED (
    SELECT count(*) <= ${most.rows} AND coalesce(sum(octet_length(bytes)), 0) <= ${most.bytes}
      AS "isSmall" FROM kept)
  SELECT CASE WHEN (SELECT "isSmall" FROM size) THEN ARRAY(
    SELECT DISTINCT a."grant" FROM (
      SELECT kept.*, left(part, 37) AS named
      FROM kept, string_to_table(encode(kept.bytes, 'escape'), ${NAMING}) AS part
      WHERE position(convert_to(${NAMING}, 'UTF8') IN kept.bytes) > 0
      OFFSET 0 -- or each record would be taken apart for each approval
    ) found JOIN ${approvals} ON found.named = a."grant" || '"' AND ${matches}
  ) END AS grants`;

/**
 * Sound uses are calls of the approval's agent, in its time. All at once: an agent may have many
 * calls in that time, and few of them use any approval.
 */
async function findUsedInStream(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  agentId: string,
  approvals: readonly Approval[],
): Promise<Found> {
  const from = approvals.map(({ at }) => Date.parse(at) - AROUND_MS);
  const to = approvals.map(({ grant_expires_at: at }) => Date.parse(at) + AROUND_MS);
  const [first, last] = [new Date(Math.min(...from)), new Date(Math.max(...to))];
  // Those of other streams count, since they are read, too.
  const calls = Prisma.sql`
    SELECT bytes, event_time, stream FROM ledger_records
    WHERE tenant_id = ${tenantId}::uuid AND type = 'decision' AND agent_id = ${agentId}::uuid
      AND event_time BETWEEN ${first} AND ${last}`;
  const wanted = Prisma.sql`unnest(
    ${approvals.map(({ grant_id }) => grant_id)}::text[],
    ${from.map((ms) => new Date(ms))}::timestamptz[], ${to.map((ms) => new Date(ms))}::timestamptz[]
  ) AS a ("grant", begins, ends)`;
  const isSound = Prisma.sql`
    found.stream = ${stream}::uuid AND found.event_time BETWEEN a.begins AND a.ends`;
  return readFound(db, namedIn(calls, MAX_CALLS, wanted, isSound));
}

/** Verifiers read some of what is in quarantine: nothing that is larger than a record. */
async function findUsedInQuarantine(
  { db, scope: { tenantId } }: TenantTransaction,
  stream: string,
  approvals: readonly Approval[],
): Promise<Found> {
  const records = Prisma.sql`
    SELECT bytes FROM ledger_quarantine WHERE tenant_id = ${tenantId}::uuid
      AND stream = ${stream}::uuid AND octet_length(bytes) <= ${MAX_RECORD_BYTES}`;
  const grants = approvals.map(({ grant_id }) => grant_id);
  const wanted = Prisma.sql`unnest(${grants}::text[]) AS a ("grant")`;
  return readFound(db, namedIn(records, MAX_QUARANTINED, wanted, Prisma.sql`true`));
}

async function readFound(db: TenantTransaction['db'], query: Prisma.Sql): Promise<Found> {
  const [row] = await db.$queryRaw<Found[]>(query);
  return row ?? { grants: null };
}
