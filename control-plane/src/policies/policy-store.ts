import type { PolicySource } from '@governance/policies/contract';
import { uuidv7 } from '@governance/shared/ids';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import type { Attestation } from '../platform/keys/row-attestations.ts';
import { MAX_BYTES_OF_TENANT, type Policy, type PolicyStatus } from './policy.ts';

type Row = Awaited<ReturnType<TenantTransaction['db']['policy']['findFirstOrThrow']>>;

/** What a policy's other members take in a list, about. */
const MEMBERS = 500;
/** An id of a record that is further ahead of the clock was written by hand, or by a clock that was wrong. */
const MAX_AHEAD_MS = 24 * 60 * 60 * 1000;

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
     * The id for the record of a policy that is about to be saved, above those that the tenant's
     * policies name, whatever the clock. From here to the commit its other policies wait to be saved.
     */
    nextRecordId: async (): Promise<string> => {
      await lockInTenant(db, 'policy-records', tenantId);
      const newest = await findNewestSaved({ db, scope: { tenantId } });
      return uuidv7(newest ? Math.max(Date.now(), timeOf(newest) + 1) : undefined);
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

/** The newest record that one of the tenant's policies names. */
export async function findNewestSaved({
  db,
  scope: { tenantId },
}: {
  db: TenantTransaction['db'];
  scope: Pick<TenantTransaction['scope'], 'tenantId'>;
}): Promise<string | undefined> {
  const [row] = await db.$queryRaw<{ record_id: string }[]>`
    SELECT record_id::text FROM policies
    WHERE tenant_id = ${tenantId}::uuid AND record_id < ${latestRecordId()}::uuid
    ORDER BY record_id DESC LIMIT 1`;
  return row?.record_id;
}

/** Ids from here on count for nothing. */
export const latestRecordId = (): string => uuidv7(Date.now() + MAX_AHEAD_MS);

const timeOf = (uuid: string): number => Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16);

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
