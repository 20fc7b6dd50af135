/** A user of the management API in a tenant, and the changes that are allowed. */
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

/** The most users of a tenant, including disabled ones. */
export const MAX_ADMINISTRATORS = 200;

/** Whether the user counts towards the one active administrator that a tenant must keep. */
export function isActiveAdmin({ role, status }: Pick<Administrator, 'role' | 'status'>): boolean {
  return role === 'admin' && status === 'active';
}
