/**
 * The wire shapes of users and of the caller's own account: routes added to the specification's.
 */
import { GivenId, Id, Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { NewPassword, NewUsername } from '../auth/usernames.ts';
import { AdminRole } from '../platform/admin-role.ts';
import { listOf, pageQuery } from '../platform/http/schemas.ts';
import type { Administrator } from './administrator.ts';

const Status = z.enum(['active', 'disabled']);

export const UserView = z
  .object({
    id: Id,
    username: z.string(),
    role: AdminRole,
    status: Status,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'User' });

export const UserList = listOf('users', UserView);

export const UserQuery = z.object(pageQuery({ default: 100, max: 200 }));

export const UserParams = z.object({ id: GivenId });

export const NewUserBody = z.strictObject({
  username: NewUsername,
  password: NewPassword,
  role: AdminRole,
});
export type NewUserBody = z.infer<typeof NewUserBody>;

export const UserPatchBody = z.strictObject({
  role: AdminRole.optional(),
  status: Status.optional(),
  password: NewPassword.optional(),
});
export type UserPatchBody = z.infer<typeof UserPatchBody>;

export const PasswordBody = z.strictObject({
  current_password: Text.min(1).max(1000),
  new_password: NewPassword,
});

export const MeView = z.object({
  id: z.string(),
  username: z.string(),
  role: z.enum([...AdminRole.options, 'super_admin']),
  tenant_id: Id.nullable().meta({
    description: 'Null for a super-admin who names no tenant.',
  }),
  may: z.array(z.enum(['manage', 'resolve', 'read', 'own'])).meta({
    description: 'What this role permits; docs/api.md names the permission of each route.',
  }),
});

export function toUserView(user: Administrator): z.infer<typeof UserView> {
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    status: user.status,
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}
