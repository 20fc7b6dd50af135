/** Rows for tests, made the way the product makes them. */
import { randomUUID } from 'node:crypto';
import {
  systemScope,
  type TenantScope,
} from '@governance/control-plane/platform/database/tenant-scope';
import { tenantStore } from '@governance/control-plane/tenants/tenant-store';
import { uuidv7 } from '@governance/shared/ids';
import type { TestDatabase } from './test-database.ts';

/**
 * A tenant with one administrator (whose password nobody knows).
 *
 * @returns a scope in it, as that administrator
 */
export async function aTenant(
  { db }: Pick<TestDatabase, 'db'>,
  name = `tenant-${randomUUID().slice(0, 8)}`,
): Promise<TenantScope> {
  const tenantId = uuidv7();
  const administrator = { id: uuidv7(), username: `admin-of-${name}`, passwordHash: '-' };
  await db.inTenant(systemScope(tenantId), (tx) => tenantStore(tx).create({ name, administrator }));
  const { id, username } = administrator;
  return { tenantId, actor: { id, username, role: 'admin' } };
}
