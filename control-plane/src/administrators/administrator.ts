/** A user of the management API in a tenant, and what a change of one may be. */
import type { AdminRole } from '../platform/admin-role.ts';

export type AdministratorStatus = 'active' | 'disabled';

export interface Administrator {
  id: string;
  username: string;
  role: AdminRole;
  status: AdministratorStatus;
  createdAt: Date;
  updatedAt: Date;
}

export type AdministratorChange = Partial<Pick<Administrator, 'role' | 'status'>>;

/** Most of a tenant, disabled ones too. */
export const MAX_ADMINISTRATORS = 200;

/** Whether it is one of those of whom a tenant has at least one. */
export function isActiveAdmin({ role, status }: Pick<Administrator, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 'active';
}
