import { McpClient } from '@governance/shared/mcp/mcp-clients';
import { GivenId, Id, Text, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, Name, pageQuery } from '../platform/http/schemas.ts';
import type { InstallerToken } from './installer-token.ts';

export const InstallerParams = z.object({ id: GivenId, token_id: GivenId });
export const InstallerQuery = z.object(pageQuery({ default: 100, max: 1000 }));

export const NewInstallerBody = z.strictObject({
  client: McpClient,
  label: Name.optional().meta({
    description: 'Whose client it is; the client’s name unless given.',
  }),
});

const token = {
  id: Id,
  agent_id: Id,
  label: z.string(),
  client: McpClient,
  created_by: z.string(),
  created_at: Timestamp,
  expires_at: Timestamp,
  used_at: Timestamp.nullable(),
  revoked_at: Timestamp.nullable(),
  /** The credential that it was redeemed for, perhaps revoked since. */
  credential_id: Id.nullable(),
};

export const IssuedInstaller = z.object({
  ...token,
  token: z.string().meta({ description: 'Shown this once.' }),
});
export const InstallerList = listOf('tokens', z.object(token));

export const RedeemBody = z.strictObject({
  installer_token: Text.min(1).max(200),
  client: McpClient.meta({ description: 'The one that the token is for.' }),
});

export const Redeemed = z.object({
  agent_id: Id,
  agent_name: z.string(),
  credential_id: Id,
  client: McpClient,
  client_id: z.string(),
  client_secret: z.string().meta({ description: 'Shown this once.' }),
  gateway_url: z.string().meta({ description: 'The server that the entry points to.' }),
  config: z.object({ mcpServers: z.record(z.string(), z.looseObject({})) }).meta({
    description: 'The entry for that client’s configuration, beside existing entries.',
  }),
});

export function toInstallerView(
  given: InstallerToken,
): z.infer<typeof InstallerList>['tokens'][number] {
  return {
    ...{ id: given.id, agent_id: given.agentId, label: given.label, client: given.client },
    created_by: given.createdBy,
    created_at: given.createdAt.toISOString(),
    expires_at: given.expiresAt.toISOString(),
    used_at: given.usedAt?.toISOString() ?? null,
    revoked_at: given.revokedAt?.toISOString() ?? null,
    credential_id: given.credentialId,
  };
}
