/**
 * The wire shapes of enrollment and sign-up: specification 1, section 4 names the routes and does
 * not specify their bodies.
 */
import { AgentStatus } from '@governance/shared/channel/facts';
import { GivenId, Id, Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { NewPassword, NewUsername } from '../auth/usernames.ts';
import { Description, listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { EnrollmentToken } from './enrollment-token.ts';

export const TokenParams = z.object({ id: GivenId });
export const TokenQuery = z.object(pageQuery({ default: 100, max: 1000 }));

export const NewTokenBody = z.strictObject({
  label: Name,
  /** Roles of an enrolled agent; without any, it has no permissions until it gets one. */
  role_ids: z.array(GivenId).max(20).default([]),
  max_uses: z.int().min(1).max(1_000).default(1),
  expires_in_hours: z.int().min(1).max(720).default(24),
});

const token = {
  id: Id,
  label: z.string(),
  role_ids: z.array(Id),
  max_uses: z.int(),
  uses: z.int(),
  created_by: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
  revoked_at: Timestamp.nullable(),
};

export const IssuedToken = z.object({
  ...token,
  token: z.string().meta({ description: 'Shown this once.' }),
});
export const TokenList = listOf('tokens', z.object(token));

export const EnrollBody = z.strictObject({
  enrollment_token: Text.min(1).max(200),
  name: Name,
  agent_type: Name,
  owner: Name,
  description: Description.default(''),
});

const ClientConfig = z
  .object({
    mcpServers: z.record(
      z.string(),
      z.object({ type: z.string(), url: z.string(), headers: z.record(z.string(), z.string()) }),
    ),
  })
  .meta({
    description: 'An entry for an MCP client’s configuration, beside existing entries.',
  });

export const EnrolledAgent = z.object({
  id: Id,
  name: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  status: AgentStatus,
  created_at: Timestamp,
  config: ClientConfig,
});

export const SignupBody = z.strictObject({
  organization: Name,
  admin: z.strictObject({
    username: NewUsername.meta({ description: 'An e-mail address, or another name.' }),
    password: NewPassword,
  }),
});
export type SignupBody = z.infer<typeof SignupBody>;

export const SignupAnswer = z.object({
  tenant: z.object({ id: Id, name: z.string() }),
  admin: z.object({ username: z.string(), role: z.literal('admin') }),
  enrollment_token: z.object({ token: z.string(), expires_at: Timestamp, max_uses: z.int() }),
  config: ClientConfig,
});

export function toTokenView(given: EnrollmentToken): z.infer<typeof TokenList>['tokens'][number] {
  return {
    ...{ id: given.id, label: given.label, role_ids: given.roleIds },
    ...{ max_uses: given.maxUses, uses: given.uses, created_by: given.createdBy },
    created_at: given.createdAt.toISOString(),
    expires_at: given.expiresAt.toISOString(),
    revoked_at: given.revokedAt?.toISOString() ?? null,
  };
}
