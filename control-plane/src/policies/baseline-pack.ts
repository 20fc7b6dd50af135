/**
 * The policies that a new tenant starts with, active; the tenant may change them. An existing
 * tenant gets a policy that is new in the pack as a draft, so that an update alone changes no
 * decision.
 */
import type { BaselinePolicy } from '@governance/policies/baseline-pack';
import { uuidv7 } from '@governance/shared/ids';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { Attest } from '../platform/keys/row-attestations.ts';
import { savePolicy } from './commit-step.ts';
import type { Policy } from './policy.ts';
import { policyStore } from './policy-store.ts';

/** Tenants per query. */
const PAGE = 500;

/** Gives a tenant the pack, in the transaction that makes the tenant. */
export async function insertBaselinePack(
  tx: TenantTransaction,
  pack: BaselinePolicy[],
  now: Date,
  attest: Attest,
): Promise<void> {
  // Ids made in one millisecond are in random order. Sorted, they give every tenant the pack's
  // order, so that the sets compile alike.
  const ids = pack.map(() => uuidv7(now.getTime())).sort();
  for (const [i, one] of pack.entries()) {
    await insert(tx, one, { status: 'active', now, attest, id: ids[i] });
  }
}

/**
 * Adds missing policies of the pack, as drafts, to every tenant that started with a pack. A policy
 * is missing if the tenant has none of its name, in any status, and none of its package. Several
 * replicas may do so at once. Opens a transaction of a tenant only where something is missing.
 */
export async function completeBaselinePacks(
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>,
  pack: BaselinePolicy[],
  now: Date,
  attest: Attest,
): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const tenantIds = await findIncomplete(db, pack, after);
    for (const tenantId of tenantIds) await completePack(db, tenantId, pack, { now, attest });
    if (tenantIds.length < PAGE) return;
    after = tenantIds.at(-1) ?? null;
  }
}

/** The next tenants that started with a pack and lack a policy of this one. */
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

/**
 * Checks again under the lock: another replica, or an administrator, may have added it meanwhile.
 */
function completePack(
  db: Pick<TenantDatabase, 'inTenant'>,
  tenantId: string,
  pack: BaselinePolicy[],
  made: { now: Date; attest: Attest },
): Promise<void> {
  return db.inTenant(systemScope(tenantId), async (tx) => {
    const policies = policyStore(tx);
    await policies.lockActiveSet();
    const there = await policies.list(undefined);
    // A tenant that started without a pack gets none.
    if (!there.some(({ origin }) => origin === 'baseline')) return;
    for (const one of pack) {
      const declared = packageOf(one.rego_content);
      const isThere = there.some(
        ({ name, regoContent }) => name === one.name || packageOf(regoContent) === declared,
      );
      if (!isThere) await insert(tx, one, { status: 'draft', ...made });
    }
  });
}

/** The declaration, such as `package baseline.local_models`: it identifies a renamed policy. */
function packageOf(rego: string): string | undefined {
  return /^package [\w.]+/m.exec(rego)?.[0];
}

async function insert(
  tx: TenantTransaction,
  { name, description, rego_content: regoContent }: BaselinePolicy,
  {
    status,
    now,
    attest,
    id = uuidv7(now.getTime()),
  }: { status: 'active' | 'draft'; now: Date; attest: Attest; id?: string | undefined },
): Promise<void> {
  const times = { createdAt: now, updatedAt: now };
  const policy: Policy = {
    ...{ id, name, description, regoContent, status, origin: 'baseline' },
    ...times,
  };
  await savePolicy(tx, undefined, policy, attest);
}
