/**
 * What records of data planes refer to, as the control plane has it: revisions of bundles,
 * delegations, approvals. Revisions and delegations are never deleted, and what is read of them
 * never changes, so those that were found stay known in memory; approvals are few.
 */
import type { Approval } from '@governance/shared/evidence/checks/approval-binding';
import type { IssuedDelegation } from '@governance/shared/evidence/checks/delegation-binding';
import { LRUCache } from 'lru-cache';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Escalation } from '../platform/generated/client.ts';

export interface References {
  revisions: Set<number>;
  delegations: Set<string>;
  grants: Set<string>;
}

export interface ReferenceFacts {
  hasRevision(revision: number): boolean;
  findDelegation(id: string): IssuedDelegation | undefined;
  findApproval(grantId: string): Approval | undefined;
}

const REVISIONS_KEPT = 10_000;
const DELEGATIONS_KEPT = 20_000;

export function createReferenceFacts() {
  const revisions = new LRUCache<string, true>({ max: REVISIONS_KEPT });
  const delegations = new LRUCache<string, IssuedDelegation>({ max: DELEGATIONS_KEPT });

  /** What memory has of the named. Copied: what is found next may push it out of there. */
  function recall(tenantId: string, named: References): Known {
    const known: Known = { revisions: new Set(), delegations: new Map() };
    for (const one of named.revisions) {
      if (revisions.get(`${tenantId}/${one}`)) known.revisions.add(one);
    }
    for (const id of named.delegations) {
      const one = delegations.get(`${tenantId}/${id}`);
      if (one) known.delegations.set(id, one);
    }
    return known;
  }

  return {
    /** @returns undefined where something has to be looked up */
    fromMemory: (tenantId: string, named: References): ReferenceFacts | undefined => {
      const known = recall(tenantId, named);
      const left = without(named, known);
      const isKnown = left.revisions.size + left.delegations.size + left.grants.size === 0;
      return isKnown ? factsOf(known, new Map()) : undefined;
    },
    lookUp: async (tx: TenantTransaction, named: References): Promise<ReferenceFacts> => {
      const { tenantId } = tx.scope;
      const known = recall(tenantId, named);
      const left = without(named, known);
      for (const one of await findRevisions(tx, left.revisions)) {
        known.revisions.add(one);
        revisions.set(`${tenantId}/${one}`, true);
      }
      for (const [id, one] of await findDelegations(tx, left.delegations)) {
        known.delegations.set(id, one);
        delegations.set(`${tenantId}/${id}`, one);
      }
      return factsOf(known, await findApprovals(tx, left.grants));
    },
  };
}

interface Known {
  revisions: Set<number>;
  delegations: Map<string, IssuedDelegation>;
}

const without = (named: References, known: Known): References => ({
  revisions: new Set([...named.revisions].filter((one) => !known.revisions.has(one))),
  delegations: new Set([...named.delegations].filter((one) => !known.delegations.has(one))),
  grants: named.grants,
});

const factsOf = (known: Known, approvals: ReadonlyMap<string, Approval>): ReferenceFacts => ({
  hasRevision: (revision) => known.revisions.has(revision),
  findDelegation: (id) => known.delegations.get(id),
  findApproval: (grantId) => approvals.get(grantId),
});

/** A bundle from before its signed members were stored by themselves counts while it is kept. */
async function findRevisions(
  { db, scope: { tenantId } }: TenantTransaction,
  named: ReadonlySet<number>,
): Promise<number[]> {
  if (named.size === 0) return [];
  const given = { where: { tenantId, revision: { in: [...named].map(BigInt) } } };
  const select = { revision: true } as const;
  const found = await db.bundleManifest.findMany({ ...given, select });
  if (found.length < named.size) found.push(...(await db.bundle.findMany({ ...given, select })));
  return found.map(({ revision }) => Number(revision));
}

interface DelegationRow
  extends Pick<
    IssuedDelegation,
    'workflow_session_id' | 'parent_delegation_id' | 'delegator_agent_id' | 'delegatee_agent_id'
  > {
  id: string;
  expires_at: Date;
  created_at: Date;
}

/** By id as the admin chain writes it, in lower case: verifiers compare its text. */
async function findDelegations(
  { db, scope: { tenantId } }: TenantTransaction,
  named: ReadonlySet<string>,
): Promise<[string, IssuedDelegation][]> {
  if (named.size === 0) return [];
  // One parameter: a data plane may name very many, and Prisma takes long over a list of them.
  const rows = await db.$queryRaw<DelegationRow[]>`
    SELECT id, workflow_session_id, parent_delegation_id, delegator_agent_id, delegatee_agent_id,
      expires_at, created_at
    FROM delegations WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${[...named]}::uuid[])`;
  return rows.map(({ id, expires_at, created_at, ...issued }) => [
    id,
    { ...issued, expires_at: expires_at.toISOString(), at: created_at.toISOString() },
  ]);
}

async function findApprovals(
  { db, scope: { tenantId } }: TenantTransaction,
  named: ReadonlySet<string>,
): Promise<Map<string, Approval>> {
  if (named.size === 0) return new Map();
  const where = { tenantId, grantId: { in: [...named] } };
  const approvals = new Map<string, Approval>();
  for (const row of await db.escalation.findMany({ where })) {
    const { grantId, grantExpiresAt, resolvedAt } = row;
    if (grantId === null || grantExpiresAt === null || resolvedAt === null) continue;
    approvals.set(grantId, {
      escalation_id: row.id,
      ...heldCallOf(row),
      grant_id: grantId,
      grant_expires_at: grantExpiresAt.toISOString(),
      at: resolvedAt.toISOString(),
    });
  }
  return approvals;
}

/** The held call as the admin chain names it where its escalation ends: verifiers compare these. */
export const heldCallOf = (row: Escalation) => ({
  event_id: row.eventId,
  agent_id: row.agentId,
  mcp_server: row.mcpServer,
  tool_name: row.toolName,
  deployment_id: row.deploymentId,
  instruction_hash: row.instructionHash,
});
