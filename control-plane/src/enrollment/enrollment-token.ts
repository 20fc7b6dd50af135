/** A token with which agents register themselves: how many, until when, and with which roles. */
import { ENTRY_NAME } from '@governance/shared/mcp/mcp-clients';

export interface EnrollmentToken {
  id: string;
  label: string;
  roleIds: string[];
  maxUses: number;
  uses: number;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
  revokedAt: Date | null;
}

/** The highest number of usable tokens of a tenant. */
export const MAX_OPEN_TOKENS = 200;
/** How long ended tokens stay listed. */
export const KEPT_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000;

/** The entry that an MCP client adds to its configuration, beside existing entries. */
export function clientConfig(gatewayUrl: string, authorization: string) {
  return {
    mcpServers: {
      [ENTRY_NAME]: { type: 'http', url: gatewayUrl, headers: { Authorization: authorization } },
    },
  };
}
