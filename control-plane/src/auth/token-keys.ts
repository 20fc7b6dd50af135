/**
 * The keys that may sign agent tokens, as a fact of every tenant: published when a tenant is made,
 * and to all tenants when the service starts with other keys than before.
 */
import { canonicalize } from '@governance/shared/canonical-json';
import { TokenKeysFact } from '@governance/shared/facts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/tenant-scope.ts';

const KEY = 'current';

/** Appends the keys to the feed of a new tenant, in the transaction that makes it. */
export function appendTokenKeys(tx: Pick<TenantTransaction, 'feed'>, keys: TokenKeysFact): void {
  tx.feed.append({ kind: 'token_keys', key: KEY, value: keys });
}

/**
 * Publishes the keys to one tenant unless its feed has them already.
 *
 * @returns whether there was something to publish
 */
export function publishTokenKeys(
  db: Pick<TenantDatabase, 'inTenant'>,
  scope: TenantScope,
  keys: TokenKeysFact,
): Promise<boolean> {
  return db.inTenant(scope, async (tx) => {
    const newest = await tx.db.feedEntry.findFirst({
      where: { tenantId: scope.tenantId, kind: 'token_keys', key: KEY },
      orderBy: { seq: 'desc' },
      select: { value: true },
    });
    if (newest?.value && isSame(JSON.parse(newest.value), keys)) return false;
    appendTokenKeys(tx, keys);
    return true;
  });
}

/** Publishes the keys to every tenant whose feed does not have them. Run it at each start. */
export async function publishTokenKeysToAll(
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>,
  keys: TokenKeysFact,
): Promise<void> {
  const tenants = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
    tx.db.tenant.findMany({ select: { id: true } }),
  );
  for (const { id } of tenants) await publishTokenKeys(db, systemScope(id), keys);
}

/** Ignores the order of the keys. */
function isSame(published: unknown, keys: TokenKeysFact): boolean {
  const parsed = TokenKeysFact.safeParse(published);
  return parsed.success && formOf(parsed.data) === formOf(keys);
}

function formOf({ issuer, keys }: TokenKeysFact): string {
  return canonicalize({ issuer, keys: keys.map((key) => canonicalize(key)).sort() });
}
