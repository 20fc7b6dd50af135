import { McpClient } from '@governance/shared/mcp/mcp-clients';
import { GivenId, Id, Timestamp } from '@governance/shared/text';
import { z } from 'zod';
import { listOf, Name } from '../platform/http/schemas.ts';
import type { AgentCredential } from './credential.ts';

export const CredentialParams = z.object({ id: GivenId, credential_id: GivenId });

export const NewCredentialBody = z.strictObject({ label: Name, client: McpClient });

const credential = {
  id: Id,
  label: z.string(),
  client: McpClient,
  client_id: z.string(),
  version: z.int().meta({ description: 'Raised by each rotation.' }),
  created_by: z.string(),
  created_at: Timestamp,
  rotated_at: Timestamp.nullable(),
};
const client_secret = z.string().meta({ description: 'Shown this once.' });

export const CredentialList = listOf('credentials', z.object(credential));
export const CreatedCredential = z.object({ ...credential, client_secret });
export const RotatedCredential = z.object({
  id: Id,
  client_id: z.string(),
  client_secret,
  rotated_at: Timestamp,
});

export function toCredentialView(
  given: AgentCredential,
): z.infer<typeof CredentialList>['credentials'][number] {
  return {
    ...{ id: given.id, label: given.label, client: given.client, client_id: given.clientId },
    ...{ version: given.version, created_by: given.createdBy },
    created_at: given.createdAt.toISOString(),
    rotated_at: given.rotatedAt?.toISOString() ?? null,
  };
}
