/** A single-use token with which one client of an agent gets its own credential. */
import type { McpClient } from '@governance/shared/mcp/mcp-clients';

export interface InstallerToken {
  id: string;
  agentId: string;
  label: string;
  client: McpClient;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
  usedAt: Date | null;
  revokedAt: Date | null;
  credentialId: string | null;
}

/** Specification 1, section 8. */
export const INSTALLER_TOKEN_MS = 15 * 60 * 1000;
/** The highest number of usable tokens of an agent. */
export const MAX_OPEN_INSTALLER_TOKENS = 20;
/** How long ended tokens stay listed. */
export const KEPT_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000;
