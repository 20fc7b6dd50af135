/**
 * How much roles may hold. Every call reads its agent's roles whole, and so do tokens and lists:
 * without limits one tenant would keep a process busy for all.
 */
import { AppError } from '@governance/shared/errors';
import { lockInTenant } from '../platform/database/tenant-lock.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import { Prisma } from '../platform/generated/client.ts';

const MIB = 1024 * 1024;
/** Permissions and scopes in bytes, with names and descriptions. */
const MAX_MIB_OF_TENANT = 16;
/** Permissions and scopes in bytes. A role has less, since a request has at most a MiB. */
const MAX_MIB_OF_AGENT = 1;

const HELD = Prisma.sql`octet_length(array_to_string(permissions, ''))
  + octet_length(array_to_string(resource_scopes, ''))`;

/** Serialises the creation of roles until the transaction ends. Call it before the role is stored. */
export async function lockRoles({ db, scope: { tenantId } }: TenantTransaction): Promise<void> {
  await lockInTenant(db, 'roles', tenantId);
}

/** @throws AppError VALIDATION_FAILED where the tenant's roles, with a stored one, hold too much */
export async function requireRoomForRoles({ db, scope }: TenantTransaction): Promise<void> {
  const [row] = await db.$queryRaw<{ bytes: bigint }[]>`
    SELECT sum(${HELD} + octet_length(name) + octet_length(description)) AS bytes
    FROM roles WHERE tenant_id = ${scope.tenantId}::uuid`;
  if (Number(row?.bytes ?? 0) <= MAX_MIB_OF_TENANT * MIB) return;
  throw tooMuch('permissions', `the tenant's roles may hold ${MAX_MIB_OF_TENANT} MiB together`);
}

/**
 * @param field of the request's body that names the roles
 * @throws AppError VALIDATION_FAILED where these hold too much for one agent
 */
export async function requireRoomOfAgent(
  { db, scope }: TenantTransaction,
  roleIds: readonly string[],
  field: string,
): Promise<void> {
  const [row] = await db.$queryRaw<{ bytes: bigint }[]>`
    SELECT sum(${HELD}) AS bytes FROM roles
    WHERE tenant_id = ${scope.tenantId}::uuid AND id = ANY (${roleIds}::uuid[])`;
  if (Number(row?.bytes ?? 0) <= MAX_MIB_OF_AGENT * MIB) return;
  throw tooMuch(field, `the roles of one agent may hold ${MAX_MIB_OF_AGENT} MiB together`);
}

function tooMuch(field: string, msg: string): AppError {
  const errors = [{ loc: ['body', field], msg, type: 'too_large' }];
  return new AppError('VALIDATION_FAILED', `body.${field}: ${msg}`, { errors });
}
