import type { PolicySource } from '@governance/policies/contract';
import type { Attestation } from '../platform/row-attestations.ts';
import { lockInTenant } from '../platform/tenant-lock.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { MAX_BYTES_OF_TENANT, type Policy, type PolicyStatus } from './policy.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['policy']['findFirstOrThrow']>>;

/** What a policy's other members take in a list, about. */
const MEMBERS = 500;

/** This feature's rows, of the transaction's tenant. */
export function policyStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    list: async (status: PolicyStatus | undefined): Promise<Policy[]> =>
      (
        await db.policy.findMany({
          where: { tenantId, ...(status && { status }) },
          orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        })
      ).map(toPolicy),

    find: async (id: string): Promise<Policy | undefined> => {
      const row = await db.policy.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? toPolicy(row) : undefined;
    },

    /** Finds a policy and locks it until the transaction ends. */
    findForUpdate: async (id: string): Promise<Policy | undefined> => {
      await db.$queryRaw`
        SELECT 1 FROM policies WHERE tenant_id = ${tenantId}::uuid AND id = ${id}::uuid FOR UPDATE`;
      const row = await db.policy.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? toPolicy(row) : undefined;
    },

    insert: async (policy: Policy, attested: Attestation): Promise<void> => {
      await db.policy.create({ data: { tenantId, ...policy, ...attested } });
    },

    update: async ({ id, ...fields }: Policy, attested: Attestation): Promise<void> => {
      const data = { ...fields, ...attested };
      await db.policy.update({ where: { tenantId_id: { tenantId, id } }, data });
    },

    /**
     * Whether the tenant's policies are too large together, with what this transaction wrote.
     * Serialises those that ask until the transaction ends.
     */
    isTooLarge: async (): Promise<boolean> => {
      await lockInTenant(db, 'policy-sizes', tenantId);
      const [row] = await db.$queryRaw<{ bytes: bigint }[]>`
        SELECT sum(octet_length(rego_content) + octet_length(description) + ${MEMBERS}) AS bytes
        FROM policies WHERE tenant_id = ${tenantId}::uuid`;
      return Number(row?.bytes ?? 0) > MAX_BYTES_OF_TENANT;
    },

    /**
     * Serialises changes of the tenant's active policies across replicas until the transaction
     * ends: what was compiled together is committed together.
     */
    lockActiveSet: (): Promise<void> => lockInTenant(db, 'policies', tenantId),
  };
}

/** The tenant's active policies, as the compiler and the bundle take them; ordered by id. */
export async function readActivePolicies({
  db,
  scope: { tenantId },
}: TenantTransaction): Promise<PolicySource[]> {
  const rows = await db.policy.findMany({
    where: { tenantId, status: 'active' },
    select: { id: true, name: true, regoContent: true },
    orderBy: { id: 'asc' },
  });
  return rows.map(({ id, name, regoContent }) => ({ id, name, rego: regoContent }));
}

function toPolicy({ tenantId: _, recordId: _id, attestation: _by, ...row }: Row): Policy {
  // The table's CHECK constraints guarantee these values.
  return { ...row, status: row.status as PolicyStatus, origin: row.origin as Policy['origin'] };
}
