/**
 * The policies that a new tenant begins with, active; from then on they are its own. An existing
 * tenant gets a new one as a draft: an update alone changes no decision.
 */
import type { BaselinePolicy } from '@governance/policies/baseline-pack';
import { uuidv7 } from '@governance/shared/ids';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';
import { auditOf, type Policy } from './policy.ts';
import { policyStore } from './policy-store.ts';

/** Tenants that are looked for at once. */
const PAGE = 500;

/** Gives a tenant the pack, in the transaction that makes the tenant. */
export async function insertBaselinePack(
  tx: TenantTransaction,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  // Ids of one millisecond have no order of their own: in the pack's, each tenant's set compiles alike.
  const ids = pack.map(() => uuidv7(now.getTime())).sort();
  for (const [i, one] of pack.entries()) await insert(tx, one, 'active', now, ids[i]);
}

/**
 * Gives every tenant that began with a pack, as a draft, what it has not of this one: no policy of
 * the name, in any state, and none of the package. Several replicas may do so at once. Opens a
 * transaction of a tenant only where something is missing.
 */
export async function completeBaselinePacks(
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const tenantIds = await findIncomplete(db, pack, after);
    for (const tenantId of tenantIds) await completePack(db, tenantId, pack, now);
    if (tenantIds.length < PAGE) return;
    after = tenantIds.at(-1) ?? null;
  }
}

/** The next tenants that began with a pack and lack some of this one. */
function findIncomplete(
  db: Pick<TenantDatabase, 'inPlatform'>,
  pack: BaselinePolicy[],
  after: string | null,
): Promise<string[]> {
  const names = pack.map(({ name }) => name);
  const packages = pack.map((one) => packageOf(one.rego_content) ?? '');
  return db.inPlatform(SYSTEM_ACTOR, async (tx) => {
    const rows = await tx.db.$queryRaw<{ id: string }[]>`
      SELECT tenant_id::text AS id
      FROM find_incomplete_baselines(${names}, ${packages}, ${after}::uuid, ${PAGE}::integer)`;
    return rows.map(({ id }) => id);
  });
}

/** Looks once more under the lock: another replica, or an administrator, may have been faster. */
function completePack(
  db: Pick<TenantDatabase, 'inTenant'>,
  tenantId: string,
  pack: BaselinePolicy[],
  now: Date,
): Promise<void> {
  return db.inTenant(systemScope(tenantId), async (tx) => {
    const policies = policyStore(tx);
    await policies.lockActiveSet();
    const there = await policies.list(undefined);
    // Who began without a pack is not given one.
    if (!there.some(({ origin }) => origin === 'baseline')) return;
    for (const one of pack) {
      const declared = packageOf(one.rego_content);
      const isThere = there.some(
        ({ name, regoContent }) => name === one.name || packageOf(regoContent) === declared,
      );
      if (!isThere) await insert(tx, one, 'draft', now);
    }
  });
}

/** `package baseline.local_models`: what a renamed policy still says. */
function packageOf(rego: string): string | undefined {
  return /^package [\w.]+/m.exec(rego)?.[0];
}

async function insert(
  tx: TenantTransaction,
  { name, description, rego_content: regoContent }: BaselinePolicy,
  status: 'active' | 'draft',
  now: Date,
  id = uuidv7(now.getTime()),
): Promise<void> {
  const times = { createdAt: now, updatedAt: now };
  const policy: Policy = {
    ...{ id, name, description, regoContent, status, origin: 'baseline' },
    ...times,
  };
  await policyStore(tx).insert(policy);
  tx.audit.append(auditOf(undefined, policy));
}
