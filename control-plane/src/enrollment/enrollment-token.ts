/** A token that registers agents: for so many, until then, with these roles. */
import { createHash, randomBytes } from 'node:crypto';
import { ENTRY_NAME } from '@governance/shared/mcp-clients';

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

/** Most of a tenant that can still be used. */
export const MAX_OPEN_TOKENS = 200;
/** Those that ended are listed for so long. */
export const KEPT_AFTER_END_MS = 30 * 24 * 60 * 60 * 1000;

/** 256 random bits behind a prefix that secret scanners recognise. */
export function createEnrollmentSecret(): { secret: string; hash: string } {
  const secret = `enr_${randomBytes(32).toString('base64url')}`;
  return { secret, hash: hashEnrollmentSecret(secret) };
}

/** No salt and no slow hash: there is nothing to guess in 256 random bits. */
export function hashEnrollmentSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/** What a client of MCP writes into its configuration, beside the entries of others. */
export function clientConfig(gatewayUrl: string, authorization: string) {
  return {
    mcpServers: {
      [ENTRY_NAME]: { type: 'http', url: gatewayUrl, headers: { Authorization: authorization } },
    },
  };
}
