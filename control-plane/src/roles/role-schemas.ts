import { Text } from '@governance/shared/text';
import { findScopeFault } from '@governance/shared/tokens/resource-scopes';
import { z } from 'zod';
import { Description, listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { Role } from './role-store.ts';

/** `resource:action`; the resource is a server, `server/tool` or a tool, `*` a wildcard. */
const Permission = Text.max(500).regex(
  /^[^\s]+:[A-Za-z0-9_.*-]+$/,
  'must have the form resource:action',
);

/** `tool:<glob>`, `target:<glob>`, or a glob of `server/tool`. */
const ResourceScope = Text.min(1)
  .max(500)
  .superRefine((scope, context) => {
    const fault = findScopeFault(scope);
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
  });

export const RoleQuery = z.object(pageQuery({ default: 200, max: 1000 }));

export const NewRoleBody = z.strictObject({
  name: Name,
  description: Description.default(''),
  permissions: z.array(Permission).max(1000).default([]),
  resource_scopes: z.array(ResourceScope).max(1000).default([]),
});

const RoleView = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    permissions: z.array(z.string()),
    resource_scopes: z.array(z.string()),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Role' });

/** For a created role: its permissions and scopes that match no registered server. */
export const NewRoleView = RoleView.extend({ warnings: z.array(z.string()) }).meta({
  id: 'NewRole',
});

export const RoleList = listOf('roles', RoleView);

export function toRoleView(role: Role): z.input<typeof RoleView> {
  return {
    id: role.id,
    name: role.name,
    description: role.description,
    permissions: role.permissions,
    resource_scopes: role.resourceScopes,
    created_at: role.createdAt.toISOString(),
    updated_at: role.updatedAt.toISOString(),
  };
}
