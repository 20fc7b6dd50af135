/**
 * Which roles may call a route: a route declares its use, and this table maps uses to roles. A
 * route without a declared use is `manage`. role-table.pg.test.ts tries every role on every route,
 * and compares docs/api.md with it.
 */
import { AppError } from '@governance/shared/errors';
import type { AdminRole } from '../admin-role.ts';
import type { Actor } from '../database/tenant-scope.ts';

/**
 * - `manage`: changes something, or shows what calls said (payloads)
 * - `resolve`: decides what waits for a person
 * - `read`: shows, and changes nothing
 * - `own`: concerns the caller's own account
 */
export type RouteUse = 'manage' | 'resolve' | 'read' | 'own';

const ROLE_TABLE: Record<RouteUse, readonly AdminRole[]> = {
  manage: ['admin'],
  resolve: ['admin', 'approver'],
  read: ['admin', 'approver', 'auditor'],
  own: ['admin', 'approver', 'auditor'],
};

export function rolesFor(use: RouteUse): readonly AdminRole[] {
  return ROLE_TABLE[use];
}

/**
 * The uses that a role permits, for callers that ask about themselves. A super-admin may do
 * everything that an admin may.
 */
export function usesOf(role: AdminRole | 'super_admin'): RouteUse[] {
  const uses = Object.keys(ROLE_TABLE) as RouteUse[];
  return role === 'super_admin' ? uses : uses.filter((use) => ROLE_TABLE[use].includes(role));
}

/** For what a route shows to some of its callers alone. */
export function mayManage({ role }: Pick<Actor, 'role'>): boolean {
  return role === 'super_admin' || ROLE_TABLE.manage.some((one) => one === role);
}

/** @throws AppError ROLE_REQUIRED */
export function requireUse(role: AdminRole, use: RouteUse): void {
  if (ROLE_TABLE[use].includes(role)) return;
  const allowed = ROLE_TABLE[use].join(' or ');
  throw new AppError('ROLE_REQUIRED', `The role ${role} may not do that: it is for ${allowed}.`);
}
